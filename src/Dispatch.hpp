// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_HPP

/// \file
/// From a problem to a launched kernel: which algorithms to try, the first shape that serves, the
/// policy. Included by the translation units that instantiate `launch`.

#include <Shapes.hpp>
#include <algorithm>
#include <array>
#include <impl/KokkosSoftmax_Arguments.hpp>
#include <schedules/Column.hpp>
#include <schedules/FusedRegisters.hpp>
#include <schedules/FusedScratch.hpp>
#include <schedules/HostColumns.hpp>
#include <schedules/HostRows.hpp>
#include <schedules/Online.hpp>
#include <schedules/Subgroup.hpp>
#include <string>
#include <type_traits>

namespace KokkosSoftmax::Impl {

template <class Exec>
inline constexpr bool is_host_space =
    std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;

#if defined(KOKKOS_ENABLE_CUDA)
template <class Exec>
inline constexpr bool is_cuda = std::is_same_v<Exec, Kokkos::Cuda>;
#else
template <class Exec>
inline constexpr bool is_cuda = false;
#endif

template <class Exec, class T>
using ShapesFor = std::conditional_t<is_host_space<Exec>, HostShapes<T>, Shapes<Exec, T>>;

/// "KokkosSoftmax::softmax[online]"; made once, as a call makes no allocation.
template <Operation operation>
const std::string& kernel_label(Algorithm algorithm) {
  static const auto labels = [] {
    std::array<std::string, static_cast<int>(Algorithm::host) + 1> names;
    for (int a = 0; a <= static_cast<int>(Algorithm::host); ++a)
      names[a] = std::string("KokkosSoftmax::") + to_string(operation) + "[" +
                 std::string(to_string(static_cast<Algorithm>(a))) + "]";
    return names;
  }();
  return labels[static_cast<int>(algorithm)];
}

template <class Exec, class T, Operation operation>
class Dispatch {
 public:
  Dispatch(const Exec& exec, const RowProblem<T, T>& problem, const Options& options)
      : m_exec(exec), m_options(options), m_arguments(problem, options) {}

  void run() const {
    if (m_options.algorithm != Algorithm::automatic) {
      if (!try_algorithm(m_options.algorithm)) throw_cannot_serve();
      return;
    }
    for (const Algorithm algorithm : preferred())
      if (try_algorithm(algorithm)) return;
    throw_cannot_serve();  // not reached: online and host serve everything
  }

 private:
  const RowProblem<T, T>& problem() const { return m_arguments.problem; }

  bool x_contiguous() const { return problem().x_column_stride == 1 || problem().columns <= 1; }

  /// The algorithms to try, best first.
  std::array<Algorithm, 4> preferred() const {
    using enum Algorithm;
    if constexpr (is_host_space<Exec>) return {host, online, online, online};
    const OuterAxis& fastest = problem().outer[problem().outer_rank - 1];
    const bool neighbours_are_rows =
        !x_contiguous() && fastest.extent > 1 && fastest.x_stride < problem().x_column_stride;
    // reproducible: by the columns alone, whatever the layout
    if (neighbours_are_rows && !m_options.reproducible) return {column, online, online, online};
    return {subgroup, fused_registers, fused_scratch, online};
  }

  bool try_algorithm(Algorithm algorithm) const {
    using S = ShapesFor<Exec, T>;
    switch (algorithm) {
      case Algorithm::subgroup:
        return try_shapes<Algorithm::subgroup>(typename S::Subgroup{});
      case Algorithm::fused_registers:
        return try_shapes<Algorithm::fused_registers>(typename S::FusedRegisters{});
      case Algorithm::fused_scratch:
        return try_shapes<Algorithm::fused_scratch>(typename S::FusedScratch{});
      case Algorithm::online:
        return try_shapes<Algorithm::online>(typename S::Online{});
      case Algorithm::column:
        return try_shapes<Algorithm::column>(typename S::Column{});
      case Algorithm::host:
        return try_host();
      case Algorithm::automatic:
        break;
    }
    return false;
  }

  template <Algorithm algorithm, class... List>
  bool try_shapes(ShapeList<List...>) const {
    return (try_shape<algorithm, List>(std::is_same_v<List, LastOf<List...>>) || ...);
  }

  template <class... List>
  using LastOf = typename decltype((std::type_identity<List>{}, ...))::type;

  template <Algorithm algorithm, class Shape>
  bool try_shape(bool is_last) const {
    constexpr Schedule schedule = make_schedule<Shape>(algorithm);
    if (!fill_serves(schedule)) return false;
    if constexpr (algorithm == Algorithm::subgroup) {
      if (problem().columns > register_capacity(schedule)) return false;
      launch_kernel<SubgroupKernel<Exec, T, operation, Shape>, Shape>(
          algorithm, Shape::threads * Shape::rows_per_thread, 0);
    } else if constexpr (algorithm == Algorithm::fused_registers) {
      if (problem().columns > register_capacity(schedule)) return false;
      launch_team_kernel<FusedRegistersKernel<Exec, T, operation, Shape>, Shape>(algorithm, 1);
    } else if constexpr (algorithm == Algorithm::fused_scratch) {
      using Kernel = FusedScratchKernel<Exec, T, operation, Shape>;
      if (Kernel::scratch_bytes(problem().columns) > max_scratch_bytes<Shape>()) return false;
      launch_team_kernel<Kernel, Shape>(algorithm, 1);
    } else if constexpr (algorithm == Algorithm::online) {
      launch_team_kernel<OnlineKernel<Exec, T, operation, Shape>, Shape>(algorithm, 1);
    } else if constexpr (algorithm == Algorithm::column) {
      const bool one_tile = problem().columns <= std::int64_t(Shape::threads) * Shape::items;
      if (!one_tile && !is_last) return false;
      launch_team_kernel<ColumnKernel<Exec, T, operation, Shape>, Shape>(algorithm, Shape::lanes);
    }
    return true;
  }

  bool fill_serves(const Schedule& s) const {
    if (m_options.reproducible) return s.fill == Fill::scalar;
    switch (s.fill) {
      case Fill::exact:
        return problem().columns == register_capacity(s) && aligned(s.width);
      case Fill::guarded:
        return aligned(s.width);
      case Fill::edges:
        return x_contiguous();
      case Fill::scalar:
        return true;
    }
    return false;
  }

  /// Every row starts at a multiple of `width` entries in x and y and has a multiple of it.
  bool aligned(int width) const {
    const bool one_value_a_row = problem().y_column_stride == 0;
    const auto fits = [&](const T* p, std::int64_t OuterAxis::*stride) {
      bool all = entries_to_alignment(p, width) == 0;
      for (int d = 0; d < problem().outer_rank; ++d)
        all = all && problem().outer[d].*stride % width == 0;
      return all;
    };
    return x_contiguous() && problem().columns % width == 0 &&
           fits(problem().x, &OuterAxis::x_stride) &&
           (one_value_a_row ||
            (problem().y_column_stride == 1 && fits(problem().y, &OuterAxis::y_stride)));
  }

  /// The second bound means teams per multiprocessor on CUDA alone.
  template <class Shape>
  using Policy = Kokkos::TeamPolicy<
      Exec, Kokkos::LaunchBounds<Shape::threads * Shape::lanes,
                                 is_cuda<Exec> && Shape::min_teams != 0 ? Shape::min_teams : 1>>;

  template <class Shape>
  std::size_t max_scratch_bytes() const {
    return static_cast<std::size_t>(
        Policy<Shape>(m_exec, 1, Shape::threads, Shape::lanes).scratch_size_max(0));
  }

  template <class Kernel, class Shape>
  void launch_team_kernel(Algorithm algorithm, int rows_per_team) const {
    launch_kernel<Kernel, Shape>(algorithm, rows_per_team,
                                 Kernel::scratch_bytes(problem().columns));
  }

  /// One launch, or several where there are more teams than a league can have.
  template <class Kernel, class Shape>
  void launch_kernel(Algorithm algorithm, int rows_per_team, std::size_t scratch_bytes) const {
    // CUDA counts the teams of a launch in 31 bits, others the threads.
    constexpr std::int64_t max_teams =
        (std::int64_t(1) << 30) / (is_cuda<Exec> ? 1 : Shape::threads * Shape::lanes);
    Kernel kernel{m_arguments};
    for (; kernel.arguments.first_row < problem().rows;
         kernel.arguments.first_row += max_teams * rows_per_team) {
      const std::int64_t rows = problem().rows - kernel.arguments.first_row;
      const std::int64_t teams = std::min((rows + rows_per_team - 1) / rows_per_team, max_teams);
      Policy<Shape> policy(m_exec, static_cast<int>(teams), Shape::threads, Shape::lanes);
      policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes));
      Kokkos::parallel_for(kernel_label<operation>(algorithm), policy, kernel);
    }
  }

  bool try_host() const {
    if constexpr (is_host_space<Exec>) {
      const std::string& label = kernel_label<operation>(Algorithm::host);
      if (x_contiguous())
        host_rows<Exec, T, operation>(m_exec, label, m_arguments, m_options.reproducible);
      else
        host_columns<Exec, T, operation>(m_exec, label, m_arguments);
      return true;
    }
    return false;
  }

  [[noreturn]] void throw_cannot_serve() const {
    throw_invalid(operation, "algorithm = ", to_string(m_options.algorithm), " can't serve ",
                  problem().rows, " rows of ", problem().columns, " columns of ",
                  std::is_same_v<T, float> ? "float" : "double", " with column stride ",
                  problem().x_column_stride, " on ", Exec::name(),
                  " (see docs/algorithms.md for what each algorithm can hold): use "
                  "Algorithm::automatic");
  }

  const Exec& m_exec;
  const Options& m_options;
  KernelArguments<T> m_arguments;
};

template <Operation operation, class Exec, class T>
void launch(const Exec& exec, const RowProblem<T, T>& problem, const Options& options) {
  Dispatch<Exec, T, operation>(exec, problem, options).run();
}

}  // namespace KokkosSoftmax::Impl

#endif
