// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_REFERENCE_HPP
#define KOKKOSSOFTMAX_TEST_REFERENCE_HPP

/// \file
/// The definition of the operations, in long double and simple loops. Knows rows of columns only;
/// tensors are brought to that form by the caller.

#include <KokkosSoftmax_Options.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace KokkosSoftmax::Test {

enum class Function { softmax, log_softmax, logsumexp };

inline constexpr Function all_functions[] = {Function::softmax, Function::log_softmax,
                                             Function::logsumexp};

const char* to_string(Function function);

/// `count` independent rows of `columns` entries, one after the other.
template <class T>
struct Rows {
  std::size_t count = 0;
  std::size_t columns = 0;
  std::vector<T> values;
  std::vector<std::string> names = {};  // what each row is, for messages; may be empty
};

/// What the functions should give for all rows.
struct Expected {
  std::vector<long double> softmax;      // an entry for each of x
  std::vector<long double> log_softmax;  // an entry for each of x
  std::vector<long double> logsumexp;    // an entry a row
  std::vector<char> moderate;            // a row: the tighter accuracy bound holds for it

  const std::vector<long double>& of(Function function) const;
};

/// The functions of v = scale * x, scale and product rounded to T; 0 as the limit from above.
template <class T>
Expected reference(const Rows<T>& x, double scale = 1.0, EmptyRows empty_rows = EmptyRows::nan);

}  // namespace KokkosSoftmax::Test

#endif
