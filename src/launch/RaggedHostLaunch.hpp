// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_RAGGEDHOSTLAUNCH_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_RAGGEDHOSTLAUNCH_HPP

/// \file
/// Launches operations on ragged rows on a host. Threads take windows of the rows (RaggedWindows).
/// Long rows are reduced in parts, one per window. The windows don't depend on the number of
/// threads, so the results don't either.

#include <host/Isa.hpp>
#include <launch/QueueMemory.hpp>
#include <launch/RaggedLabels.hpp>
#include <row/RaggedWindow.hpp>
#include <schedules/HostRagged.hpp>

namespace KokkosSoftmax::Impl {

/// The rows of a window of a host's thread.
struct HostRaggedWindow {
  static constexpr std::int64_t size = 16384;
  /// Longer rows are long.
  static constexpr std::int64_t longest = span_columns;
  static_assert(size <= longest, "a long row must reach beyond its first window");

  std::int64_t first_row;  // of those that are computed as a whole
  std::int64_t end_row;
  std::int64_t begun = -1;      // the long row that begins in the window
  std::int64_t continued = -1;  // the long row that began before

  HostRaggedWindow(const RaggedWindows& windows, std::int64_t rows, std::int64_t w)
      : first_row(windows.first_row(w, 0, rows)),
        end_row(windows.first_row(w + 1, first_row, rows)) {
    const std::int64_t before = first_row - 1;
    if (before >= 0 && windows.length(before) > longest) {
      const RowPart part = windows.continued_part(w, before);
      if (part.begin < part.end) continued = before;
    }
    if (end_row > first_row && windows.length(end_row - 1) > longest) begun = --end_row;
  }
};

/// Kernels of one operation, which Host computes.
template <class Exec, class Op, class Host>
class RaggedHostLaunch {
 public:
  using Arguments = typename Op::Arguments;
  using State = typename Host::State;

  RaggedHostLaunch(const Exec& exec, RaggedOperation operation, const Arguments& arguments)
      : m_exec(exec),
        m_operation(operation),
        m_work{
            arguments,
            RaggedWindows(arguments.problem.offset, arguments.problem.rows, HostRaggedWindow::size),
            exec.concurrency()} {}

  void launch() const {
    const auto& problem = m_work.arguments.problem;
    if (problem.entries <= HostRaggedWindow::longest) return compute(nullptr);
    const std::size_t bytes = static_cast<std::size_t>(windows()) * sizeof(States);
    const auto memory = QueueMemory<Exec>::singleton().lease(m_exec, bytes);
    auto* const states = reinterpret_cast<States*>(memory.data());
    compute(states);
    if constexpr (Op::reduces) finish_long_rows(states);
  }

 private:
  /// What a window leaves for the next launches.
  struct States {
    State begun;      // of the part of the row that begins there
    State continued;  // of the part of a row that began before
    State row;        // of the row that begins there
  };
  /// What all windows have in common.
  struct Work {
    Arguments arguments;
    RaggedWindows windows;
    int threads;

    HostRaggedWindow window(std::int64_t w) const {
      return HostRaggedWindow(windows, arguments.problem.rows, w);
    }
    Host host() const { return Host(arguments, threads); }
  };

  std::int64_t windows() const {
    const auto& problem = m_work.arguments.problem;
    return RaggedWindows::count(problem.rows, problem.entries, HostRaggedWindow::size);
  }

  void compute(States* states) const {
    for_each_window(RaggedStep::rows, [work = m_work, states](std::int64_t w) {
      const HostRaggedWindow window = work.window(w);
      const Host host = work.host();
      host.rows(window.first_row, window.end_row);
      if (window.continued >= 0)
        states[w].continued = host.reduce(work.windows.continued_part(w, window.continued));
      if (window.begun >= 0)
        states[w].begun = host.reduce(work.windows.begun_part(w, window.begun));
    });
  }

  void finish_long_rows(States* states) const {
    for_each_window(RaggedStep::merge, [work = m_work, states](std::int64_t w) {
      const std::int64_t row = work.window(w).begun;
      if (row < 0) return;
      const Host host = work.host();
      State state = states[w].begun;
      const std::int64_t last = w + work.windows.continuations(row);
      for (std::int64_t i = w + 1; i <= last; ++i) host.merge(state, states[i].continued);
      host.finish(row, state);
      states[w].row = state;
    });
    if constexpr (Op::writes_entries)
      for_each_window(RaggedStep::write, [work = m_work, states](std::int64_t w) {
        const HostRaggedWindow window = work.window(w);
        const Host host = work.host();
        if (window.continued >= 0)
          host.write(work.windows.continued_part(w, window.continued),
                     states[work.windows.window_of(window.continued)].row);
        if (window.begun >= 0) host.write(work.windows.begun_part(w, window.begun), states[w].row);
      });
  }

  template <class F>
  void for_each_window(RaggedStep step, const F& f) const {
    using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>,
                                       Kokkos::Schedule<Kokkos::Dynamic>>;
    Kokkos::parallel_for(ragged_label(m_operation, step), Policy(m_exec, 0, windows()), f);
  }

  const Exec& m_exec;
  RaggedOperation m_operation;
  Work m_work;
};

/// The kernels of an operation on a host.
template <class Op>
struct HostRaggedOf {
  using type = HostRaggedValues<Op>;
};
template <class V>
struct HostRaggedOf<RaggedBackward<V>> {
  using type = HostRaggedPairs<RaggedBackward<V>>;
};
template <class V>
struct HostRaggedOf<RaggedGradient<V>> {
  using type = HostRaggedGradient<RaggedGradient<V>>;
};

template <class Op, class Exec>
void launch_ragged_on_host(const Exec& exec, RaggedOperation operation,
                           const typename Op::Arguments& arguments) {
  check_host_isa();
  RaggedHostLaunch<Exec, Op, typename HostRaggedOf<Op>::type>(exec, operation, arguments).launch();
}

}  // namespace KokkosSoftmax::Impl

#endif
