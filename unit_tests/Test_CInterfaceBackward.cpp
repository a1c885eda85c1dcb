// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests kokkossoftmax_backward: results, and errors, which give a status and a message and write
// nothing.

#include <limits>
#include <support/Backward.hpp>
#include <support/CInterface.hpp>
#include <support/Recorder.hpp>

namespace KokkosSoftmax::Test {
namespace {

int operation_of(BackwardFunction function) {
  return function == BackwardFunction::softmax_backward ? KOKKOSSOFTMAX_SOFTMAX
                                                        : KOKKOSSOFTMAX_LOG_SOFTMAX;
}

template <class C>
class CBackward : public ::testing::Test {
 protected:
  using T = typename C::value;
  using X = typename C::x_value;
  using Exec = typename C::exec;
  static constexpr int space = space_of<Exec>;

  /// Calls the function on tensors with the given placements, and checks the result.
  static ::testing::AssertionResult check(BackwardFunction function, const Extents& extents,
                                          const Options& options, const Placement& y_place,
                                          const Placement& dy_place, const Placement& dx_place) {
    const int axis = options.axis;
    const std::size_t columns = extents[axis_index(extents, axis)];
    const auto sample = backward_sample<X>(function, product(extents) / columns, columns);
    Field<X, Exec> y(y_place), dy(dy_place), dx(dx_place);
    y.assign(rows_to_tensor(sample.y.values, extents, axis));
    dy.assign(rows_to_tensor(sample.dy.values, extents, axis));
    const Tensor<X> ty(y.data(), y_place), tdy(dy.data(), dy_place), tdx(dx.data(), dx_place);
    const auto c = c_options(options);
    const auto result = succeeds(
        kokkossoftmax_backward(operation_of(function), space, nullptr, &ty.c, &tdy.c, &tdx.c, &c));
    if (!result) return result;
    if (const auto fenced = succeeds(kokkossoftmax_fence(space, nullptr)); !fenced) return fenced;
    auto right = are_near<X>(tensor_to_rows(dx.template read<T>(), extents, axis),
                             reference_backward(function, sample.y, sample.dy, options.scale));
    right = both(right, dx.gaps_are_unchanged(), "something beside dx's elements was written");
    return both(right, y.is_unchanged() && dy.is_unchanged(), "an input was written");
  }

  /// Memory and tensors of a call on a 5 x 7 matrix that must fail.
  struct Call {
    Field<X, Exec> y_field{place_right({5, 7})}, dy_field{place_right({5, 7})},
        dx_field{place_right({5, 7})};
    Tensor<X> y{y_field.data(), place_right({5, 7})}, dy{dy_field.data(), place_right({5, 7})},
        dx{dx_field.data(), place_right({5, 7})};
    kokkossoftmax_options options = c_options({});

    ::testing::AssertionResult fails(int status, std::initializer_list<std::string> parts,
                                     int operation = KOKKOSSOFTMAX_SOFTMAX, int in_space = space) {
      const auto result = fails_with(
          status, parts,
          kokkossoftmax_backward(operation, in_space, nullptr, &y.c, &dy.c, &dx.c, &options));
      Exec{}.fence();
      return both(result,
                  y_field.is_unchanged() && dy_field.is_unchanged() && dx_field.is_unchanged(),
                  "memory was written");
    }
  };

  /// Changes a call that is right, and checks that it fails.
  template <class Change>
  static ::testing::AssertionResult is_invalid(const Change& change,
                                               std::initializer_list<std::string> parts,
                                               int operation = KOKKOSSOFTMAX_SOFTMAX) {
    Call call;
    change(call);
    return call.fails(KOKKOSSOFTMAX_INVALID_ARGUMENT, parts, operation);
  }
};

#ifdef KOKKOSSOFTMAX_TEST_HALF_TYPES
using CBackwardConfigs =
    Concatenated<OverSpaces<DefaultSpaces>::values,
                 decltype(half_configs<Kokkos::LayoutRight>(DefaultSpaces{}))>::type::types;
#else
using CBackwardConfigs = OverSpaces<DefaultSpaces>::values::types;
#endif
TYPED_TEST_SUITE(CBackward, decltype(of_same_types(CBackwardConfigs{}))::types, ConfigName);

TYPED_TEST(CBackward, ContiguousAndStrided) {
  for (const auto function : backward_functions)
    for (const Extents& extents : {Extents{33}, Extents{5, 1025}, Extents{3, 7, 5, 29}})
      for (int axis = 0; axis < static_cast<int>(extents.size()); ++axis) {
        const Options options{.axis = axis, .scale = 0.25};
        const auto right = place_right(extents), left = place_left(extents),
                   strided = place_strided(extents);
        EXPECT_TRUE(TestFixture::check(function, extents, options, right, right, right));
        EXPECT_TRUE(TestFixture::check(function, extents, options, strided, left, right));
        EXPECT_TRUE(TestFixture::check(function, extents, options, left, right, strided));
      }
}

TYPED_TEST(CBackward, Options) {
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  constexpr Algorithm algorithm = is_host_space<Exec> ? Algorithm::host : Algorithm::online;
  const Extents extents{129, 3};
  const Options options{.axis = -2,
                        .scale = -3,
                        .empty_rows = EmptyRows::zero,
                        .algorithm = algorithm,
                        .reproducible = true};
  for (const auto function : backward_functions) {
    EXPECT_TRUE(TestFixture::check(function, extents, options, place_right(extents),
                                   place_right(extents), place_right(extents)));
    Field<X, Exec> y(place_right(extents));
    const Tensor<X> ty(y.data(), place_right(extents));
    const auto c = c_options(options);
    const Events events = record([&] {
      EXPECT_TRUE(succeeds(kokkossoftmax_backward(operation_of(function), TestFixture::space,
                                                  nullptr, &ty.c, &ty.c, &ty.c, &c)));
    });
    Exec{}.fence();
    ASSERT_EQ(events.kernels.size(), 1u);
    EXPECT_EQ(events.kernels[0].label, std::string("KokkosSoftmax::") + to_string(function) + "[" +
                                           std::string(to_string(algorithm)) + "]");
    EXPECT_EQ(events.fences, std::vector<std::string>{});
  }
}

// dx is y or dy, without options and without strides.
TYPED_TEST(CBackward, InPlaceWithDefaults) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Extents extents{4, 3, 65};
  for (const auto function : backward_functions)
    for (const bool in_dy : {false, true}) {
      const auto sample = backward_sample<X>(function, 12, 65);
      Field<X, Exec> y(place_right(extents)), dy(place_right(extents));
      y.assign(sample.y.values);
      dy.assign(sample.dy.values);
      Tensor<X> ty(y.data(), place_right(extents)), tdy(dy.data(), place_right(extents));
      ty.c.strides = tdy.c.strides = nullptr;
      EXPECT_TRUE(
          succeeds(kokkossoftmax_backward(operation_of(function), TestFixture::space, nullptr,
                                          &ty.c, &tdy.c, in_dy ? &tdy.c : &ty.c, nullptr)));
      EXPECT_TRUE(succeeds(kokkossoftmax_fence(TestFixture::space, nullptr)));
      EXPECT_TRUE(are_near<X>((in_dy ? dy : y).template read<T>(),
                              reference_backward(function, sample.y, sample.dy)));
      EXPECT_TRUE((in_dy ? y : dy).is_unchanged());
    }
}

TYPED_TEST(CBackward, EmptyTensors) {
  using X = typename TypeParam::x_value;
  const Tensor<X> no_rows(nullptr, place_right({0, 7})), no_columns(nullptr, place_right({5, 0}));
  for (const auto* tensor : {&no_rows.c, &no_columns.c})
    for (const auto function : backward_functions)
      EXPECT_TRUE(succeeds(kokkossoftmax_backward(operation_of(function), TestFixture::space,
                                                  nullptr, tensor, tensor, tensor, nullptr)));
}

// Arguments that are checked for Views as well give the same messages.
TYPED_TEST(CBackward, SharedErrors) {
  constexpr int log_softmax = KOKKOSSOFTMAX_LOG_SOFTMAX;
  const std::int64_t narrow[] = {5, 6};
  EXPECT_TRUE(
      TestFixture::is_invalid([](auto& c) { c.options.axis = 2; },
                              {"KokkosSoftmax::softmax_backward: axis = 2", "y has rank 2"}));
  EXPECT_TRUE(TestFixture::is_invalid(
      [](auto& c) { c.options.scale = std::numeric_limits<double>::infinity(); },
      {"KokkosSoftmax::log_softmax_backward: scale", "finite"}, log_softmax));
  EXPECT_TRUE(TestFixture::is_invalid([&](auto& c) { c.dy.c.extents = narrow; },
                                      {"softmax_backward: the extents (5, 6) of dy", "y (5, 7)"}));
  EXPECT_TRUE(TestFixture::is_invalid(
      [&](auto& c) { c.dx.c.rank = 1; },
      {"log_softmax_backward: the extents (5) of dx", "log_y (5, 7)"}, log_softmax));
  EXPECT_TRUE(TestFixture::is_invalid([](auto& c) { c.dx.c.data = c.y_field.data() + 1; },
                                      {"softmax_backward: y at", "and dx at", "overlap"}));
  EXPECT_TRUE(TestFixture::is_invalid([](auto& c) { c.dx.c.data = c.dy_field.data() + 1; },
                                      {"softmax_backward: dy at", "and dx at", "overlap"}));
  EXPECT_TRUE(
      TestFixture::is_invalid([](auto& c) { c.options.algorithm = KOKKOSSOFTMAX_ALGORITHM_PACKED; },
                              {"softmax_backward: algorithm = packed"}));
}

TYPED_TEST(CBackward, TensorErrors) {
  const std::int64_t negative[] = {-1, 7}, backwards[] = {7, -1}, broadcast[] = {0, 1};
  constexpr int log_softmax = KOKKOSSOFTMAX_LOG_SOFTMAX;
  EXPECT_TRUE(TestFixture::is_invalid([](auto& c) { c.y.c.data = nullptr; },
                                      {"softmax_backward: y.data is NULL"}));
  EXPECT_TRUE(TestFixture::is_invalid([](auto& c) { c.y.c.data = nullptr; },
                                      {"log_softmax_backward: log_y.data is NULL"}, log_softmax));
  EXPECT_TRUE(TestFixture::is_invalid([](auto& c) { c.dy.c.extents = nullptr; },
                                      {"softmax_backward: dy.extents is NULL"}));
  EXPECT_TRUE(TestFixture::is_invalid([](auto& c) { c.dx.c.rank = 0; },
                                      {"softmax_backward: dx has rank 0", "1 to 8"}));
  EXPECT_TRUE(
      TestFixture::is_invalid([&](auto& c) { c.dy.c.extents = negative; }, {"dy.extents[0] = -1"}));
  EXPECT_TRUE(TestFixture::is_invalid([&](auto& c) { c.dy.c.strides = backwards; },
                                      {"dy.strides[1] = -1"}));
  EXPECT_TRUE(
      TestFixture::is_invalid([&](auto& c) { c.dx.c.strides = broadcast; }, {"dx.strides[0] = 0"}));
  for (const auto member : {&TestFixture::Call::y, &TestFixture::Call::dy, &TestFixture::Call::dx})
    EXPECT_TRUE(TestFixture::is_invalid(
        [&](auto& c) {
          auto& data = (c.*member).c.data;
          data = static_cast<char*>(data) + 1;
        },
        {"multiple of " + std::to_string(sizeof(typename TypeParam::x_value))}));
  EXPECT_TRUE(TestFixture::is_invalid([](auto& c) { c.options.size = 8; },
                                      {"softmax_backward: options.size = 8"}));
  EXPECT_TRUE(TestFixture::is_invalid([](auto& c) { c.options.empty_rows = 2; },
                                      {"softmax_backward: options.empty_rows = 2"}));
}

// dy can have strides of 0.
TYPED_TEST(CBackward, BroadcastInput) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Extents extents{5, 65};
  const std::int64_t strides[] = {0, 1};
  for (const auto function : backward_functions) {
    auto sample = backward_sample<X>(function, 5, 65);
    Field<X, Exec> y(place_right(extents)), dy(place_right({65})), dx(place_right(extents));
    sample.dy.values.resize(65);
    y.assign(sample.y.values);
    dy.assign(sample.dy.values);
    for (int row = 1; row < 5; ++row)
      sample.dy.values.insert(sample.dy.values.end(), sample.dy.values.begin(),
                              sample.dy.values.begin() + 65);
    const Tensor<X> ty(y.data(), place_right(extents)), tdx(dx.data(), place_right(extents));
    kokkossoftmax_tensor tdy = ty.c;
    tdy.data = dy.data();
    tdy.strides = strides;
    EXPECT_TRUE(succeeds(kokkossoftmax_backward(operation_of(function), TestFixture::space, nullptr,
                                                &ty.c, &tdy, &tdx.c, nullptr)));
    EXPECT_TRUE(succeeds(kokkossoftmax_fence(TestFixture::space, nullptr)));
    EXPECT_TRUE(
        are_near<X>(dx.template read<T>(), reference_backward(function, sample.y, sample.dy)));
  }
}

// All tensors have one type, for which there are kernels.
TYPED_TEST(CBackward, TypesWithoutKernels) {
  constexpr int type = type_of<typename TypeParam::x_value>;
  constexpr int other = type == KOKKOSSOFTMAX_FLOAT ? KOKKOSSOFTMAX_DOUBLE : KOKKOSSOFTMAX_FLOAT;
  constexpr int unsupported = KOKKOSSOFTMAX_UNSUPPORTED;
  for (const auto member :
       {&TestFixture::Call::y, &TestFixture::Call::dy, &TestFixture::Call::dx}) {
    typename TestFixture::Call call;
    (call.*member).c.type = other;
    EXPECT_TRUE(call.fails(unsupported, {"KokkosSoftmax::softmax_backward: y of type = ",
                                         "dy of type = ", "dx of type = ", "float"}));
  }
  for (const int unknown : {int(KOKKOSSOFTMAX_BOOL), int(KOKKOSSOFTMAX_INT32), 99, -1}) {
    typename TestFixture::Call call;
    call.y.c.type = call.dy.c.type = call.dx.c.type = unknown;
    EXPECT_TRUE(call.fails(
        unsupported,
        {"KokkosSoftmax::log_softmax_backward: log_y of type = " + std::to_string(unknown),
         "dx of type = " + std::to_string(unknown), "float"},
        KOKKOSSOFTMAX_LOG_SOFTMAX));
  }
#if KOKKOS_HALF_T_IS_FLOAT
  typename TestFixture::Call call;
  call.y.c.type = call.dy.c.type = call.dx.c.type = KOKKOSSOFTMAX_HALF;
  EXPECT_TRUE(call.fails(unsupported, {"half", "arrays that are all of", "float"}));
#endif
}

TYPED_TEST(CBackward, NullAndUnknownArguments) {
  constexpr int invalid = KOKKOSSOFTMAX_INVALID_ARGUMENT;
  typename TestFixture::Call call;
  const auto *y = &call.y.c, *dy = &call.dy.c, *dx = &call.dx.c;
  const auto backward = [](auto... tensors) {
    return kokkossoftmax_backward(KOKKOSSOFTMAX_LOG_SOFTMAX, TestFixture::space, nullptr,
                                  tensors..., nullptr);
  };
  EXPECT_TRUE(fails_with(invalid, {"log_y is NULL"}, backward(nullptr, dy, dx)));
  EXPECT_TRUE(fails_with(invalid, {"dy is NULL"}, backward(y, nullptr, dx)));
  EXPECT_TRUE(fails_with(invalid, {"dx is NULL"}, backward(y, dy, nullptr)));
  for (const int operation : {int(KOKKOSSOFTMAX_LOGSUMEXP), -1, 3})
    EXPECT_TRUE(call.fails(invalid,
                           {"kokkossoftmax_backward: operation = " + std::to_string(operation),
                            "KOKKOSSOFTMAX_SOFTMAX or KOKKOSSOFTMAX_LOG_SOFTMAX"},
                           operation));
  EXPECT_TRUE(call.fails(invalid, {"kokkossoftmax_backward: space = 2"}, KOKKOSSOFTMAX_SOFTMAX, 2));
}

}  // namespace
}  // namespace KokkosSoftmax::Test
