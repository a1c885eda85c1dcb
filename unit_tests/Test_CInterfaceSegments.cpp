// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests kokkossoftmax_segment_apply, kokkossoftmax_segment_backward and
// kokkossoftmax_segment_logsumexp_backward: results, which have the bits of the functions of C++,
// and errors, which give a status and a message and write nothing.

#include <KokkosSoftmax_Segments.hpp>
#include <limits>
#include <numeric>
#include <random>
#include <support/CInterface.hpp>
#include <support/OnDevice.hpp>
#include <support/RaggedRows.hpp>
#include <support/Recorder.hpp>

namespace KokkosSoftmax::Test {
namespace {

/// The calls of the three functions.
using SegmentCall = KokkosSoftmax::Impl::RaggedOperation;
const std::vector<SegmentCall> segment_calls = {SegmentCall::softmax,
                                                SegmentCall::log_softmax,
                                                SegmentCall::logsumexp,
                                                SegmentCall::softmax_backward,
                                                SegmentCall::log_softmax_backward,
                                                SegmentCall::logsumexp_backward};

template <class C>
class CSegments : public ::testing::Test {
 protected:
  using T = typename C::value;
  using X = typename C::x_value;
  using Y = typename C::y_value;
  using Exec = typename C::exec;
  static constexpr int space = space_of<Exec>;

  static Placement vector(std::size_t extent) { return place<Kokkos::LayoutRight>({extent}, 1); }

  /// The arguments of all calls: memory, tensors and options.
  template <class Offset = std::int32_t>
  struct Call {
    explicit Call(const std::vector<std::size_t>& lengths)
        : rows(lengths.size()),
          entries(std::accumulate(lengths.begin(), lengths.end(), before + after)) {
      std::vector<Offset> offsets{static_cast<Offset>(before)};
      for (const std::size_t length : lengths)
        offsets.push_back(offsets.back() + static_cast<Offset>(length));
      offset_field.assign(offsets);
      x_field.assign(normal(entries, 3));
      second_field.assign(normal(entries, 1));
      lse_field.assign(normal(rows, 1));
      dlse_field.assign(normal(rows, 1));
    }

    int call(SegmentCall function, int in_space = space) const {
      switch (function) {
        case SegmentCall::softmax:
        case SegmentCall::log_softmax:
          return kokkossoftmax_segment_apply(
              function == SegmentCall::softmax ? KOKKOSSOFTMAX_SOFTMAX : KOKKOSSOFTMAX_LOG_SOFTMAX,
              in_space, nullptr, &x.c, &offsets.c, &y.c, options);
        case SegmentCall::logsumexp:
          return kokkossoftmax_segment_apply(KOKKOSSOFTMAX_LOGSUMEXP, in_space, nullptr, &x.c,
                                             &offsets.c, &lse.c, options);
        case SegmentCall::softmax_backward:
        case SegmentCall::log_softmax_backward:
          return kokkossoftmax_segment_backward(
              function == SegmentCall::softmax_backward ? KOKKOSSOFTMAX_SOFTMAX
                                                        : KOKKOSSOFTMAX_LOG_SOFTMAX,
              in_space, nullptr, &x.c, &second.c, &offsets.c, &dx.c, options);
        case SegmentCall::logsumexp_backward:
          return kokkossoftmax_segment_logsumexp_backward(in_space, nullptr, &x.c, &lse.c, &dlse.c,
                                                          &offsets.c, &dx.c, options);
      }
      return -1;
    }

    /// Calls the function of C++ with the same arguments.
    void call_cpp(SegmentCall function, const SegmentOptions& cpp) const {
      const Exec exec;
      const auto x_view = in_view(x_field), second_view = in_view(second_field);
      const auto of_rows = in_view(offset_field);
      if (function == SegmentCall::softmax)
        segment_softmax(exec, x_view, of_rows, out_view(y_field), cpp);
      if (function == SegmentCall::log_softmax)
        segment_log_softmax(exec, x_view, of_rows, out_view(y_field), cpp);
      if (function == SegmentCall::logsumexp)
        segment_logsumexp(exec, x_view, of_rows, out_view(lse_field), cpp);
      if (function == SegmentCall::softmax_backward)
        segment_softmax_backward(exec, x_view, second_view, of_rows, out_view(dx_field), cpp);
      if (function == SegmentCall::log_softmax_backward)
        segment_log_softmax_backward(exec, x_view, second_view, of_rows, out_view(dx_field), cpp);
      if (function == SegmentCall::logsumexp_backward)
        segment_logsumexp_backward(exec, x_view, in_view(lse_field), in_view(dlse_field), of_rows,
                                   out_view(dx_field), cpp);
      exec.fence();
    }

    /// The result of a call, after it has been made by `make`.
    template <class Make>
    std::vector<double> result_of(SegmentCall function, const Make& make) {
      y_field.assign_poison();
      dx_field.assign_poison();
      if (function == SegmentCall::logsumexp) lse_field.assign_poison();
      make();
      EXPECT_TRUE(x_field.is_unchanged() && second_field.is_unchanged() &&
                  offset_field.is_unchanged() && dlse_field.is_unchanged());
      EXPECT_TRUE(y_field.gaps_are_unchanged() && dx_field.gaps_are_unchanged() &&
                  lse_field.gaps_are_unchanged());
      if (function == SegmentCall::logsumexp) return lse_field.template read<double>();
      return function <= SegmentCall::log_softmax ? y_field.template read<double>()
                                                  : dx_field.template read<double>();
    }

    ::testing::AssertionResult is_as_cpp(SegmentCall function, const SegmentOptions& cpp) {
      kokkossoftmax_options c = c_options({.scale = cpp.scale, .empty_rows = cpp.empty_rows});
      options = &c;
      const auto got = result_of(function, [&] {
        EXPECT_TRUE(succeeds(call(function)));
        EXPECT_TRUE(succeeds(kokkossoftmax_fence(space, nullptr)));
      });
      options = nullptr;
      const auto expected = result_of(function, [&] { call_cpp(function, cpp); });
      if (!same_bits_except_nan(got, expected))
        return ::testing::AssertionFailure() << "the results aren't those of C++";
      return ::testing::AssertionSuccess();
    }

    ::testing::AssertionResult fails(SegmentCall function, int status,
                                     std::initializer_list<std::string> parts,
                                     int in_space = space) {
      const auto result = fails_with(status, parts, call(function, in_space));
      Exec{}.fence();
      return both(result, is_unchanged(), "memory was written");
    }
    bool is_unchanged() const {
      return x_field.is_unchanged() && second_field.is_unchanged() && y_field.is_unchanged() &&
             dx_field.is_unchanged() && lse_field.is_unchanged() && dlse_field.is_unchanged() &&
             offset_field.is_unchanged();
    }

    std::size_t rows, entries;
    Field<X, Exec> x_field{vector(entries)}, second_field{vector(entries)},
        dx_field{vector(entries)};
    Field<Y, Exec> y_field{vector(entries)};
    Field<T, Exec> lse_field{vector(rows)}, dlse_field{vector(rows)};
    Field<Offset, Exec> offset_field{vector(rows + 1)};
    Tensor<X> x{x_field.data(), vector(entries)}, second{second_field.data(), vector(entries)},
        dx{dx_field.data(), vector(entries)};
    Tensor<Y> y{y_field.data(), vector(entries)};
    Tensor<T> lse{lse_field.data(), vector(rows)}, dlse{dlse_field.data(), vector(rows)};
    Tensor<Offset> offsets{offset_field.data(), vector(rows + 1)};
    const kokkossoftmax_options* options = nullptr;

   private:
    static constexpr std::size_t before = 3, after = 2;  // entries that belong to no row

    template <class V>
    static auto in_view(const Field<V, Exec>& field) {
      return field.template view<Kokkos::LayoutRight, 1, const V>();
    }
    template <class V>
    static auto out_view(const Field<V, Exec>& field) {
      return field.template view<Kokkos::LayoutRight, 1>();
    }
    static std::vector<T> normal(std::size_t count, double deviation) {
      std::mt19937_64 generator(count);
      std::normal_distribution<double> distribution(0, deviation);
      std::vector<T> values(count);
      for (T& value : values) value = static_cast<T>(static_cast<X>(distribution(generator)));
      return values;
    }
  };

  /// Changes calls that are right, and checks that they fail.
  template <class Change>
  static void are_invalid(const std::vector<SegmentCall>& functions, const Change& change,
                          std::initializer_list<std::string> parts) {
    for (const SegmentCall function : functions) {
      Call<> call({5, 0, 7});
      change(call);
      EXPECT_TRUE(call.fails(function, KOKKOSSOFTMAX_INVALID_ARGUMENT, parts))
          << static_cast<int>(function);
    }
  }
};

TYPED_TEST_SUITE(CSegments, OverSpaces<DefaultSpaces>::values::types, ConfigName);

TYPED_TEST(CSegments, ResultsOfCpp) {
  const std::vector<std::size_t> lengths = {5, 0, 300, 1, 1, 70000, 12, 9000, 3};
  typename TestFixture::template Call<std::int32_t> narrow(lengths);
  typename TestFixture::template Call<std::int64_t> wide(lengths);
  for (const SegmentCall function : segment_calls)
    for (const SegmentOptions& options :
         {SegmentOptions{}, SegmentOptions{.scale = -0.5, .empty_rows = EmptyRows::zero}}) {
      EXPECT_TRUE(narrow.is_as_cpp(function, options)) << static_cast<int>(function);
      EXPECT_TRUE(wide.is_as_cpp(function, options)) << static_cast<int>(function);
    }
}

TYPED_TEST(CSegments, EmptyRows) {
  using T = typename TypeParam::value;
  typename TestFixture::template Call<> call({2, 1});
  std::vector<T> entries(call.entries, -std::numeric_limits<T>::infinity());
  entries[5] = 0;  // the first entry of the second row
  call.x_field.assign(entries);
  for (const auto empty_rows : {EmptyRows::nan, EmptyRows::zero})
    for (const SegmentCall function : {SegmentCall::softmax, SegmentCall::log_softmax})
      EXPECT_TRUE(call.is_as_cpp(function, {.empty_rows = empty_rows}));
  EXPECT_TRUE(call.is_as_cpp(SegmentCall::softmax, {.empty_rows = EmptyRows::zero}));
  EXPECT_EQ(call.y_field.template read<T>()[3], 0);
  EXPECT_NEAR(call.y_field.template read<T>()[5], 1, std::numeric_limits<T>::epsilon());
}

// Without rows, without entries, and without options and strides.
TYPED_TEST(CSegments, NoRowsAndDefaults) {
  using T = typename TypeParam::value;
  for (const std::vector<std::size_t>& lengths : {std::vector<std::size_t>{}, {0, 0}}) {
    typename TestFixture::template Call<> call(lengths);
    for (const SegmentCall function : segment_calls) {
      EXPECT_TRUE(call.is_as_cpp(function, {}));
      EXPECT_TRUE(succeeds(call.call(function)));
    }
    EXPECT_TRUE(succeeds(kokkossoftmax_fence(TestFixture::space, nullptr)));
    for (const T lse : call.lse_field.read()) EXPECT_EQ(lse, -std::numeric_limits<T>::infinity());
  }
  typename TestFixture::template Call<> call({40, 3});
  for (auto* tensor : {&call.x.c, &call.offsets.c, &call.y.c}) tensor->strides = nullptr;
  EXPECT_TRUE(call.is_as_cpp(SegmentCall::softmax, {}));
}

// y is x.
TYPED_TEST(CSegments, InPlace) {
  if constexpr (!std::is_same_v<typename TypeParam::x_value, typename TypeParam::y_value>) {
    GTEST_SKIP() << "x and y have different types";
  } else {
    using T = typename TypeParam::value;
    typename TestFixture::template Call<> call({40, 3000, 3});
    const auto expected =
        call.result_of(SegmentCall::softmax, [&] { call.call_cpp(SegmentCall::softmax, {}); });
    call.y.c = call.x.c;
    EXPECT_TRUE(succeeds(call.call(SegmentCall::softmax)));
    EXPECT_TRUE(succeeds(kokkossoftmax_fence(TestFixture::space, nullptr)));
    const auto got = call.x_field.template read<T>();
    for (std::size_t i = 3; i < got.size() - 2; ++i) EXPECT_EQ(got[i], static_cast<T>(expected[i]));
  }
}

TYPED_TEST(CSegments, LabelsOfKernels) {
  typename TestFixture::template Call<> call({129, 3});
  for (const SegmentCall function : segment_calls) {
    EXPECT_TRUE(succeeds(call.call(function)));  // allocates memory
    const Events events = record([&] { EXPECT_TRUE(succeeds(call.call(function))); });
    EXPECT_EQ(events.fences, std::vector<std::string>{});
    ASSERT_FALSE(events.kernels.empty());
    for (const auto& kernel : events.kernels)
      EXPECT_EQ(kernel.label.find(std::string("KokkosSoftmax::") + to_string(function) + "["), 0u)
          << kernel.label;
  }
  EXPECT_TRUE(succeeds(kokkossoftmax_fence(TestFixture::space, nullptr)));
}

// Arguments that are checked for Views as well give the same messages.
TYPED_TEST(CSegments, SharedErrors) {
  const std::vector<SegmentCall> with_y = {SegmentCall::softmax, SegmentCall::log_softmax};
  const std::int64_t two[] = {2}, none[] = {0};
  kokkossoftmax_options infinite = c_options({});
  infinite.scale = std::numeric_limits<double>::infinity();
  TestFixture::are_invalid(segment_calls, [&](auto& c) { c.options = &infinite; },
                           {"scale", "finite"});
  TestFixture::are_invalid(segment_calls, [&](auto& c) { c.x.c.strides = two; },
                           {"KokkosSoftmax::segment_", "the stride of ", " is 2", "contiguous"});
  TestFixture::are_invalid(segment_calls, [&](auto& c) { c.offsets.c.strides = two; },
                           {"the stride of offsets is 2"});
  TestFixture::are_invalid(segment_calls, [&](auto& c) { c.offsets.c.extents = none; },
                           {"offsets has no elements"});
  TestFixture::are_invalid(with_y, [&](auto& c) { c.y.c.extents = two; },
                           {"the extent 2 of y isn't that of x, 17"});
  TestFixture::are_invalid(with_y,
                           [&](auto& c) { c.y.c.data = static_cast<char*>(c.x.c.data) + 8; },
                           {"x at ", " and y at ", "overlap"});
  TestFixture::are_invalid({SegmentCall::logsumexp, SegmentCall::logsumexp_backward},
                           [&](auto& c) { c.lse.c.extents = two; },
                           {"the extent 2 of lse isn't the number of rows, 3"});
  TestFixture::are_invalid({SegmentCall::softmax_backward, SegmentCall::log_softmax_backward,
                            SegmentCall::logsumexp_backward},
                           [&](auto& c) { c.dx.c.extents = two; }, {"the extent 2 of dx"});
  TestFixture::are_invalid({SegmentCall::logsumexp_backward},
                           [&](auto& c) { c.dx.c.data = c.lse.c.data; }, {"overlap"});
}

// Tensors can be wrong where Views can't.
TYPED_TEST(CSegments, ErrorsOfTensors) {
  const std::int64_t matrix[] = {1, 17}, strides[] = {17, 1};
  const auto make_matrix = [&](kokkossoftmax_tensor& tensor) {
    tensor.rank = 2;
    tensor.extents = matrix;
    tensor.strides = strides;
  };
  TestFixture::are_invalid(segment_calls, [&](auto& c) { make_matrix(c.x.c); },
                           {" is 2 (all rows lie in one vector", "rank 1"});
  TestFixture::are_invalid(segment_calls, [&](auto& c) { make_matrix(c.offsets.c); },
                           {"the rank of offsets is 2"});
  TestFixture::are_invalid({SegmentCall::softmax}, [&](auto& c) { make_matrix(c.y.c); },
                           {"the rank of y is 2"});
  TestFixture::are_invalid(segment_calls, [&](auto& c) { c.x.c.data = nullptr; },
                           {".data is NULL"});
  TestFixture::are_invalid(segment_calls, [&](auto& c) { c.offsets.c.data = nullptr; },
                           {"offsets.data is NULL"});
  TestFixture::are_invalid(segment_calls,
                           [&](auto& c) { c.x.c.data = static_cast<char*>(c.x.c.data) + 1; },
                           {"multiple of"});
  TestFixture::are_invalid(
      segment_calls, [&](auto& c) { c.offsets.c.data = static_cast<char*>(c.offsets.c.data) + 2; },
      {"offsets.data", "multiple of 4"});
  TestFixture::are_invalid({SegmentCall::softmax},
                           [&](auto& c) { c.y.c.data = static_cast<char*>(c.y.c.data) + 1; },
                           {"y.data"});
  TestFixture::are_invalid(segment_calls, [&](auto& c) { c.offsets.c.type = KOKKOSSOFTMAX_FLOAT; },
                           {"offsets has type = 0, float", "int32 or int64"});
}

TYPED_TEST(CSegments, Types) {
  using T = typename TypeParam::value;
  typename TestFixture::template Call<> call({5, 0, 7});
  call.x.c.type = KOKKOSSOFTMAX_INT32;
  for (const SegmentCall function : {SegmentCall::softmax, SegmentCall::log_softmax})
    EXPECT_TRUE(call.fails(function, KOKKOSSOFTMAX_UNSUPPORTED,
                           {"KokkosSoftmax::segment_", "x of type = 5, int32", "have no kernels"}));
  EXPECT_TRUE(call.fails(SegmentCall::logsumexp, KOKKOSSOFTMAX_UNSUPPORTED,
                         {"segment_logsumexp: x of type = 5, int32, has no kernels"}));
  EXPECT_TRUE(call.fails(SegmentCall::softmax_backward, KOKKOSSOFTMAX_UNSUPPORTED,
                         {": y of type = 5, int32"}));
  EXPECT_TRUE(call.fails(SegmentCall::log_softmax_backward, KOKKOSSOFTMAX_UNSUPPORTED,
                         {": log_y of type = 5, int32"}));
  EXPECT_TRUE(call.fails(SegmentCall::logsumexp_backward, KOKKOSSOFTMAX_UNSUPPORTED,
                         {": x of type = 5, int32"}));
  const int other = std::is_same_v<T, float> ? KOKKOSSOFTMAX_DOUBLE : KOKKOSSOFTMAX_FLOAT;
  TestFixture::are_invalid({SegmentCall::logsumexp, SegmentCall::logsumexp_backward},
                           [&](auto& c) { c.lse.c.type = other; }, {": lse has type"});
  TestFixture::are_invalid({SegmentCall::logsumexp_backward},
                           [&](auto& c) { c.dlse.c.type = other; }, {": dlse has type"});
}

TYPED_TEST(CSegments, Options) {
  const int axis = 0;
  const auto expect_invalid = [&](const auto& change, std::initializer_list<std::string> parts) {
    kokkossoftmax_options options = c_options({});
    change(options);
    TestFixture::are_invalid(
        segment_calls, [&](auto& c) { c.options = &options; }, parts);
  };
  expect_invalid([](auto& o) { o.axis = 0; }, {"options.axis = 0", "one vector"});
  expect_invalid(
      [&](auto& o) {
        o.axes = &axis;
        o.axis_count = 1;
      },
      {"options.axes is given", "one vector"});
  expect_invalid([](auto& o) { o.algorithm = KOKKOSSOFTMAX_ALGORITHM_ONLINE; },
                 {"options.algorithm = 5, online", "lengths"});
  expect_invalid([](auto& o) { o.reproducible = 1; }, {"options.reproducible = 1"});
  expect_invalid([](auto& o) { o.size = 8; }, {"options.size = 8"});
}

TYPED_TEST(CSegments, NullAndUnknownArguments) {
  constexpr int invalid = KOKKOSSOFTMAX_INVALID_ARGUMENT;
  typename TestFixture::template Call<> call({5, 0, 7});
  const auto apply = [&](int operation, auto... tensors) {
    return kokkossoftmax_segment_apply(operation, TestFixture::space, nullptr, tensors..., nullptr);
  };
  const auto backward = [&](int operation, auto... tensors) {
    return kokkossoftmax_segment_backward(operation, TestFixture::space, nullptr, tensors...,
                                          nullptr);
  };
  const auto lse_backward = [&](auto... tensors) {
    return kokkossoftmax_segment_logsumexp_backward(TestFixture::space, nullptr, tensors...,
                                                    nullptr);
  };
  const auto *x = &call.x.c, *y = &call.y.c, *dx = &call.dx.c, *offsets = &call.offsets.c,
             *lse = &call.lse.c;
  EXPECT_TRUE(fails_with(invalid, {"segment_softmax: x is NULL"}, apply(0, nullptr, offsets, y)));
  EXPECT_TRUE(
      fails_with(invalid, {"segment_log_softmax: offsets is NULL"}, apply(1, x, nullptr, y)));
  EXPECT_TRUE(fails_with(invalid, {"segment_softmax: y is NULL"}, apply(0, x, offsets, nullptr)));
  EXPECT_TRUE(fails_with(invalid, {"kokkossoftmax_segment_apply: operation = 3", "0 to 2"},
                         apply(3, x, offsets, y)));
  EXPECT_TRUE(fails_with(invalid, {"segment_softmax_backward: y is NULL"},
                         backward(0, nullptr, x, offsets, dx)));
  EXPECT_TRUE(fails_with(invalid, {"segment_softmax_backward: dy is NULL"},
                         backward(0, x, nullptr, offsets, dx)));
  EXPECT_TRUE(fails_with(invalid, {"segment_log_softmax_backward: log_y is NULL"},
                         backward(1, nullptr, x, offsets, dx)));
  EXPECT_TRUE(fails_with(invalid, {"kokkossoftmax_segment_backward: operation = 2"},
                         backward(2, x, x, offsets, dx)));
  EXPECT_TRUE(
      fails_with(invalid, {"segment_logsumexp: lse is NULL"}, apply(2, x, offsets, nullptr)));
  EXPECT_TRUE(fails_with(invalid, {"segment_logsumexp_backward: lse is NULL"},
                         lse_backward(x, nullptr, lse, offsets, dx)));
  EXPECT_TRUE(fails_with(invalid, {"segment_logsumexp_backward: dlse is NULL"},
                         lse_backward(x, lse, nullptr, offsets, dx)));
  EXPECT_TRUE(fails_with(invalid, {"segment_logsumexp_backward: dx is NULL"},
                         lse_backward(x, lse, lse, offsets, nullptr)));
  for (const SegmentCall function : segment_calls)
    EXPECT_TRUE(call.fails(function, invalid, {"kokkossoftmax_segment_", ": space = 2"}, 2));
}

}  // namespace
}  // namespace KokkosSoftmax::Test
