// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views as in users' programs: different layouts and alignments, padded Views, subviews, in place,
// and with compile-time extents.

#include <support/Algorithms.hpp>
#include <support/Check.hpp>

namespace KokkosSoftmax::Test {
namespace {

/// An input and an output, each in its own memory, for Views that a test makes from their pointers.
template <class T, class Exec>
struct Fields {
  Field<T, Exec> x, y;

  Fields(const Placement& x_place, const Placement& y_place, const Rows<T>& rows, int axis)
      : x(x_place), y(y_place) {
    x.assign(rows_to_tensor(rows.values, x_place.extents, axis));
  }

  /// Calls the function with these Views of the fields and checks the output.
  template <class X, class Y>
  ::testing::AssertionResult check(const X& x_view, const Y& y_view, const Case& c,
                                   const Sample<T>& sample) const {
    call(c.function, Exec{}, x_view, y_view, c.options);
    Exec{}.fence();
    return both(check_output(c, sample.rows, sample.expected, y), x.is_unchanged(),
                "x was written");
  }
};

template <class C>
class Views : public ::testing::Test {
 protected:
  using T = typename C::value;
  using Exec = typename C::exec;
  using L = typename C::layout;

  template <class LY>
  static void expect_right_with_output_layout() {
    const Extents extents{5, 33, 7};
    for (const int axis : {0, 1, 2}) {
      const auto& sample = normal_sample<T>(product(without_axis(extents, axis)), extents[axis]);
      for (const Function function : all_functions)
        EXPECT_TRUE((check<L, LY, 3>(
            Exec{}, {.function = function, .extents = extents, .options = {.axis = axis}},
            sample.rows, sample.expected)));
    }
  }

  /// Checks matrices with the given strides of x and of y, along both axes.
  static void expect_right_with_strides(const Extents& extents, const Extents& x_strides,
                                        const Extents& y_strides) {
    for (const int axis : {0, 1}) {
      const auto& sample = normal_sample<T>(extents[1 - axis], extents[axis]);
      const Case c{.extents = extents, .options = {.axis = axis}};
      const Fields<T, Exec> fields({extents, x_strides}, {extents, y_strides}, sample.rows, axis);
      EXPECT_TRUE(fields.check(fields.x.template view<Kokkos::LayoutStride, 2>(),
                               fields.y.template view<Kokkos::LayoutStride, 2>(), c, sample));
    }
  }
};
TYPED_TEST_SUITE(Views, LayoutConfigs, ConfigName);

TYPED_TEST(Views, OutputOfAnotherLayout) {
  TestFixture::template expect_right_with_output_layout<Kokkos::LayoutRight>();
  TestFixture::template expect_right_with_output_layout<Kokkos::LayoutLeft>();
  TestFixture::template expect_right_with_output_layout<Kokkos::LayoutStride>();
}

// Wide loads need alignment. x and y are aligned or unaligned independently of each other.
TYPED_TEST(Views, UnalignedPointers) {
  using T = typename TypeParam::value;
  for (const std::size_t columns : {7, 128, 781, 1000, 1024, 1025, 4096}) {
    const auto& sample = normal_sample<T>(3, columns);
    for (const std::size_t x_offset : {0, 1, 2, 3})
      for (const std::size_t y_offset : {0, 1, 2, 3})
        for (const Function function : all_functions)
          EXPECT_TRUE(check_matrix<TypeParam>(
              {.function = function, .x_offset = x_offset, .y_offset = y_offset}, sample.rows,
              sample.expected));
  }
}

TYPED_TEST(Views, InPlace) {
  using L = typename TypeParam::layout;
  for (const std::size_t columns : widths) {
    if (columns > 40000) continue;
    const auto& sample = normal_sample<typename TypeParam::value>(3, columns);
    for (const Function function : {Function::softmax, Function::log_softmax})
      for (const int axis : {0, 1}) {
        const Extents extents = axis == 1 ? Extents{3, columns} : Extents{columns, 3};
        EXPECT_TRUE((check_in_place<L, 2>(
            typename TypeParam::exec{},
            {.function = function, .extents = extents, .options = {.axis = axis}}, sample.rows,
            sample.expected)));
      }
  }
}

template <class C>
class StridedViews : public Views<C> {};
TYPED_TEST_SUITE(StridedViews, ValueConfigs, ConfigName);

// Contiguous rows or columns with gaps between them, so that their alignments differ.
TYPED_TEST(StridedViews, PaddedRowsAndColumns) {
  for (const std::size_t columns : {7, 33, 781, 1025, 4096}) {
    const Extents extents{5, columns}, right{columns + 5, 1}, left{1, 5 + 3};
    TestFixture::expect_right_with_strides(extents, right, right);
    TestFixture::expect_right_with_strides(extents, left, left);
    TestFixture::expect_right_with_strides(extents, right, left);
    TestFixture::expect_right_with_strides(extents, left, right);
    TestFixture::expect_right_with_strides(extents, right, {columns + 8, 1});
    TestFixture::expect_right_with_strides(extents, right, {columns, 1});
  }
}

// One axis is contiguous in x and strided in y, or strided in x and contiguous in y.
TYPED_TEST(StridedViews, EveryOtherColumn) {
  for (const std::size_t columns : {7, 33, 1025}) {
    const Extents extents{5, columns}, every{columns, 1}, every_other{2 * columns + 1, 2};
    TestFixture::expect_right_with_strides(extents, every_other, every);
    TestFixture::expect_right_with_strides(extents, every, every_other);
  }
}

// An axis of extent 1 can have the stride 0 in y, too.
TYPED_TEST(StridedViews, OneColumnOfStrideZero) {
  using T = typename TypeParam::value;
  const Extents extents{700, 1};
  const auto& sample = normal_sample<T>(700, 1);
  const auto algorithms = all_algorithms_and_automatic();
  for (const Algorithm algorithm : algorithms)
    for (const Function function : {Function::softmax, Function::log_softmax})
      is_served(algorithm, [&] {
        const Fields<T, typename TypeParam::exec> fields({extents, {1, 1}}, {extents, {2, 0}},
                                                         sample.rows, 1);
        EXPECT_TRUE(fields.check(fields.x.template view<Kokkos::LayoutStride, 2>(),
                                 fields.y.template view<Kokkos::LayoutStride, 2>(),
                                 {.function = function,
                                  .extents = extents,
                                  .options = {.axis = 1, .algorithm = algorithm}},
                                 sample));
      });
}

// All rows of x are the same memory: an input can have a stride of 0.
TYPED_TEST(StridedViews, BroadcastInput) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const std::size_t columns = 129;
  const auto& row = normal_sample<T>(1, columns);
  Sample<T> repeated{{3, columns, {}}, {}};
  for (int i = 0; i < 3; ++i)
    repeated.rows.values.insert(repeated.rows.values.end(), row.rows.values.begin(),
                                row.rows.values.end());
  repeated.expected = reference(repeated.rows);
  const Fields<T, Exec> fields({{3, columns}, {0, 1}}, place_right({3, columns}), repeated.rows, 1);
  EXPECT_TRUE(fields.check(fields.x.template view<Kokkos::LayoutStride, 2>(),
                           fields.y.template view<Kokkos::LayoutRight, 2>(),
                           {.extents = {3, columns}}, repeated));
}

/// A View of a 4 x 9 x 40 tensor, of which `field` holds only the part that begins at element
/// `first`.
template <class T, class Exec, class Layout>
auto whole_tensor(const Field<T, Exec>& field, std::size_t first) {
  return Kokkos::View<T***, Layout, typename Field<T, Exec>::Device,
                      Kokkos::MemoryTraits<Kokkos::Unmanaged>>(field.data() - first, 4, 9, 40);
}

/// The placement of slice 2, rows 1 to 7, columns 3 to 35 of whole_tensor.
template <class Layout>
Placement slice_of_whole_tensor() {
  const Placement whole = place<Layout>({4, 9, 40});
  const auto& s = whole.strides;
  return {{7, 33}, {s[1], s[2]}, 2 * s[0] + 1 * s[1] + 3 * s[2]};
}

template <class T, class Exec, class Layout>
auto slice(const Field<T, Exec>& field) {
  return Kokkos::subview(
      whole_tensor<T, Exec, Layout>(field, slice_of_whole_tensor<Layout>().offset), 2,
      std::pair(1, 8), std::pair(3, 36));
}

template <class C, class Layout>
void expect_right_for_slices() {
  using T = typename C::value;
  using Exec = typename C::exec;
  for (const int axis : {0, 1}) {
    const Placement placement = slice_of_whole_tensor<Layout>();
    const auto& sample = normal_sample<T>(placement.extents[1 - axis], placement.extents[axis]);
    const Fields<T, Exec> fields(placement, placement, sample.rows, axis);
    for (const Function function : {Function::softmax, Function::log_softmax})
      EXPECT_TRUE(fields.check(
          slice<T, Exec, Layout>(fields.x), slice<T, Exec, Layout>(fields.y),
          {.function = function, .extents = placement.extents, .options = {.axis = axis}}, sample));
  }
}

TYPED_TEST(StridedViews, Subviews) {
  expect_right_for_slices<TypeParam, Kokkos::LayoutRight>();
  expect_right_for_slices<TypeParam, Kokkos::LayoutLeft>();
}

// The left and the right half of all rows don't overlap, although their spans do.
TYPED_TEST(StridedViews, HalvesOfTheSameRows) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const std::size_t columns = 33;
  const auto& sample = normal_sample<T>(5, columns);
  Field<T, Exec> both_halves(place_right({5, 2 * columns}));
  std::vector<T> values(5 * 2 * columns, poison<T>);
  for (std::size_t i = 0; i < sample.rows.values.size(); ++i)
    values[i / columns * 2 * columns + i % columns] = sample.rows.values[i];
  both_halves.assign(values);
  const auto view = both_halves.template view<Kokkos::LayoutRight, 2>();
  const auto left =
      Kokkos::subview(view, Kokkos::ALL, std::pair<std::size_t, std::size_t>(0, columns));
  const auto right =
      Kokkos::subview(view, Kokkos::ALL, std::pair<std::size_t, std::size_t>(columns, 2 * columns));
  ASSERT_NO_THROW(softmax(Exec{}, left, right));
  Exec{}.fence();
  const std::vector<T> after = both_halves.read();
  std::vector<T> got;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (i % (2 * columns) >= columns) {
      got.push_back(after[i]);
    } else {
      EXPECT_EQ(after[i], values[i]) << "x was written";
    }
  }
  EXPECT_TRUE(is_accurate(Function::softmax, sample.rows, sample.expected, got));
}

// Managed Views with compile-time extents, and the overloads without an execution space.
TYPED_TEST(StridedViews, CompileTimeExtentsOnTheDefaultInstance) {
  using T = typename TypeParam::value;
  using Device = typename Field<T, typename TypeParam::exec>::Device;
  const auto& sample = normal_sample<T>(3, 33);
  Kokkos::View<T[3][33], Kokkos::LayoutRight, Device> x("x"), y("y");
  Kokkos::View<T[3], Device> lse("lse");
  const auto x_host = Kokkos::create_mirror_view(x);
  std::copy(sample.rows.values.begin(), sample.rows.values.end(), x_host.data());
  Kokkos::deep_copy(x, x_host);
  const auto expect_values = [&](Function function, const auto& view) {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
    EXPECT_TRUE(is_accurate(function, sample.rows, sample.expected,
                            std::vector<T>(host.data(), host.data() + host.size())));
  };
  softmax(x, y);
  expect_values(Function::softmax, y);
  log_softmax(x, y, {.axis = 1});
  expect_values(Function::log_softmax, y);
  logsumexp(x, lse);
  expect_values(Function::logsumexp, lse);
}

}  // namespace
}  // namespace KokkosSoftmax::Test
