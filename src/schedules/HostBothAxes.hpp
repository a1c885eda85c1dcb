// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTBOTHAXES_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTBOTHAXES_HPP

/// \file
/// The host schedule of logsumexp along both axes, with the vector kernels of host/. The matrix is
/// divided into parts, and a part into tiles that fit a cache. A tile is read twice: for the states
/// of its rows, and for those of its columns. The parts depend on the extents alone, so that the
/// results don't depend on the number of threads.

#include <cmath>
#include <impl/KokkosSoftmax_BothAxesProblem.hpp>
#include <schedules/HostVectors.hpp>

namespace KokkosSoftmax::Impl {

/// How a matrix is divided: into groups of neighbouring panels times blocks of rows.
struct HostBothAxesPlan {
  static constexpr std::int64_t panel_columns = host_panel_rows;
  /// The panels of a tile: the first block of a row is read twice, and so should be a small part.
  static constexpr std::int64_t tile_panels = 4;
  static constexpr std::int64_t tile_columns = tile_panels * panel_columns;
  static constexpr std::int64_t tile_bytes = 1024 * 1024;

  std::int64_t rows;
  std::int64_t columns;
  std::int64_t panels;
  std::int64_t groups;  // of panels
  std::int64_t blocks;  // of rows

  HostBothAxesPlan(std::int64_t rows_, std::int64_t columns_)
      : rows(rows_), columns(columns_), panels(divide_up(columns_, panel_columns)) {
    constexpr std::int64_t most_parts = 256, least_entries = 65536, least_rows = 64;
    const std::int64_t parts =
        std::clamp<std::int64_t>(capped_product(rows, columns) / least_entries, 1, most_parts);
    groups = std::min(panels, parts);
    blocks = std::min(divide_up(parts, groups), std::max<std::int64_t>(1, rows / least_rows));
  }

  std::int64_t parts() const { return groups * blocks; }
  std::int64_t width(std::int64_t panel) const {
    return std::min(panel_columns, columns - panel * panel_columns);
  }
  std::int64_t tile_rows(std::int64_t entry_bytes) const {
    return std::max<std::int64_t>(1, tile_bytes / (std::min(columns, tile_columns) * entry_bytes));
  }
};

/// Where the states of the parts are: those of row r in group g, and those of a panel in a block.
template <class T>
struct HostBothAxesStates {
  HostPanelStates<T>* of_panels;
  HostState<T>* of_rows;

  HostBothAxesStates(std::byte* memory, const HostBothAxesPlan& plan)
      : of_panels(reinterpret_cast<HostPanelStates<T>*>(memory)),
        of_rows(reinterpret_cast<HostState<T>*>(memory + plan.blocks * plan.panels *
                                                             sizeof(HostPanelStates<T>))) {}

  static std::size_t bytes(const HostBothAxesPlan& plan) {
    return static_cast<std::size_t>(plan.blocks * plan.panels) * sizeof(HostPanelStates<T>) +
           static_cast<std::size_t>(plan.groups * plan.rows) * sizeof(HostState<T>);
  }
};

/// What the kernels of a call have in common.
template <class V>
struct HostBothAxes {
  using X = typename V::X;
  using T = typename V::Compute;
  using HostX = HostNumber<X>;
  using Problem = BothAxesProblem<X>;

  Problem problem;
  HostFactors<T> factors;
  HostBothAxesPlan plan;
  HostBothAxesStates<T> states;

  HostBothAxes(const Problem& problem_, double scale, const HostBothAxesPlan& plan_,
               std::byte* memory)
      : problem(problem_),
        factors(HostScale<T>(kernel_scale(static_cast<T>(scale)), static_cast<T>(scale) == T(0))
                    .template factors<HostFactors<T>>()),
        plan(plan_),
        states(memory, plan_) {}

  static const HostKernels<HostX, HostX>& kernels() {
    return host_isa().kernels<HostX, HostX>().logsumexp;
  }

 protected:
  /// Sets what the jobs of rows and of columns have in common.
  void set_common(HostJob<HostX, HostX, T>& job) const {
    job.factors = factors;
    job.lse = {nullptr, 0};
    job.max = {nullptr, 0};
    job.zero_empty_rows = false;
    job.streams = false;
    job.y_holds_row_values = false;
    job.buffer = nullptr;
  }
};

/// Computes the states of the parts.
template <class V>
struct HostBothAxesParts : HostBothAxes<V> {
  using Base = HostBothAxes<V>;
  using typename Base::HostX;
  using typename Base::T;
  using typename Base::X;

  std::int64_t blocks;

  explicit HostBothAxesParts(const Base& base) : Base(base), blocks(base.plan.parts()) {}

  void operator()(std::int64_t part) const {
    const auto& plan = this->plan;
    const std::int64_t group = part % plan.groups, block = part / plan.groups;
    const std::int64_t begin = begin_of_part(plan.rows, block, plan.blocks);
    const std::int64_t end = begin_of_part(plan.rows, block + 1, plan.blocks);
    const std::int64_t first = begin_of_part(plan.panels, group, plan.groups);
    const std::int64_t last = begin_of_part(plan.panels, group + 1, plan.groups);
    for (std::int64_t panel = first; panel < last; panel += HostBothAxesPlan::tile_panels)
      reduce_panels({panel, std::min(last, panel + HostBothAxesPlan::tile_panels)}, panel == first,
                    begin, end, this->states.of_rows + group * plan.rows,
                    this->states.of_panels + block * plan.panels);
  }

 private:
  /// A tile with contiguous rows.
  struct Tile {
    const HostX* x;
    std::int64_t row_stride;
    std::int64_t rows;
    std::int64_t columns;
  };

  /// Panels [first, last).
  struct Panels {
    std::int64_t first;
    std::int64_t last;
  };

  void reduce_panels(const Panels& panels, bool is_first, std::int64_t begin, std::int64_t end,
                     HostState<T>* of_rows, HostPanelStates<T>* of_panels) const {
    const std::int64_t step = this->plan.tile_rows(sizeof(X));
    for (std::int64_t r = begin; r < end; r += step) {
      const Tile tile = tile_at(r, std::min(step, end - r), panels);
      reduce_rows(tile, is_first, of_rows + r);
      for (std::int64_t p = panels.first; p < panels.last; ++p) {
        const std::int64_t first = (p - panels.first) * HostBothAxesPlan::panel_columns;
        const Tile of_panel{tile.x + first, tile.row_stride, tile.rows, this->plan.width(p)};
        reduce_columns(of_panel, r == begin, of_panels[p]);
      }
    }
  }

  Tile tile_at(std::int64_t row, std::int64_t rows, const Panels& panels) const {
    const auto& problem = this->problem;
    const std::int64_t column = panels.first * HostBothAxesPlan::panel_columns;
    const std::int64_t columns =
        std::min(problem.columns, panels.last * HostBothAxesPlan::panel_columns) - column;
    const X* const x = problem.x + row * problem.row_stride + column * problem.column_stride;
    if (problem.column_stride == 1 || problem.columns == 1)
      return {reinterpret_cast<const HostX*>(x), problem.row_stride, rows, columns};
    X* const copy = host_thread_buffer<X, HostBothAxesPlan::tile_bytes / sizeof(X)>();
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c)
        copy[r * columns + c] = x[r * problem.row_stride + c * problem.column_stride];
    return {reinterpret_cast<const HostX*>(copy), columns, rows, columns};
  }

  void reduce_rows(const Tile& tile, bool is_first, HostState<T>* of_rows) const {
    HostRowsJob<HostX, HostX, T> job;
    this->set_common(job);
    job.x = tile.x;
    job.x_stride = tile.row_stride;
    job.y = nullptr;
    job.y_stride = 0;
    job.rows = tile.rows;
    job.columns = tile.columns;
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      const HostState<T> state = Base::kernels().reduce(job, r, 0, tile.columns);
      if (is_first)
        of_rows[r] = state;
      else
        Base::kernels().merge(of_rows[r], state);
    }
  }

  /// The kernel takes the columns as rows that lie side by side.
  void reduce_columns(const Tile& tile, bool is_first, HostPanelStates<T>& of_panel) const {
    HostPanelsJob<HostX, HostX, T> job;
    this->set_common(job);
    job.x = tile.x;
    job.x_column_stride = tile.row_stride;
    job.y = nullptr;
    job.y_column_stride = 0;
    job.y_stride = 0;
    job.rows = tile.columns;
    job.columns = tile.rows;
    const auto& kernels = Base::kernels();
    if (is_first) return kernels.reduce_panel(job, 0, tile.columns, 0, tile.rows, of_panel);
    HostPanelStates<T> of_tile;
    kernels.reduce_panel(job, 0, tile.columns, 0, tile.rows, of_tile);
    kernels.merge_panel(of_panel, of_tile, tile.columns);
  }
};

/// Merges the states of the parts in order and writes the results.
template <class V>
struct HostBothAxesMerge : HostBothAxes<V> {
  using Base = HostBothAxes<V>;
  using typename Base::T;

  std::int64_t blocks;

  explicit HostBothAxesMerge(const Base& base)
      : Base(base), blocks(base.plan.panels + divide_up(base.plan.rows, rows_at_once)) {}

  void operator()(std::int64_t number) const {
    if (number < this->plan.panels)
      finish_panel(number);
    else
      finish_rows((number - this->plan.panels) * rows_at_once);
  }

 private:
  static constexpr std::int64_t rows_at_once = 1024;

  void finish_panel(std::int64_t panel) const {
    HostPanelStates<T>& all = this->states.of_panels[panel];
    const std::int64_t columns = this->plan.width(panel);
    for (std::int64_t b = 1; b < this->plan.blocks; ++b)
      Base::kernels().merge_panel(all, this->states.of_panels[b * this->plan.panels + panel],
                                  columns);
    for (std::int64_t c = 0; c < columns; ++c)
      write(this->problem.of_columns, this->problem.of_columns_stride,
            panel * HostBothAxesPlan::panel_columns + c, all.reference[c],
            static_cast<double>(all.sum[c]) - all.dropped[c]);
  }
  void finish_rows(std::int64_t first) const {
    const std::int64_t end = std::min(this->plan.rows, first + rows_at_once);
    for (std::int64_t r = first; r < end; ++r) {
      HostState<T> all = this->states.of_rows[r];
      for (std::int64_t g = 1; g < this->plan.groups; ++g)
        Base::kernels().merge(all, this->states.of_rows[g * this->plan.rows + r]);
      write(this->problem.of_rows, this->problem.of_rows_stride, r, all.reference, all.sum);
    }
  }
  static void write(T* to, std::int64_t stride, std::int64_t i, double reference, double sum) {
    to[i * stride] = static_cast<T>(reference + std::log(sum));
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
