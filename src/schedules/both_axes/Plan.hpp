// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_BOTH_AXES_PLAN_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_BOTH_AXES_PLAN_HPP

/// \file
/// How a matrix is divided over the teams of a launch.

#include <algorithm>
#include <backend/DivideUp.hpp>
#include <cstddef>
#include <cstdint>
#include <impl/KokkosSoftmax_BothAxesProblem.hpp>
#include <schedules/both_axes/ExpParts.hpp>

namespace KokkosSoftmax::Impl {

/// The columns are divided into panels, one per thread of a team. `across` neighbouring panels are
/// a band, whose panels have the same rows at the same time. The rows of all bands, band after
/// band, are divided evenly into runs of `run_rows`: so all threads have the same work, and a
/// column is cut at few places.
struct BothAxesPlan {
  /// Of a run. With fewer of them, the states take longer than the rows.
  static constexpr std::int64_t fewest_rows = 8;

  std::int64_t rows;
  std::int64_t columns;
  std::int64_t panels;
  std::int64_t run_rows;
  std::int64_t runs;
  std::int64_t most_parts;  // of a column
  int across;

  /// \param threads  of a team
  /// \param teams    that run at one time
  BothAxesPlan(std::int64_t rows_, std::int64_t columns_, std::int64_t panel_columns, int threads,
               std::int64_t teams)
      : rows(rows_), columns(columns_), panels(divide_up(columns_, panel_columns)), across(1) {
    while (across < threads && across < panels) across *= 2;
    const std::int64_t all = all_rows();
    run_rows = std::max(fewest_rows, divide_up(all, teams * (threads / across)));
    runs = divide_up(all, run_rows);
    most_parts = (rows - 1) / run_rows + 2;
  }

  /// The rows of all bands.
  KOKKOS_INLINE_FUNCTION std::int64_t all_rows() const {
    return (panels + across - 1) / across * rows;
  }
  /// The first run that has rows of a band.
  KOKKOS_INLINE_FUNCTION std::int64_t first_run(std::int64_t band) const {
    return band * rows / run_rows;
  }
  /// The number of runs that have rows of a band.
  KOKKOS_INLINE_FUNCTION std::int64_t parts(std::int64_t band) const {
    return ((band + 1) * rows - 1) / run_rows - first_run(band) + 1;
  }
};

/// Where the states are: those of the rows of each panel, and those of the parts of columns.
template <class T>
struct BothAxesStates {
  BinaryState<T>* of_rows;
  BinaryState<T>* of_columns;

  BothAxesStates(std::byte* memory, const BothAxesPlan& plan)
      : of_rows(reinterpret_cast<BinaryState<T>*>(memory)),
        of_columns(of_rows + plan.panels * plan.rows) {}

  static std::size_t bytes(const BothAxesPlan& plan) {
    return static_cast<std::size_t>(plan.panels * plan.rows + plan.most_parts * plan.columns) *
           sizeof(BinaryState<T>);
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
