// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that end at lengths or a causal limit, in the kernels of GPUs, tested on the host with teams
// of one thread.

#include <gtest/gtest.h>

#include <algorithm>
#include <backend/Schedule.hpp>
#include <dispatch/OpOf.hpp>
#include <launch/TeamLaunch.hpp>
#include <launch/TwoPassLaunch.hpp>
#include <limits>
#include <op/FillMasked.hpp>
#include <row/LimitedSource.hpp>
#include <schedules/Column.hpp>
#include <schedules/Online.hpp>
#include <schedules/Subgroup.hpp>
#include <schedules/cluster/AsyncSegment.hpp>
#include <schedules/two_pass/Kernels.hpp>
#include <support/Check.hpp>
#include <support/Inputs.hpp>

namespace KokkosSoftmax::Test {
namespace {

using KokkosSoftmax::Impl::AccessMode;
using KokkosSoftmax::Impl::Operation;
using KokkosSoftmax::Impl::strided_array;

/// What the team of a cluster of one team does.
template <class Exec, class Op, class Source, class Shape>
struct LimitedRowInOneSegment {
  using Member = Kokkos::TeamPolicy<Exec>::member_type;
  using Segment = KokkosSoftmax::Impl::AsyncSegment<Exec, Op, Source, Shape>;
  static constexpr std::int64_t chunks = 200;

  typename Source::Arguments arguments;

  void operator()(const Member& member) const {
    const typename Segment::Row row(arguments, member.league_rank());
    void* const scratch =
        member.team_scratch(0).get_shmem_aligned(Segment::scratch_bytes(chunks), 16);
    Segment segment(static_cast<char*>(scratch), chunks);
    const auto state = segment.load(arguments, row, 0, 0);
    segment.store(arguments, row, 0, 0, state);
    for (int thread = 0; thread < 32; ++thread)  // as many as fill_masked() asks for
      KokkosSoftmax::Impl::fill_masked<Op>(arguments, row, state, thread, 32);
  }
  static std::size_t scratch_bytes(std::int64_t /*columns*/) {
    return Segment::scratch_bytes(chunks) + 16;
  }
};

template <class T>
class LimitedSource : public ::testing::Test {
 protected:
  using V = KokkosSoftmax::Impl::ValueTypes<T>;
  using Exec = Kokkos::DefaultHostExecutionSpace;
  using L = Kokkos::LayoutRight;
  using Source = KokkosSoftmax::Impl::LimitedSource<V>;
  static constexpr std::size_t columns = 100;
  static constexpr std::size_t count = columns + 3;

  /// Some rows have NaN, +inf, or nothing but -inf.
  static Rows<T> make_rows() {
    constexpr T inf = std::numeric_limits<T>::infinity();
    constexpr T nan = std::numeric_limits<T>::quiet_NaN();
    Rows<T> rows = normal_rows<T>(count, columns);
    for (std::size_t row = 0; row < count; ++row) {
      T* const entries = rows.values.data() + row * columns;
      if (row % 7 == 3) entries[row / 2] = row % 2 == 0 ? inf : nan;
      if (row % 11 == 5) std::fill_n(entries, columns, -inf);
    }
    return rows;
  }
  /// Each number of columns from -1 to `columns` + 1.
  static Inputs<T> make_inputs(bool is_causal) {
    Inputs<T> inputs;
    if (is_causal) inputs.offset = -2;
    for (std::size_t row = 0; !is_causal && row < count; ++row)
      inputs.lengths.push_back(static_cast<std::int64_t>(row) - 1);
    return inputs;
  }

  /// Calls launch(problem, options) on rows along `axis`, and compares y with the reference.
  template <class Launch>
  static void expect_right(Function function, int axis, const Launch& launch) {
    for (const bool is_causal : {false, true})
      for (const EmptyRows empty_rows : {EmptyRows::nan, EmptyRows::zero})
        for (const std::size_t offset : {0, 1})
          expect_right({.function = function,
                        .extents = axis == 1 ? Extents{count, columns} : Extents{columns, count},
                        .options = {.axis = axis, .scale = -0.7, .empty_rows = empty_rows},
                        .x_offset = offset,
                        .y_offset = offset},
                       is_causal, launch);
  }

  /// The same for a kernel with one team per row.
  template <class Kernel>
  static void expect_right_kernel(Function function) {
    expect_right(function, 1, [](const auto& problem, const Options& options) {
      Kokkos::TeamPolicy<Exec> policy(Exec{}, static_cast<int>(count), 1, 1);
      policy.set_scratch_size(
          0, Kokkos::PerTeam(Kernel::scratch_bytes(static_cast<std::int64_t>(columns))));
      Kokkos::parallel_for("host kernel", policy, Kernel{{problem, options}});
    });
  }

  /// The same for the launch of strided rows.
  template <class Launch>
  static void expect_right_columns(Function function) {
    expect_right(function, 0, [](const auto& problem, const Options& options) {
      const Exec exec;
      const KokkosSoftmax::Impl::LaunchContext<Exec, V, KokkosSoftmax::Impl::GeneralArgs<V>>
          context(exec, problem, options);
      ASSERT_TRUE(Launch::fits_device(context));
      Launch::launch(context);
    });
  }

 private:
  template <class Launch>
  static void expect_right(const Case& c, bool is_causal, const Launch& launch) {
    const int axis = c.options.axis;
    const Rows<T> x = make_rows();
    const Inputs<T> inputs = make_inputs(is_causal);
    Field<T, Exec> x_field(place<L>(c.extents, c.x_offset));
    Field<T, Exec> y_field(place<L>(c.y_extents(), c.y_offset));
    x_field.assign(rows_to_tensor(x.values, c.extents, axis));
    const Kokkos::View<const std::int64_t*, Kokkos::HostSpace,
                       Kokkos::MemoryTraits<Kokkos::Unmanaged>>
        lengths(inputs.lengths.data(), inputs.lengths.size());
    KokkosSoftmax::Impl::InputArrays<const T, T> arrays;
    if (is_causal)
      arrays.causal = Causal{.offset = *inputs.offset, .axis = 1 - axis};
    else
      arrays.long_lengths = strided_array(lengths);
    const auto y = c.function == Function::logsumexp ? strided_array(y_field.template view<L, 1>())
                                                     : strided_array(y_field.template view<L, 2>());
    launch(KokkosSoftmax::Impl::make_general_row_problem(
               strided_array(x_field.template view<L, 2, const T>()), y, axis,
               KokkosSoftmax::Impl::ArraysBeside<const T, T>{}, arrays),
           c.options);
    Exec{}.fence();
    const Rows<T> v = values_of(x, inputs, c.options.scale);
    EXPECT_TRUE(check_output(c, v, expected_of(v, inputs, c.options.empty_rows), y_field))
        << "causal: " << is_causal;
  }
};
using LimitedTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LimitedSource, LimitedTypes);

template <AccessMode access, int items>
using OneLane = KokkosSoftmax::Impl::Shape<1, 1, items, 1, access>;

// Rows that are longer than the tile, and others. The rest of y is filled.
TYPED_TEST(LimitedSource, Cluster) {
  using Op = KokkosSoftmax::Impl::OpOf<Operation::softmax, typename TestFixture::V>;
  TestFixture::template expect_right_kernel<
      LimitedRowInOneSegment<typename TestFixture::Exec, KokkosSoftmax::Impl::OneOutput<Op, 0>,
                             typename TestFixture::Source, OneLane<AccessMode::peeled_vectors, 8>>>(
      Function::softmax);
  TestFixture::template expect_right_kernel<
      LimitedRowInOneSegment<typename TestFixture::Exec, KokkosSoftmax::Impl::OneOutput<Op, 1>,
                             typename TestFixture::Source, OneLane<AccessMode::scalar, 8>>>(
      Function::log_softmax);
}

TYPED_TEST(LimitedSource, SubgroupAndOnline) {
  using Exec = typename TestFixture::Exec;
  using Op = KokkosSoftmax::Impl::OpOf<Operation::logsumexp, typename TestFixture::V>;
  using Source = typename TestFixture::Source;
  TestFixture::template expect_right_kernel<
      KokkosSoftmax::Impl::SubgroupKernel<Exec, Op, Source, OneLane<AccessMode::scalar, 100>>>(
      Function::logsumexp);
  TestFixture::template expect_right_kernel<
      KokkosSoftmax::Impl::OnlineKernel<Exec, Op, Source, OneLane<AccessMode::peeled_vectors, 8>>>(
      Function::logsumexp);
}

// Neighbouring rows that are strided.
TYPED_TEST(LimitedSource, TwoPassColumn) {
  using Exec = typename TestFixture::Exec;
  using V = typename TestFixture::V;
  using Op = KokkosSoftmax::Impl::OpOf<Operation::softmax, V>;
  using Shape = OneLane<AccessMode::scalar, 4>;
  using Kernels =
      KokkosSoftmax::Impl::TwoPassColumnKernels<Exec, Op, typename TestFixture::Source, Shape>;
  TestFixture::template expect_right_columns<
      KokkosSoftmax::Impl::TwoPassLaunch<Algorithm::two_pass_column, Exec, Shape, Kernels, Op, V>>(
      Function::softmax);
}

TYPED_TEST(LimitedSource, Column) {
  using KokkosSoftmax::Impl::OneOutput;
  using Exec = typename TestFixture::Exec;
  using V = typename TestFixture::V;
  using Source = typename TestFixture::Source;
  using Op = KokkosSoftmax::Impl::OpOf<Operation::softmax, V>;
  using Held = OneLane<AccessMode::scalar, 100>;
  using Loop = OneLane<AccessMode::scalar, 8>;
  TestFixture::template expect_right_columns<KokkosSoftmax::Impl::TeamLaunch<
      Algorithm::column, Exec, Held,
      KokkosSoftmax::Impl::ColumnHeldKernel<Exec, OneOutput<Op, 0>, Source, Held>, Op, V>>(
      Function::softmax);
  TestFixture::template expect_right_columns<KokkosSoftmax::Impl::TeamLaunch<
      Algorithm::column, Exec, Loop,
      KokkosSoftmax::Impl::ColumnKernel<Exec, OneOutput<Op, 1>, Source, Loop>, Op, V>>(
      Function::log_softmax);
  using LogSumExp = KokkosSoftmax::Impl::OpOf<Operation::logsumexp, V>;
  TestFixture::template expect_right_columns<KokkosSoftmax::Impl::TeamLaunch<
      Algorithm::column, Exec, Loop,
      KokkosSoftmax::Impl::ColumnKernel<Exec, LogSumExp, Source, Loop>, LogSumExp, V>>(
      Function::logsumexp);
}

}  // namespace
}  // namespace KokkosSoftmax::Test
