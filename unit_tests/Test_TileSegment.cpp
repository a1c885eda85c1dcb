// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The segment of a row with operands that a team of a cluster holds, tested on the host with one
// team of one thread. The segment is the whole row. Its biases pass through scratch memory, or the
// team keeps them there together with the mask, for all rows.

#include <gtest/gtest.h>

#include <backend/Schedule.hpp>
#include <dispatch/OpOf.hpp>
#include <limits>
#include <random>
#include <schedules/cluster/PrefetchedColumns.hpp>
#include <schedules/cluster/TileSegment.hpp>
#include <support/Check.hpp>
#include <support/Inputs.hpp>
#include <type_traits>

namespace KokkosSoftmax::Test {
namespace {

using KokkosSoftmax::Impl::AccessMode;
using KokkosSoftmax::Impl::strided_array;

template <class Segment>
inline constexpr bool keeps_columns = requires(typename Segment::Inputs inputs) {
  inputs.image();
};

template <class Segment>
struct RowInOneSegment {
  using Member = Kokkos::TeamPolicy<Kokkos::DefaultHostExecutionSpace>::member_type;
  using Arguments = KokkosSoftmax::Impl::GeneralArgs<typename Segment::V>;

  Arguments arguments;

  void operator()(const Member& member) const {
    const typename Segment::Row row(arguments, member.league_rank());
    void* const scratch = member.team_scratch(0).get_shmem_aligned(scratch_bytes(), 16);
    Segment segment(static_cast<char*>(scratch), 0);
    if constexpr (keeps_columns<Segment>) {
      segment.inputs().image().fill(arguments, 0, 0);
      segment.inputs().prefetch(arguments, row, 0, 0);
    }
    segment.store(arguments, row, 0, 0, segment.load(arguments, row, 0, 0));
  }
  std::size_t scratch_bytes() const {
    if constexpr (keeps_columns<Segment>)
      return Segment::Inputs::scratch_bytes() + 16;
    else
      return Segment::scratch_bytes(arguments) + 16;
  }
};

template <class T>
class TileSegment : public ::testing::Test {
 protected:
  using V = KokkosSoftmax::Impl::ValueTypes<T>;
  using Exec = Kokkos::DefaultHostExecutionSpace;
  using L = Kokkos::LayoutRight;
  static constexpr std::size_t count = 7;

  /// The offsets are those of x and y, and of the bias, in their memory. So rows have peeled
  /// entries, and biases aren't always aligned.
  template <int width, AccessMode access, bool keeps = false>
  static void expect_right(std::size_t columns, bool has_bias, bool shares_bias, std::size_t offset,
                           std::size_t bias_offset) {
    using Shape = KokkosSoftmax::Impl::Shape<1, 1, 8 / width, width, access>;
    using Op = KokkosSoftmax::Impl::OneOutput<
        KokkosSoftmax::Impl::OpOf<KokkosSoftmax::Impl::Operation::softmax, V>, 0>;
    using Source = std::conditional_t<keeps, KokkosSoftmax::Impl::SharedInputsSource<V>,
                                      KokkosSoftmax::Impl::GeneralSource<V>>;
    using Tile = KokkosSoftmax::Impl::TeamTile<Source, Shape>;
    using InputsOfSegment = typename std::conditional_t<
        keeps, std::type_identity<KokkosSoftmax::Impl::PrefetchedColumns<Source, Tile>>,
        std::type_identity<KokkosSoftmax::Impl::InputsOfTile<Source, Tile>>>::type;
    using Segment = KokkosSoftmax::Impl::TileSegment<Exec, Op, Source, Shape, InputsOfSegment>;
    auto x = normal_rows<T>(count, columns);
    const Inputs<T> inputs = random_inputs(columns, has_bias, shares_bias, keeps);
    for (std::size_t i = 0; i < x.values.size(); i += 3)
      if (inputs.mask[i] == 0) x.values[i] = std::numeric_limits<T>::quiet_NaN();
    x.values[3 * columns] = std::numeric_limits<T>::quiet_NaN();
    x.values[5 * columns - 1] = std::numeric_limits<T>::infinity();
    const Case c{.extents = {count, columns}, .options = {.axis = 1}};
    Field<T, Exec> x_field(place<L>(c.extents, offset)), y_field(place<L>(c.extents, offset));
    Field<T, Exec> bias_field(place<L>(c.extents, bias_offset));
    x_field.assign(x.values);
    KokkosSoftmax::Impl::InputArrays<const T, T> arrays;
    if (has_bias) {
      bias_field.assign(inputs.bias);
      arrays.bias = strided_array(bias_field.template view<L, 2, const T>());
      if (shares_bias) arrays.bias->strides[0] = 0;
    }
    const Kokkos::View<const unsigned char**, L, Kokkos::HostSpace,
                       Kokkos::MemoryTraits<Kokkos::Unmanaged>>
        mask(inputs.mask.data(), count, columns);
    arrays.mask = strided_array(mask);
    if (keeps) arrays.mask->strides[0] = 0;
    const Exec exec;
    const RowInOneSegment<Segment> kernel{
        {KokkosSoftmax::Impl::make_general_row_problem(
             strided_array(x_field.template view<L, 2, const T>()),
             strided_array(y_field.template view<L, 2>()), 1,
             KokkosSoftmax::Impl::ArraysBeside<const T, T>{}, arrays),
         c.options}};
    Kokkos::TeamPolicy<Exec> policy(exec, static_cast<int>(count), 1, 1);
    policy.set_scratch_size(0, Kokkos::PerTeam(kernel.scratch_bytes()));
    Kokkos::parallel_for("host kernel", policy, kernel);
    exec.fence();
    const auto v = values_of(x, inputs, 1.0);
    EXPECT_TRUE(check_output(c, v, expected_of(v, inputs, EmptyRows::nan), y_field))
        << columns << " columns, offset " << offset << ", width " << width;
  }

 private:
  static Inputs<T> random_inputs(std::size_t columns, bool has_bias, bool shares_bias,
                                 bool shares_mask) {
    std::minstd_rand random(static_cast<unsigned>(columns));
    Inputs<T> inputs;
    for (std::size_t i = 0; i < count * columns; ++i) {
      const unsigned char mask = random() % 4 == 0 ? 0 : 1;
      inputs.mask.push_back(shares_mask && i >= columns ? inputs.mask[i - columns] : mask);
      if (!has_bias) continue;
      const T bias = i % columns == 6 ? -std::numeric_limits<T>::infinity()
                                      : static_cast<T>(random() % 1000) / T(64);
      inputs.bias.push_back(shares_bias && i >= columns ? inputs.bias[i - columns] : bias);
    }
    return inputs;
  }
};
using TypesOfSegments = ::testing::Types<float, double>;
TYPED_TEST_SUITE(TileSegment, TypesOfSegments);

TYPED_TEST(TileSegment, HoldsARow) {
  constexpr int wide = 16 / static_cast<int>(sizeof(TypeParam));
  for (const bool has_bias : {false, true})
    for (const bool shares_bias : {false, true})
      for (const std::size_t bias_offset : {0, 1}) {
        for (const std::size_t columns : {wide, 8})
          TestFixture::template expect_right<wide, AccessMode::guarded_vectors>(
              columns, has_bias, shares_bias, 0, bias_offset);
        for (const std::size_t columns : {1, 2, 7, 8})
          for (const std::size_t offset : {0, 1})
            TestFixture::template expect_right<1, AccessMode::peeled_vectors>(
                columns, has_bias, shares_bias, offset, bias_offset);
      }
}

TYPED_TEST(TileSegment, KeepsTheColumnsOfRows) {
  constexpr int wide = 16 / static_cast<int>(sizeof(TypeParam));
  for (const bool has_bias : {false, true}) {
    for (const std::size_t columns : {wide, 8})
      TestFixture::template expect_right<wide, AccessMode::guarded_vectors, true>(columns, has_bias,
                                                                                  true, 0, 0);
    for (const std::size_t columns : {1, 2, 7, 8})
      for (const std::size_t offset : {0, 1})
        TestFixture::template expect_right<1, AccessMode::peeled_vectors, true>(columns, has_bias,
                                                                                true, offset, 0);
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
