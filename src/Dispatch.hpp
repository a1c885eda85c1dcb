// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_HPP

/// \file
/// From a problem to a launched kernel: the choice among the candidates, and its launch. Included
/// by the translation units that instantiate the functions of KokkosSoftmax_Launch.hpp.

#include <Candidates.hpp>
#include <impl/KokkosSoftmax_Arguments.hpp>
#include <sstream>

namespace KokkosSoftmax::Impl {

template <class Exec, class T, Operation operation>
class Dispatch {
 public:
  Dispatch(const Exec& exec, const RowProblem<T, T>& problem, const Options& options)
      : m_call(exec, problem, options) {}

  Choice choose() const {
    const int candidate = by_rule();
    if (candidate == none) throw_cannot_serve();
    return {candidate};
  }

  void launch(const Choice& choice) const { list[choice.candidate].launch(m_call); }

 private:
  static constexpr const auto& list = candidates<Exec, T, operation>;
  static constexpr int none = -1;

  int by_rule() const {
    if (m_call.options.algorithm != Algorithm::automatic) return first_of(m_call.options.algorithm);
    for (const Algorithm algorithm : preferred()) {
      const int candidate = first_of(algorithm);
      if (candidate != none) return candidate;
    }
    return none;
  }

  /// The algorithms to try, best first.
  std::array<Algorithm, 4> preferred() const {
    using enum Algorithm;
    if constexpr (is_host_space<Exec>) return {host, online, online, online};
    // reproducible: by the columns alone, whatever the layout
    if (m_call.rows_are_neighbours() && !m_call.options.reproducible)
      return {column, online, online, online};
    return {subgroup, fused_registers, fused_scratch, online};
  }

  /// The first candidate that serves. `column` serves rows that are longer than its tile, but reads
  /// them twice: for them the last one, with the largest tile.
  int first_of(Algorithm algorithm) const {
    int last = none;
    for (int c = 0; c < static_cast<int>(list.size()); ++c) {
      const Schedule& schedule = list[c].schedule;
      if (schedule.algorithm != algorithm || !list[c].in_rule || !list[c].serves(m_call)) continue;
      last = c;
      if (algorithm != Algorithm::column || m_call.problem().columns <= register_capacity(schedule))
        break;
    }
    return last;
  }

  [[noreturn]] void throw_cannot_serve() const {
    throw_invalid(operation, "algorithm = ", to_string(m_call.options.algorithm), " can't serve ",
                  m_call.problem().rows, " rows of ", m_call.problem().columns, " columns of ",
                  value_name<T>, " with column stride ", m_call.problem().x_column_stride, " on ",
                  Exec::name(),
                  " (see docs/algorithms.md for what each algorithm can hold): use "
                  "Algorithm::automatic");
  }

  const Call<Exec, T> m_call;
};

template <Operation operation, class Exec, class T>
Choice choose(const Exec& exec, const RowProblem<T, T>& problem, const Options& options) {
  return Dispatch<Exec, T, operation>(exec, problem, options).choose();
}

template <Operation operation, class Exec, class T>
void launch(const Exec& exec, const RowProblem<T, T>& problem, const Options& options,
            const Choice& choice) {
  Dispatch<Exec, T, operation>(exec, problem, options).launch(choice);
}

template <Operation operation, class Exec, class T>
void launch(const Exec& exec, const RowProblem<T, T>& problem, const Options& options) {
  const Dispatch<Exec, T, operation> dispatch(exec, problem, options);
  dispatch.launch(dispatch.choose());
}

template <Operation operation, class Exec, class T>
std::string describe(const Choice& choice) {
  std::ostringstream text;
  text << candidates<Exec, T, operation>[choice.candidate].schedule << " (rule)";
  return text.str();
}

}  // namespace KokkosSoftmax::Impl

#endif
