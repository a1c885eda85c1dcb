// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls with invalid arguments throw a std::invalid_argument that names the function, the argument
// and the given numbers, and write nothing.

#include <cmath>
#include <limits>
#include <string>
#include <support/Check.hpp>
#include <support/Throws.hpp>

namespace KokkosSoftmax::Test {
namespace {

template <class C>
class Errors : public ::testing::Test {
 protected:
  using T = typename C::value;
  using Exec = typename C::exec;
  using Memory = Field<T, Exec>;

  /// Checks that a call with x of extents `x` and an output of extents `y` (rank 1 for logsumexp)
  /// throws.
  static ::testing::AssertionResult call_throws(Function function, const Extents& x,
                                                const Extents& y, const Options& options,
                                                std::initializer_list<std::string> parts) {
    using Right = Kokkos::LayoutRight;
    const Memory x_memory(place_right(x)), y_memory(place_right(y));
    const auto x_view = x_memory.template view<Right, 2, const T>();
    const auto result = throws_with(parts, [&] {
      if (function == Function::logsumexp)
        call(function, Exec{}, x_view, y_memory.template view<Right, 1>(), options);
      else
        call(function, Exec{}, x_view, y_memory.template view<Right, 2>(), options);
    });
    Exec{}.fence();
    return both(result, y_memory.is_unchanged() && x_memory.is_unchanged(), "memory was written");
  }

  static Extents output_extents(Function function) {
    return function == Function::logsumexp ? Extents{5} : Extents{5, 7};
  }
};
TYPED_TEST_SUITE(Errors, ValueConfigs, ConfigName);

TYPED_TEST(Errors, AxisOutOfRange) {
  for (const Function function : all_functions)
    for (const int axis : {2, -3, 100, std::numeric_limits<int>::min()})
      EXPECT_TRUE(TestFixture::call_throws(
          function, {5, 7}, TestFixture::output_extents(function), {.axis = axis},
          {full_name(function), "axis", std::to_string(axis), "rank 2"}));
}

// A scale is rounded to the type of the computation.
TYPED_TEST(Errors, LargestScale) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const auto largest = static_cast<double>(std::numeric_limits<T>::max());
  const double next = std::nextafter(std::numeric_limits<float>::max(), INFINITY);
  const Kokkos::View<T**, Right, Exec> x("x", 5, 7), y("y", 5, 7);
  EXPECT_NO_THROW(softmax(Exec{}, x, y, {.scale = -largest}));
  if (sizeof(T) == 4) {
    EXPECT_NO_THROW(softmax(Exec{}, x, y, {.scale = 3.40282356e38}));
    EXPECT_TRUE(
        throws_with({"scale", "finite"}, [&] { softmax(Exec{}, x, y, {.scale = 3.40282357e38}); }));
  }
  EXPECT_TRUE(throws_with({"scale", "finite"}, [&] { softmax(Exec{}, x, y, {.scale = next}); }));
  Exec{}.fence();
}

TYPED_TEST(Errors, ScaleNotFinite) {
  for (const Function function : all_functions)
    for (const double scale : {double(INFINITY), -double(INFINITY), double(NAN)})
      EXPECT_TRUE(TestFixture::call_throws(function, {5, 7}, TestFixture::output_extents(function),
                                           {.scale = scale},
                                           {full_name(function), "scale", "finite"}));
}

TYPED_TEST(Errors, ExtentsOfOutput) {
  for (const Function function : {Function::softmax, Function::log_softmax}) {
    const std::string name = full_name(function);
    const auto throws = &TestFixture::call_throws;
    EXPECT_TRUE(throws(function, {5, 7}, {5, 8}, {}, {name, "y", "(5, 8)", "x", "(5, 7)"}));
    EXPECT_TRUE(throws(function, {5, 7}, {7, 5}, {}, {name, "y", "(7, 5)", "x", "(5, 7)"}));
    EXPECT_TRUE(throws(function, {5, 7}, {0, 0}, {}, {name, "y", "(0, 0)", "x", "(5, 7)"}));
    EXPECT_TRUE(throws(function, {0, 7}, {5, 7}, {}, {name, "y", "(5, 7)", "x", "(0, 7)"}));
  }
}

TYPED_TEST(Errors, ExtentsOfLogSumExp) {
  const auto throws = &TestFixture::call_throws;
  const std::string name = full_name(Function::logsumexp);
  EXPECT_TRUE(throws(Function::logsumexp, {5, 7}, {7}, {}, {name, "lse", "(7)", "x", "(5, 7)"}));
  EXPECT_TRUE(throws(Function::logsumexp, {5, 7}, {5}, {.axis = 0},
                     {name, "lse", "(5)", "x", "(5, 7)", "axis"}));
}

template <class T, class Exec>
auto strided_matrix(const Field<T, Exec>& memory, std::size_t first, const Extents& strides) {
  return Kokkos::View<T**, Kokkos::LayoutStride, typename Field<T, Exec>::Device,
                      Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
      memory.data() + first, Kokkos::LayoutStride(5, strides[0], 5, strides[1]));
}

// Any overlap is an error, except if x and y are the same elements in the same order.
TYPED_TEST(Errors, Overlap) {
  using Exec = typename TypeParam::exec;
  const Field<typename TypeParam::value, Exec> memory(place_right({200}));
  const auto x = strided_matrix(memory, 50, {5, 1});
  const struct {
    const char* what;
    std::size_t first;
    Extents strides;
  } overlaps[] = {{"an element later", 51, {5, 1}},     {"an element earlier", 49, {5, 1}},
                  {"a row later", 55, {5, 1}},          {"the last element", 74, {5, 1}},
                  {"transposed", 50, {1, 5}},           {"other row stride", 50, {6, 1}},
                  {"every other element", 50, {10, 2}}, {"ends in x", 26, {5, 1}}};
  for (const auto& overlap : overlaps) {
    const auto y = strided_matrix(memory, overlap.first, overlap.strides);
    EXPECT_TRUE(throws_with({"KokkosSoftmax::softmax:", "x", "y", "overlap"}, [&] {
      softmax(Exec{}, x, y);
    })) << overlap.what;
    EXPECT_TRUE(throws_with({"KokkosSoftmax::log_softmax:", "overlap"}, [&] {
      log_softmax(Exec{}, x, y, {.axis = 0});
    })) << overlap.what;
  }
  Exec{}.fence();
  EXPECT_TRUE(memory.is_unchanged());
}

TYPED_TEST(Errors, LogSumExpInsideInput) {
  using Exec = typename TypeParam::exec;
  const Field<typename TypeParam::value, Exec> memory(place_right({5, 7}));
  const auto x = memory.template view<Kokkos::LayoutRight, 2>();
  for (const std::size_t column : {0, 3, 6}) {
    const auto lse = Kokkos::subview(x, Kokkos::ALL, column);
    EXPECT_TRUE(throws_with({"KokkosSoftmax::logsumexp:", "x", "lse", "overlap"},
                            [&] { logsumexp(Exec{}, x, lse); }));
  }
  Exec{}.fence();
  EXPECT_TRUE(memory.is_unchanged());
}

/// Makes a View of any extents and strides.
template <class Value, class Exec, class... Numbers>
auto strided_view(Value* data, const Numbers&... extents_and_strides) {
  return Kokkos::View<typename Impl::DataType<Value, sizeof...(Numbers) / 2>::type,
                      Kokkos::LayoutStride,
                      typename Field<std::remove_const_t<Value>, Exec>::Device,
                      Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
      data, Kokkos::LayoutStride(extents_and_strides...));
}

constexpr std::size_t backwards(std::size_t stride) { return std::size_t(0) - stride; }

// Kokkos' strides have the type size_t, so only a cast makes a negative stride.
TYPED_TEST(Errors, NegativeStrides) {
  using Exec = typename TypeParam::exec;
  const Field<typename TypeParam::value, Exec> memory(place_right({200}));
  const auto matrix = [&](std::size_t first, std::size_t row, std::size_t column) {
    return strided_matrix(memory, first, {row, column});
  };
  const auto right = matrix(0, 5, 1);
  const struct {
    std::size_t first, row, column;
    const char* stride;
  } reversed[] = {{120, backwards(5), 1, "stride 0 of"}, {104, 5, backwards(1), "stride 1 of"}};
  for (const auto& [first, row, column, stride] : reversed) {
    const auto view = matrix(first, row, column);
    for (const int axis : {0, 1}) {
      const Options options{.axis = axis};
      EXPECT_TRUE(throws_with({"KokkosSoftmax::softmax:", stride, " x ", "negative"},
                              [&] { softmax(Exec{}, view, right, options); }));
      EXPECT_TRUE(throws_with({"KokkosSoftmax::log_softmax:", stride, " y ", "negative"},
                              [&] { log_softmax(Exec{}, right, view, options); }));
      EXPECT_TRUE(throws_with({"KokkosSoftmax::softmax:", stride, "negative"},
                              [&] { softmax(Exec{}, view, view, options); }));
      EXPECT_TRUE(throws_with({"KokkosSoftmax::softmax:", stride, "negative"},
                              [&] { plan_softmax(Exec{}, view, right, options); }));
    }
  }
  const auto lse =
      strided_view<typename TypeParam::value, Exec>(memory.data() + 104, 5, backwards(1));
  EXPECT_TRUE(throws_with({"KokkosSoftmax::logsumexp:", "stride 0 of lse", "negative"},
                          [&] { logsumexp(Exec{}, right, lse); }));
  Exec{}.fence();
  EXPECT_TRUE(memory.is_unchanged());
}

// A stride along an axis of extent 1 or 0 is not used to find an element.
TYPED_TEST(Errors, NegativeStridesOfOneElementAreServed) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Field<T, Exec> x(place_right({1, 7})), y(place_right({1, 7}));
  const auto row = [](const Field<T, Exec>& field, std::size_t rows) {
    return strided_view<T, Exec>(field.data(), rows, backwards(7), 7, 1);
  };
  EXPECT_NO_THROW(softmax(Exec{}, row(x, 1), row(y, 1)));
  EXPECT_NO_THROW(softmax(Exec{}, row(x, 0), row(y, 0)));
  Exec{}.fence();
}

constexpr std::size_t two_to_the(int n) { return std::size_t(1) << n; }

// With strides of 0, a View of a few elements can have extents whose product overflows.
TYPED_TEST(Errors, MoreElementsThanCanBeCounted) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Field<T, Exec> memory(place_right({200}));
  const struct {
    std::size_t extent[3];
    std::string text;
  } cases[] = {
      {{two_to_the(32), two_to_the(32), 3}, "(4294967296, 4294967296, 3)"},
      {{two_to_the(32), 3, two_to_the(32)}, "(4294967296, 3, 4294967296)"},
      {{two_to_the(63), 2, 1}, "(9223372036854775807, 2, 1)"},
      {{1, 1, two_to_the(62)}, "(1, 1, 4611686018427387904)"},
  };
  for (const auto& [extent, text] : cases) {
    const auto x =
        strided_view<const T, Exec>(memory.data(), extent[0], 0, extent[1], 0, extent[2], 0);
    if (x.extent(0) != extent[0] || x.extent(1) != extent[1] || x.extent(2) != extent[2])
      GTEST_SKIP() << "the extents of this Kokkos' Views have 32 bits";
    const auto y =
        strided_view<T, Exec>(memory.data() + 100, extent[0], 0, extent[1], 0, extent[2], 0);
    const auto lse = strided_view<T, Exec>(memory.data() + 100, extent[0], 0, extent[1], 0);
    EXPECT_TRUE(throws_with({"KokkosSoftmax::softmax: the extents " + text + " of x", "elements"},
                            [&] { softmax(Exec{}, x, y); }));
    EXPECT_TRUE(throws_with({"KokkosSoftmax::logsumexp: the extents " + text + " of x"},
                            [&] { logsumexp(Exec{}, x, lse); }));
    EXPECT_TRUE(throws_with({"KokkosSoftmax::log_softmax: the extents " + text},
                            [&] { plan_log_softmax(Exec{}, x, y, {.axis = 0}); }));
  }
  Exec{}.fence();
  EXPECT_TRUE(memory.is_unchanged());
}

// The last element would be outside the range of addresses.
TYPED_TEST(Errors, StridesTooLarge) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Field<T, Exec> memory(place_right({200}));
  const auto matrix = [&](std::size_t first, std::size_t row, std::size_t column) {
    return strided_view<T, Exec>(memory.data() + first, 4, row, 5, column);
  };
  const auto right = matrix(0, 5, 1);
  for (const std::size_t stride : {two_to_the(60), two_to_the(62), two_to_the(63) - 1}) {
    EXPECT_TRUE(throws_with({"KokkosSoftmax::softmax:", "strides", " of x", std::to_string(stride)},
                            [&] { softmax(Exec{}, matrix(100, stride, 1), right); }));
    EXPECT_TRUE(throws_with({"KokkosSoftmax::softmax:", "strides", " of y", std::to_string(stride)},
                            [&] { softmax(Exec{}, right, matrix(100, 1, stride)); }));
  }
  Exec{}.fence();
  EXPECT_TRUE(memory.is_unchanged());
}

// A View without elements is valid regardless of its other extents.
TYPED_TEST(Errors, LargeExtentsBesideNone) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Field<T, Exec> memory(place_right({200}));
  const std::size_t large = two_to_the(40);
  const auto tensor = [&](std::size_t a, std::size_t b, std::size_t c) {
    return strided_view<T, Exec>(memory.data(), a, large, b, large, c, 1);
  };
  for (const auto& view :
       {tensor(0, large, large), tensor(large, 0, large), tensor(large, large, 0)})
    for (const int axis : {0, 1, 2}) {
      EXPECT_NO_THROW(softmax(Exec{}, view, view, {.axis = axis}));
      EXPECT_NO_THROW(plan_softmax(Exec{}, view, view, {.axis = axis}).describe());
    }
  const auto lse = strided_view<T, Exec>(memory.data(), large, large, large, 1);
  EXPECT_TRUE(throws_with({"KokkosSoftmax::logsumexp:", "of lse"},
                          [&] { logsumexp(Exec{}, tensor(large, large, 0), lse); }));
  Exec{}.fence();
  EXPECT_TRUE(memory.is_unchanged());
}

TYPED_TEST(Errors, AlgorithmThatCannotServe) {
  using Exec = typename TypeParam::exec;
  std::vector<Algorithm> too_small = {Algorithm::subgroup, Algorithm::fused_registers,
                                      Algorithm::fused_scratch};
  if (!is_host_space<Exec>) too_small.push_back(Algorithm::host);
  for (const Algorithm algorithm : too_small)
    for (const Function function : all_functions) {
      // for logsumexp, fused_scratch does not need to keep the row and serves any width
      if (function == Function::logsumexp && algorithm == Algorithm::fused_scratch) continue;
      const Extents y = function == Function::logsumexp ? Extents{1} : Extents{1, 1000000};
      EXPECT_TRUE(TestFixture::call_throws(
          function, {1, 1000000}, y, {.algorithm = algorithm},
          {full_name(function), "algorithm", std::string(to_string(algorithm)), "1000000"}));
    }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
