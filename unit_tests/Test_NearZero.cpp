// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results of logsumexp near 0 keep their digits. In a row of 0 and -40 the sum relative to the
// largest entry is rounded to 1, whose logarithm is 0; the result is 4.2e-18.

#include <algorithm>
#include <limits>
#include <random>
#include <support/Algorithms.hpp>
#include <support/Inputs.hpp>
#include <support/Instances.hpp>
#include <support/OnDevice.hpp>

namespace KokkosSoftmax::Test {
namespace {

inline constexpr std::size_t near_zero_widths[] = {
    1, 2, 3, 4, 7, 8, 12, 16, 31, 33, 64, 65, 129, 256, 500, 781, 1025, 2049, 4100, 8192, 12671};

template <class C>
class NearZero : public ::testing::Test {
 protected:
  using T = typename C::value;
  using Exec = typename C::exec;

  static void expect_right(std::size_t columns, double scale = 1.0) {
    const auto rows = near_zero_rows<T>(columns, scale == 0 ? 1 : 1 / scale);
    const auto expected = reference(rows, scale);
    expect_served_rightly(rows, expected, scale);
    for (const int axis : {0, 1})
      for (const bool reproducible : {false, true}) {
        const Options options{.axis = axis, .scale = scale, .reproducible = reproducible};
        EXPECT_TRUE(
            check_matrix<C>({.function = Function::logsumexp, .options = options}, rows, expected));
      }
  }

  /// Checks every algorithm that serves these rows, along both axes.
  static void expect_served_rightly(const Rows<T>& rows, const Expected& expected,
                                    double scale = 1.0) {
    for (const Algorithm algorithm : all_algorithms)
      for (const int axis : {0, 1}) {
        const Options options{.axis = axis, .scale = scale, .algorithm = algorithm};
        serves<C>({.function = Function::logsumexp, .options = options}, rows, expected);
      }
  }
};
TYPED_TEST_SUITE(NearZero, LayoutConfigs, ConfigName);

/// For rows that take long to check: both axes of one layout have contiguous and strided rows.
template <class C>
class NearZeroOfOneLayout : public NearZero<C> {};
TYPED_TEST_SUITE(NearZeroOfOneLayout, ValueConfigs, ConfigName);

TYPED_TEST(NearZero, Widths) {
  for (const std::size_t columns : near_zero_widths) TestFixture::expect_right(columns);
}

TYPED_TEST(NearZeroOfOneLayout, LongRows) {
  for (const std::size_t columns : {66000, 100003, 200001}) TestFixture::expect_right(columns);
}

// Each of many parts adds less than half an ulp of the result of a float.
TYPED_TEST(NearZeroOfOneLayout, ManyParts) {
  using T = typename TypeParam::value;
  constexpr std::size_t columns = 5300001;
  Rows<T> rows{.count = 1, .columns = columns, .values = std::vector<T>(columns, T(-31.28))};
  rows.values[77] = T(1) / 32;
  TestFixture::expect_served_rightly(rows, reference(rows));
}

// The same for rows side by side. Several threads of a host divide their columns into 64 parts.
TYPED_TEST(NearZero, ManyPartsSideBySide) {
  using T = typename TypeParam::value;
  constexpr std::size_t count = 16, columns = 65536;
  Rows<T> rows{
      .count = count, .columns = columns, .values = std::vector<T>(count * columns, T(-27.12))};
  for (std::size_t row = 0; row < count; ++row) rows.values[row * columns + row] = T(1) / 32;
  TestFixture::expect_served_rightly(rows, reference(rows));
}

TYPED_TEST(NearZero, Scales) {
  for (const double scale : {0.5, -2.0, 0.3})
    for (const std::size_t columns : {2, 33, 1025, 12671})
      TestFixture::expect_right(columns, scale);
}

// The result for one entry is log(1) then, whatever the entry is.
TYPED_TEST(NearZero, ScaleZero) {
  for (const std::size_t columns : {1, 2, 33}) TestFixture::expect_right(columns, 0.0);
}

TYPED_TEST(NearZero, FewRows) {
  using T = typename TypeParam::value;
  for (const std::size_t columns : {2, 781, 100003})
    for (const std::size_t count : {1, 3}) {
      auto rows = near_zero_rows<T>(columns);
      rows.values.resize(count * columns);
      rows.names.resize(count);
      rows.count = count;
      TestFixture::expect_served_rightly(rows, reference(rows));
    }
}

TYPED_TEST(NearZero, AnyAlignment) {
  using L = typename TypeParam::layout;
  for (const std::size_t columns : {5, 129, 1000, 12671}) {
    const auto rows = near_zero_rows<typename TypeParam::value>(columns);
    const auto expected = reference(rows);
    for (const std::size_t offset : {1, 2, 3})
      for (const Algorithm algorithm : all_algorithms)
        is_served(algorithm, [&] {
          EXPECT_TRUE((check<L, L, 2>(typename TypeParam::exec{},
                                      {.function = Function::logsumexp,
                                       .extents = {rows.count, columns},
                                       .options = {.algorithm = algorithm},
                                       .x_offset = offset,
                                       .y_offset = offset},
                                      rows, expected)));
        });
  }
}

// Many ordinary rows with some near 0 among them.
TYPED_TEST(NearZero, AmongOrdinaryRows) {
  using T = typename TypeParam::value;
  for (const std::size_t columns : {2, 5, 31, 300, 2000}) {
    const auto special = near_zero_rows<T>(columns);
    auto rows = normal_rows<T>(500, columns);
    for (std::size_t k = 0; k < special.count; ++k)
      std::copy_n(special.values.begin() + k * columns, columns,
                  rows.values.begin() + (31 * k + 7) * columns);
    TestFixture::expect_served_rightly(rows, reference(rows));
  }
}

/// The bits of the results for some rows, which are rows [place, place + rows.count) of `count`.
template <class C>
std::vector<typename C::value> bits_of(const Rows<typename C::value>& rows, std::size_t count,
                                       std::size_t place_of_rows, std::size_t offset,
                                       const Options& options) {
  using T = typename C::value;
  using L = typename C::layout;
  const typename C::exec exec;
  Rows<T> all = normal_rows<T>(count, rows.columns);
  std::copy(rows.values.begin(), rows.values.end(),
            all.values.begin() + place_of_rows * rows.columns);
  const Extents extents =
      options.axis == 0 ? Extents{rows.columns, count} : Extents{count, rows.columns};
  Field<T, typename C::exec> x(place<L>(extents, offset)), lse(place<L>({count}, 0));
  x.assign(rows_to_tensor(all.values, extents, options.axis));
  logsumexp(exec, x.template view<L, 2>(), lse.template view<L, 1>(), options);
  exec.fence();
  const auto got = lse.read();
  return {got.begin() + place_of_rows, got.begin() + place_of_rows + rows.count};
}

TYPED_TEST(NearZero, Reproducible) {
  for (const std::size_t columns : {2, 7, 33, 129, 781, 2049, 12671, 100003}) {
    const auto rows = near_zero_rows<typename TypeParam::value>(columns);
    for (const int axis : {0, 1}) {
      const Options options{.axis = axis, .reproducible = true};
      const auto first = bits_of<TypeParam>(rows, rows.count, 0, 0, options);
      EXPECT_TRUE(same_bits(bits_of<TypeParam>(rows, rows.count + 1, 1, 1, options), first));
      EXPECT_TRUE(same_bits(bits_of<TypeParam>(rows, rows.count + 3, 0, 3, options), first));
      if (columns < 10000) {
        EXPECT_TRUE(same_bits(bits_of<TypeParam>(rows, 300, 131, 2, options), first));
      }
    }
  }
}

// Calls with operands: v is the sum of x and a bias, where x isn't near 0.
TYPED_TEST(NearZeroOfOneLayout, Operands) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  using L = typename TypeParam::layout;
  for (const std::size_t columns : {2, 33, 500, 2049, 12671, 70000}) {
    const auto v = near_zero_rows<T>(columns);
    Rows<T> x = v;
    Inputs<T> inputs;
    std::mt19937_64 random(columns);
    for (std::size_t i = 0; i < v.values.size(); ++i) {
      const T value = v.values[i];
      const bool is_masked = value < T(-44) && random() % 2 == 0;
      inputs.bias.push_back(std::isinf(value) ? T(1) : value / 2);
      x.values[i] = std::isinf(value) ? value : value - value / 2;
      inputs.mask.push_back(is_masked ? 0 : 1);
    }
    const std::vector<T> mask_numbers(inputs.mask.begin(), inputs.mask.end());
    const auto expected = expected_of(values_of(x, inputs, 1.0), inputs, EmptyRows::nan);
    for (const Algorithm algorithm : all_algorithms)
      for (const int axis : {0, 1}) {
        const Options options{.axis = axis, .algorithm = algorithm};
        const Extents extents = axis == 0 ? Extents{columns, v.count} : Extents{v.count, columns};
        Field<T, Exec> x_field(place<L>(extents, 0)), bias(place<L>(extents, 0)),
            lse(place<L>({v.count}, 0));
        x_field.assign(rows_to_tensor(x.values, extents, axis));
        bias.assign(rows_to_tensor(inputs.bias, extents, axis));
        const auto mask_tensor = rows_to_tensor(mask_numbers, extents, axis);
        const auto mask_memory =
            on_device<Exec>(std::vector<unsigned char>(mask_tensor.begin(), mask_tensor.end()));
        const Kokkos::View<const unsigned char**, Kokkos::LayoutRight, Exec> mask(
            mask_memory.data(), extents[0], extents[1]);
        is_served(algorithm, [&] {
          const Exec exec;
          logsumexp(
              exec, x_field.template view<L, 2, const T>(), lse.template view<L, 1>(), options,
              KokkosSoftmax::Operands{.bias = bias.template view<L, 2, const T>(), .mask = mask});
          exec.fence();
          EXPECT_TRUE(is_accurate_near_zero(x, expected, lse.read()))
              << to_string(algorithm) << ", axis " << axis << ", " << columns << " columns";
        });
      }
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
