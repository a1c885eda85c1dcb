// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_WORDS_HPP
#define KOKKOSSOFTMAXSWEEP_WORDS_HPP

/// \file
/// The values of flags. All but split and join throw std::invalid_argument that names the flag.

#include <KokkosSoftmaxSweep_Point.hpp>
#include <string>
#include <vector>

namespace KokkosSoftmaxSweep {

/// The items between commas.
std::vector<std::string> split(const std::string& list);
std::string join(const std::vector<std::string>& items);

/// The items of a list flag, each of which must be one of `known`.
std::vector<std::string> names(const std::string& flag, const std::string& list,
                               const std::vector<std::string>& known);

std::vector<DType> dtypes(const std::string& flag, const std::string& list);

double positive_number(const std::string& flag, const std::string& text);

}  // namespace KokkosSoftmaxSweep

#endif
