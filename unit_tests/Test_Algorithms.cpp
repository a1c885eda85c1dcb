// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every algorithm, forced, on every execution space, on all shapes that it can serve. An algorithm
// may refuse a shape by std::invalid_argument, but not one of those that must_serve() lists.

#include <support/Check.hpp>

namespace KokkosSoftmax::Test {
namespace {

inline constexpr Algorithm all_algorithms[] = {
    Algorithm::packed,        Algorithm::subgroup, Algorithm::fused_registers,
    Algorithm::fused_scratch, Algorithm::online,   Algorithm::split,
    Algorithm::split_online,  Algorithm::column,   Algorithm::host};

/// The least that each algorithm serves: dense matrices whose rows are contiguous or, for
/// `strided`, whose columns are.
template <class Exec>
bool must_serve(Algorithm algorithm, Function function, std::size_t columns, bool strided) {
  constexpr bool on_host = is_host_space<Exec>;
  switch (algorithm) {
    case Algorithm::packed:
      return !strided && columns <= 33;
    case Algorithm::split:
      return !strided && function != Function::logsumexp && (!on_host || columns <= 33);
    case Algorithm::split_online:
      return !strided;
    case Algorithm::subgroup:
      return !strided && columns <= 33;
    case Algorithm::fused_registers:
      return !strided && columns <= (on_host ? 33 : 8192);
    case Algorithm::fused_scratch:
      return !strided && columns <= 1025;
    case Algorithm::online:
      return !strided;
    case Algorithm::column:
      return strided;
    case Algorithm::host:
      return on_host;
    case Algorithm::automatic:
      return true;
  }
  return false;
}

template <class C>
class Algorithms : public ::testing::Test {
 protected:
  using T = typename C::value;

  /// Whether the algorithm serves the case; where it does, the result must be right.
  static bool serves(const Case& c, const Rows<T>& rows, const Expected& expected) {
    try {
      EXPECT_TRUE(check_matrix<C>(c, rows, expected));
      return true;
    } catch (const std::invalid_argument& error) {
      const std::string name(to_string(c.options.algorithm));
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
      return false;
    }
  }

  static void expect_right(const Rows<T>& rows, const Expected& expected, Options options) {
    for (const Algorithm algorithm : all_algorithms)
      for (const Function function : all_functions)
        for (const int axis : {0, 1}) {
          options.algorithm = algorithm;
          options.axis = axis;
          const Case c{.function = function, .options = options};
          const bool strided = rows.count > 1 && axis == 0;
          const bool served = serves(c, rows, expected);
          if (rows.count > 1 && rows.columns > 0 &&
              must_serve<typename C::exec>(algorithm, function, rows.columns, strided)) {
            EXPECT_TRUE(served) << ::testing::PrintToString(c) << " refuses " << rows.columns
                                << " columns";
          }
        }
  }

  static void expect_right(std::size_t count, std::size_t columns) {
    const auto& sample = normal_sample<T>(count, columns);
    expect_right(sample.rows, sample.expected, {});
  }
};
TYPED_TEST_SUITE(Algorithms, ValueConfigs, ConfigName);

TYPED_TEST(Algorithms, EveryWidth) {
  for (const std::size_t columns : widths)
    if (columns <= 4096) TestFixture::expect_right(3, columns);
}

TYPED_TEST(Algorithms, OneRow) {
  for (const std::size_t columns : widths) TestFixture::expect_right(1, columns);
}

TYPED_TEST(Algorithms, ManyRows) {
  for (const std::size_t columns : {1, 2, 3, 7, 32, 33, 129})
    TestFixture::expect_right(127, columns);
}

TYPED_TEST(Algorithms, HostileRows) {
  for (const std::size_t columns : {7, 33, 1025}) {
    const auto rows = hostile_rows<typename TypeParam::value>(columns);
    for (const EmptyRows empty_rows : {EmptyRows::nan, EmptyRows::zero})
      TestFixture::expect_right(rows, reference(rows, 1.0, empty_rows), {.empty_rows = empty_rows});
  }
}

TYPED_TEST(Algorithms, UnalignedPointers) {
  for (const Algorithm algorithm : all_algorithms)
    for (const std::size_t columns : {7, 32, 33, 128, 1000, 1024, 1025, 4096})
      for (const std::size_t x_offset : {0, 1, 2, 3})
        for (const std::size_t y_offset : {0, 1, 2, 3}) {
          const auto& sample = normal_sample<typename TypeParam::value>(3, columns);
          TestFixture::serves(
              {.options = {.algorithm = algorithm}, .x_offset = x_offset, .y_offset = y_offset},
              sample.rows, sample.expected);
        }
}

TYPED_TEST(Algorithms, InPlace) {
  using T = typename TypeParam::value;
  for (const Algorithm algorithm : all_algorithms)
    for (const std::size_t columns : {7, 33, 1024, 1025, 4096, 32769}) {
      const auto& sample = normal_sample<T>(3, columns);
      const Case c{.extents = {3, columns}, .options = {.algorithm = algorithm}};
      try {
        EXPECT_TRUE((check_in_place<Kokkos::LayoutRight, 2>(typename TypeParam::exec{}, c,
                                                            sample.rows, sample.expected)));
      } catch (const std::invalid_argument&) {  // which shapes it must serve is tested above
      }
    }
}

/// Little of everything, for tools under which a test takes a hundred times as long.
template <class C>
class Reduced : public Algorithms<C> {};
TYPED_TEST_SUITE(Reduced, ValueConfigs, ConfigName);

TYPED_TEST(Reduced, EveryAlgorithm) {
  for (const std::size_t columns : {1, 33, 128, 781, 1024, 1025, 4099})
    TestFixture::expect_right(3, columns);
  TestFixture::expect_right(37, 7);
}

TYPED_TEST(Reduced, Unaligned) {
  for (const Algorithm algorithm : all_algorithms)
    for (const std::size_t columns : {33, 1025}) {
      const auto& sample = normal_sample<typename TypeParam::value>(3, columns);
      TestFixture::serves({.options = {.algorithm = algorithm}, .x_offset = 1, .y_offset = 3},
                          sample.rows, sample.expected);
    }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
