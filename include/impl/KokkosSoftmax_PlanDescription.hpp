// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_PLANDESCRIPTION_HPP
#define KOKKOSSOFTMAX_IMPL_PLANDESCRIPTION_HPP

#include <impl/KokkosSoftmax_Operation.hpp>
#include <sstream>
#include <string>

namespace KokkosSoftmax::Impl {

/// The line that describe() of a plan returns. V is a ValueTypes. `schedule` is the text for the
/// choice, and empty if the plan has nothing to do.
template <class Exec, class V, class Problem>
std::string plan_description(const Callee& callee, const Problem& problem,
                             const std::string& schedule) {
  std::ostringstream text;
  text << "KokkosSoftmax::" << callee.name() << " of " << problem.rows << " rows of "
       << problem.columns << " columns of " << V::name << " on " << Exec::name() << ": "
       << (schedule.empty() ? "nothing to do" : schedule);
  return text.str();
}

}  // namespace KokkosSoftmax::Impl

#endif
