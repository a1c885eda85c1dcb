// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options::reproducible: the bits of the result of a row depend only on the row.

#include <optional>
#include <stdexcept>
#include <support/Algorithms.hpp>
#include <support/Surroundings.hpp>

namespace KokkosSoftmax::Test {
namespace {

template <class C>
class Reproducible : public ::testing::Test {
 protected:
  using T = typename C::value;
  using Exec = typename C::exec;
  using L = typename C::layout;

  /// Returns the part of the result that belongs to `row` if the function is called in these
  /// surroundings.
  static std::vector<T> result(const Rows<T>& row, Case c, const Surroundings& s,
                               const Exec& exec) {
    const Rows<T> rows = surrounded(row, s);
    c.extents = c.options.axis == 0 ? Extents{row.columns, s.count} : Extents{s.count, row.columns};
    Field<T, Exec> x(place<L>(c.extents, s.x_offset)), y(place<L>(c.y_extents(), s.y_offset));
    x.assign(rows_to_tensor(rows.values, c.extents, c.options.axis));
    const auto x_view = x.template view<L, 2>();
    if (c.function == Function::logsumexp)
      call(c.function, exec, x_view, y.template view<L, 1>(), c.options);
    else
      call(c.function, exec, x_view, y.template view<L, 2>(), c.options);
    exec.fence();
    return part(c, y.read(), s.place);
  }

  static std::vector<T> part(const Case& c, const std::vector<T>& y, std::size_t row) {
    if (c.function == Function::logsumexp) return {y[row]};
    const auto rows = tensor_to_rows(y, c.extents, c.options.axis);
    const std::size_t columns = c.extents[axis_index(c.extents, c.options.axis)];
    return {rows.begin() + row * columns, rows.begin() + (row + 1) * columns};
  }

  static std::string described(const Case& c) {
    return std::string(to_string(c.function)) + " along axis " + std::to_string(c.options.axis) +
           ", " + std::string(to_string(c.options.algorithm));
  }

  /// Whether the algorithm must accept the row among `count` rows.
  static bool is_to_be_served(const Case& c, std::size_t columns, std::size_t count) {
    constexpr bool right = std::is_same_v<L, Kokkos::LayoutRight>;
    constexpr bool left = std::is_same_v<L, Kokkos::LayoutLeft>;
    const Algorithm algorithm = c.options.algorithm;
    if (algorithm == Algorithm::automatic) return true;
    if (algorithm == Algorithm::host) return is_host_space<Exec>;
    // A single row is both contiguous and strided, and must_serve holds only for dense matrices.
    if (count == 1 || !(right || left)) return false;
    const bool strided = right == (c.options.axis == 0);
    return must_serve<C>(algorithm, c.function, columns, strided);
  }

  static void expect_same_bits(const Rows<T>& row, const Case& c) {
    const auto instances = instances_in_turn<Exec>();
    std::optional<std::vector<T>> first;
    int call = 0;
    for (const Surroundings& s : all_surroundings) {
      if (!s.are_for(row.columns)) continue;
      const Exec& exec = instances[call++ % instances.size()];
      std::ostringstream where;
      where << row.columns << " columns, row " << s.place << " of " << s.count << ", offsets "
            << s.x_offset << " and " << s.y_offset << ", " << described(c);
      std::vector<T> got;
      if (!is_served(c.options.algorithm, [&] { got = result(row, c, s, exec); })) {
        EXPECT_FALSE(is_to_be_served(c, row.columns, s.count)) << "refused: " << where.str();
        continue;
      }
      if (!first) first = got;
      EXPECT_TRUE(same_bits(got, *first)) << where.str();
    }
  }
};
TYPED_TEST_SUITE(Reproducible, LayoutConfigs, ConfigName);

TYPED_TEST(Reproducible, Automatic) {
  for (const std::size_t columns : {3, 33, 127, 128, 781, 1024, 1025, 12671, 100003})
    for (const Function function : all_functions)
      for (const int axis : {0, 1})
        TestFixture::expect_same_bits(
            normal_rows<typename TypeParam::value>(1, columns),
            {.function = function, .options = {.axis = axis, .reproducible = true}});
}

// Strides of x and y that differ, and gaps between rows or columns: the bits are those of the row
// alone in contiguous memory.
TYPED_TEST(Reproducible, AnyStrides) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  using Strided = Kokkos::LayoutStride;
  for (const std::size_t columns : {2, 33, 781, 5000, 70001}) {
    const auto& row = normal_sample<T>(1, columns).rows;
    for (const Function function : all_functions) {
      const Case alone{.function = function, .options = {.axis = 1, .reproducible = true}};
      const auto expected = TestFixture::result(row, alone, {}, Exec{});
      for (const std::size_t count : {1, 3}) {
        Rows<T> rows = row;
        for (; rows.count < count; ++rows.count)
          rows.values.insert(rows.values.end(), row.values.begin(), row.values.end());
        const Extents extents{count, columns}, right{columns, 1}, left{1, count}, padded{1, 7},
            gaps{2 * columns + 1, 2}, far{2, 2 * count + 5};
        for (const auto& [x_strides, y_strides] :
             {std::pair{padded, padded}, {right, left}, {left, right}, {gaps, gaps}, {far, far}}) {
          const Case c{.function = function, .extents = extents, .options = alone.options};
          const bool reduces = function == Function::logsumexp;
          const Field<T, Exec> y(reduces ? place_right({count}) : Placement{extents, y_strides});
          Field<T, Exec> x(Placement{extents, x_strides});
          x.assign(rows.values);
          if (reduces)
            call(function, Exec{}, x.template view<Strided, 2>(), y.template view<Strided, 1>(),
                 c.options);
          else
            call(function, Exec{}, x.template view<Strided, 2>(), y.template view<Strided, 2>(),
                 c.options);
          Exec{}.fence();
          for (std::size_t r = 0; r < count; ++r)
            EXPECT_TRUE(same_bits(TestFixture::part(c, y.read(), r), expected))
                << ::testing::PrintToString(c) << ", row " << r << ", strides "
                << ::testing::PrintToString(x_strides);
        }
      }
    }
  }
}

/// Whether the algorithm serves calls with Options::reproducible.
bool is_reproducible(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::subgroup:
    case Algorithm::fused_registers:
    case Algorithm::fused_scratch:
    case Algorithm::online:
    case Algorithm::column:
    case Algorithm::host:
      return true;
    case Algorithm::packed:
    case Algorithm::split:
    case Algorithm::split_online:
    case Algorithm::cluster:
    case Algorithm::split_column:
    case Algorithm::cluster_column:
    case Algorithm::two_pass_column:
    case Algorithm::automatic:
      return false;
  }
  throw std::logic_error("no such algorithm");
}

TYPED_TEST(Reproducible, ForcedAlgorithms) {
  for (const Algorithm algorithm : all_algorithms) {
    if (!is_reproducible(algorithm)) continue;
    for (const std::size_t columns : {7, 33, 1024, 1025})  // each algorithm must serve some
      for (const int axis : {0, 1}) {
        const Options options{.axis = axis, .algorithm = algorithm, .reproducible = true};
        const auto row = normal_rows<typename TypeParam::value>(1, columns);
        TestFixture::expect_same_bits(row, {.options = options});
      }
  }
}

// Reproducible results are as accurate as others.
TYPED_TEST(Reproducible, Right) {
  for (const std::size_t columns : {1, 33, 1024, 12671}) {
    const auto& sample = normal_sample<typename TypeParam::value>(3, columns);
    for (const Function function : all_functions)
      for (const int axis : {0, 1})
        EXPECT_TRUE(check_matrix<TypeParam>(
            {.function = function, .options = {.axis = axis, .reproducible = true}}, sample.rows,
            sample.expected));
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
