// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests kokkossoftmax_logsumexp_both_axes: results, and errors, which give a status and a message
// and write nothing.

#include <cstring>
#include <limits>
#include <support/BothAxes.hpp>
#include <support/CInterface.hpp>
#include <support/Recorder.hpp>

namespace KokkosSoftmax::Test {
namespace {

template <class C>
class CBothAxes : public ::testing::Test {
 protected:
  using T = typename C::value;
  using X = typename C::x_value;
  using Exec = typename C::exec;
  static constexpr int space = space_of<Exec>;

  /// The arguments of a call: memory, tensors and options.
  struct Call {
    /// For x with these extents. Each array has the placement that a function gives.
    explicit Call(const Extents& extents, Placement (*place_x)(const Extents&) = &place_right,
                  Placement (*place_lse)(const Extents&) = &place_right)
        : x_place(place_x(extents)),
          row_place(place_lse({extents[0]})),
          column_place(place_lse({extents[1]})) {}

    int call(int in_space = space) const {
      return kokkossoftmax_logsumexp_both_axes(in_space, stream, &x.c, &row_lse.c, &column_lse.c,
                                               &options);
    }
    ::testing::AssertionResult succeeds_and_ends() const {
      const auto result = succeeds(call());
      return result ? succeeds(kokkossoftmax_fence(space, stream)) : result;
    }
    /// Makes the call, and checks the results and all memory beside them.
    ::testing::AssertionResult is_right(const Rows<T>& rows) {
      x_field.assign(rows.values);
      auto result = succeeds_and_ends();
      if (!result) return result;
      result =
          are_right(BothAxesSample<T>(rows, options.scale), row_field.read(), column_field.read());
      result = both(result, row_field.gaps_are_unchanged() && column_field.gaps_are_unchanged(),
                    "something beside the results was written");
      return both(result, x_field.is_unchanged(), "x was written");
    }
    ::testing::AssertionResult fails(int status, std::initializer_list<std::string> parts,
                                     int in_space = space) const {
      const auto result = fails_with(status, parts, call(in_space));
      Exec{}.fence();
      return both(result,
                  x_field.is_unchanged() && row_field.is_unchanged() && column_field.is_unchanged(),
                  "memory was written");
    }

    Placement x_place, row_place, column_place;
    Field<X, Exec> x_field{x_place};
    Field<T, Exec> row_field{row_place}, column_field{column_place};
    Tensor<X> x{x_field.data(), x_place};
    Tensor<T> row_lse{row_field.data(), row_place}, column_lse{column_field.data(), column_place};
    kokkossoftmax_options options = c_options({});
    void* stream = nullptr;
  };

  /// Changes a call that is right, on a 5 x 7 matrix, and checks that it fails.
  template <class Change>
  static ::testing::AssertionResult is_invalid(const Change& change,
                                               std::initializer_list<std::string> parts) {
    Call call({5, 7});
    change(call);
    return call.fails(KOKKOSSOFTMAX_INVALID_ARGUMENT, parts);
  }
};

#ifdef KOKKOSSOFTMAX_TEST_HALF_TYPES
using CBothAxesConfigs =
    Concatenated<OverSpaces<DefaultSpaces>::values,
                 decltype(half_configs<Kokkos::LayoutRight>(DefaultSpaces{}))>::type::types;
#else
using CBothAxesConfigs = OverSpaces<DefaultSpaces>::values::types;
#endif
TYPED_TEST_SUITE(CBothAxes, decltype(of_same_types(CBothAxesConfigs{}))::types, ConfigName);

// The last of the sizes are those of the kernels for GPUs that read x once.
TYPED_TEST(CBothAxes, ContiguousAndStrided) {
  using X = typename TypeParam::x_value;
  for (const Extents& extents :
       {Extents{1, 1}, Extents{1, 33}, Extents{5, 7}, Extents{129, 3}, Extents{70, 520}})
    for (const auto place_x : {&place_right, &place_left, &place_strided})
      for (const auto place_lse : {&place_right, &place_strided})
        for (const double scale : {1.0, -0.5}) {
          typename TestFixture::Call call(extents, place_x, place_lse);
          call.options.scale = scale;
          EXPECT_TRUE(call.is_right(normal_rows<X>(extents[0], extents[1])));
        }
}

// Without options and strides.
TYPED_TEST(CBothAxes, Defaults) {
  using X = typename TypeParam::x_value;
  typename TestFixture::Call call({40, 200});
  for (auto* tensor : {&call.x.c, &call.row_lse.c, &call.column_lse.c}) tensor->strides = nullptr;
  const auto rows = normal_rows<X>(40, 200);
  call.x_field.assign(rows.values);
  EXPECT_TRUE(succeeds(kokkossoftmax_logsumexp_both_axes(
      TestFixture::space, nullptr, &call.x.c, &call.row_lse.c, &call.column_lse.c, nullptr)));
  EXPECT_TRUE(succeeds(kokkossoftmax_fence(TestFixture::space, nullptr)));
  EXPECT_TRUE(are_right(BothAxesSample(rows), call.row_field.read(), call.column_field.read()));
}

TYPED_TEST(CBothAxes, HostileRows) {
  using X = typename TypeParam::x_value;
  const auto rows = hostile_rows<X>(300);
  typename TestFixture::Call call({rows.count, rows.columns});
  EXPECT_TRUE(call.is_right(rows));
}

// A stride of x is 0: every row is the first one.
TYPED_TEST(CBothAxes, BroadcastInput) {
  using X = typename TypeParam::x_value;
  auto rows = normal_rows<X>(40, 150);
  typename TestFixture::Call call({rows.count, rows.columns});
  call.x_field.assign(rows.values);
  const std::int64_t strides[] = {0, 1};
  call.x.c.strides = strides;
  EXPECT_TRUE(call.succeeds_and_ends());
  for (std::size_t i = rows.columns; i < rows.values.size(); ++i)
    rows.values[i] = rows.values[i % rows.columns];
  EXPECT_TRUE(are_right(BothAxesSample(rows), call.row_field.read(), call.column_field.read()));
}

TYPED_TEST(CBothAxes, EmptyTensors) {
  using T = typename TypeParam::value;
  constexpr T inf = std::numeric_limits<T>::infinity();
  typename TestFixture::Call no_columns({5, 0}), no_rows({0, 7}), nothing({0, 0});
  for (const auto* call : {&no_columns, &no_rows, &nothing}) EXPECT_TRUE(call->succeeds_and_ends());
  EXPECT_EQ(no_columns.row_field.read(), std::vector<T>(5, -inf));
  EXPECT_EQ(no_rows.column_field.read(), std::vector<T>(7, -inf));
}

// After the first call on the stream, which may allocate.
TYPED_TEST(CBothAxes, TwoKernels) {
  using X = typename TypeParam::x_value;
  using Exec = typename TypeParam::exec;
  typename TestFixture::Call call({70, 520});
  EXPECT_TRUE(call.is_right(normal_rows<X>(70, 520)));
  const Events events = record([&] { EXPECT_TRUE(succeeds(call.call())); });
  Exec{}.fence();
  EXPECT_EQ(events.kernels.size(), 2u);
  for (const auto& kernel : events.kernels)
    EXPECT_EQ(kernel.label.find("KokkosSoftmax::logsumexp"), 0u) << kernel.label;
  EXPECT_EQ(events.fences, std::vector<std::string>{});
  EXPECT_EQ(events.allocations, std::vector<std::string>{});
}

// Arguments that are checked for Views as well give the same messages.
TYPED_TEST(CBothAxes, SharedErrors) {
  const std::int64_t six[] = {6};
  EXPECT_TRUE(TestFixture::is_invalid(
      [](auto& c) { c.options.scale = std::numeric_limits<double>::infinity(); },
      {"KokkosSoftmax::logsumexp_both_axes: scale = inf", "finite"}));
  EXPECT_TRUE(TestFixture::is_invalid([&](auto& c) { c.row_lse.c.extents = six; },
                                      {"the extents (6) of row_lse", "x (5, 7)"}));
  EXPECT_TRUE(TestFixture::is_invalid([&](auto& c) { c.column_lse.c.extents = six; },
                                      {"the extents (6) of column_lse", "x (5, 7)"}));
  EXPECT_TRUE(TestFixture::is_invalid([](auto& c) { c.row_lse.c.rank = 0; },
                                      {"the extents () of row_lse", "x (5, 7)"}));
  EXPECT_TRUE(TestFixture::is_invalid([](auto& c) { c.row_lse.c.data = c.column_field.data() + 1; },
                                      {"row_lse at", "and column_lse at", "overlap"}));
  EXPECT_TRUE(TestFixture::is_invalid([](auto& c) { c.row_lse.c.data = c.x_field.data(); },
                                      {"x at", "and row_lse at", "overlap"}));
  EXPECT_TRUE(TestFixture::is_invalid([](auto& c) { c.column_lse.c.data = c.x_field.data(); },
                                      {"x at", "and column_lse at", "overlap"}));
}

TYPED_TEST(CBothAxes, TensorErrors) {
  const std::int64_t negative[] = {-1, 7}, backwards[] = {7, -1}, broadcast[] = {0};
  EXPECT_TRUE(TestFixture::is_invalid([](auto& c) { c.x.c.data = nullptr; },
                                      {"logsumexp_both_axes: x.data is NULL"}));
  EXPECT_TRUE(TestFixture::is_invalid([](auto& c) { c.x.c.extents = nullptr; },
                                      {"logsumexp_both_axes: x.extents is NULL"}));
  for (const int rank : {0, 9})
    EXPECT_TRUE(TestFixture::is_invalid([&](auto& c) { c.x.c.rank = rank; },
                                        {": x has rank " + std::to_string(rank), "1 to 8"}));
  EXPECT_TRUE(TestFixture::is_invalid([](auto& c) { c.x.c.rank = 1; },
                                      {"logsumexp_both_axes: x has rank 1", "matrix"}));
  EXPECT_TRUE(
      TestFixture::is_invalid([&](auto& c) { c.x.c.extents = negative; }, {"x.extents[0] = -1"}));
  EXPECT_TRUE(
      TestFixture::is_invalid([&](auto& c) { c.x.c.strides = backwards; }, {"x.strides[1] = -1"}));
  EXPECT_TRUE(TestFixture::is_invalid([&](auto& c) { c.row_lse.c.strides = broadcast; },
                                      {"row_lse.strides[0] = 0"}));
  EXPECT_TRUE(TestFixture::is_invalid([&](auto& c) { c.column_lse.c.strides = broadcast; },
                                      {"column_lse.strides[0] = 0"}));
  EXPECT_TRUE(TestFixture::is_invalid([](auto& c) { c.column_lse.c.data = nullptr; },
                                      {"column_lse.data is NULL"}));
  const auto shift = [](kokkossoftmax_tensor& tensor) {
    tensor.data = static_cast<char*>(tensor.data) + 1;
  };
  EXPECT_TRUE(
      TestFixture::is_invalid([&](auto& c) { shift(c.x.c); }, {": x.data", "multiple of "}));
  EXPECT_TRUE(TestFixture::is_invalid([&](auto& c) { shift(c.row_lse.c); },
                                      {": row_lse.data", "multiple of "}));
  EXPECT_TRUE(TestFixture::is_invalid([&](auto& c) { shift(c.column_lse.c); },
                                      {": column_lse.data", "multiple of "}));
}

// x has a type with kernels, and the results have that of the computation.
TYPED_TEST(CBothAxes, Types) {
  using T = typename TypeParam::value;
  const int other = std::is_same_v<T, float> ? KOKKOSSOFTMAX_DOUBLE : KOKKOSSOFTMAX_FLOAT;
  for (const int unknown : {int(KOKKOSSOFTMAX_BOOL), int(KOKKOSSOFTMAX_INT32), 99, -1}) {
    typename TestFixture::Call call({5, 7});
    call.x.c.type = unknown;
    EXPECT_TRUE(
        call.fails(KOKKOSSOFTMAX_UNSUPPORTED,
                   {"KokkosSoftmax::logsumexp_both_axes: x of type = " + std::to_string(unknown),
                    "has no kernels", "float"}));
  }
  EXPECT_TRUE(TestFixture::is_invalid([&](auto& c) { c.row_lse.c.type = other; },
                                      {": row_lse has type", "it is computed in"}));
  EXPECT_TRUE(TestFixture::is_invalid([&](auto& c) { c.column_lse.c.type = other; },
                                      {": column_lse has type", "it is computed in"}));
#if KOKKOS_HALF_T_IS_FLOAT
  typename TestFixture::Call call({5, 7});
  call.x.c.type = KOKKOSSOFTMAX_HALF;
  EXPECT_TRUE(call.fails(KOKKOSSOFTMAX_UNSUPPORTED, {"half", "arrays of", "float"}));
#endif
}

TYPED_TEST(CBothAxes, NullAndUnknownArguments) {
  constexpr int invalid = KOKKOSSOFTMAX_INVALID_ARGUMENT;
  typename TestFixture::Call call({5, 7});
  const auto *x = &call.x.c, *rows = &call.row_lse.c, *columns = &call.column_lse.c;
  const auto both_axes = [](auto... tensors) {
    return kokkossoftmax_logsumexp_both_axes(TestFixture::space, nullptr, tensors..., nullptr);
  };
  EXPECT_TRUE(fails_with(invalid, {"both_axes: x is NULL"}, both_axes(nullptr, rows, columns)));
  EXPECT_TRUE(fails_with(invalid, {"both_axes: row_lse is NULL"}, both_axes(x, nullptr, columns)));
  EXPECT_TRUE(fails_with(invalid, {"both_axes: column_lse is NULL"}, both_axes(x, rows, nullptr)));
  EXPECT_TRUE(call.fails(invalid, {"kokkossoftmax_logsumexp_both_axes: space = 2"}, 2));
}

TYPED_TEST(CBothAxes, StreamOfASpaceWithoutStreams) {
  using Exec = typename TypeParam::exec;
  if (!is_host_space<Exec>) GTEST_SKIP() << Exec::name() << " has streams";
  typename TestFixture::Call call({5, 7});
  call.stream = &call;
  EXPECT_TRUE(call.fails(KOKKOSSOFTMAX_INVALID_ARGUMENT,
                         {"kokkossoftmax_logsumexp_both_axes: stream", Exec::name(), "NULL"}));
}

// The scale is the only option. empty_rows has no effect, as for logsumexp.
TYPED_TEST(CBothAxes, OptionsOfOtherFunctions) {
  using X = typename TypeParam::x_value;
  const int axes[] = {0};
  for (const int axis : {0, 1, 2, -2})
    EXPECT_TRUE(TestFixture::is_invalid(
        [&](auto& c) { c.options.axis = axis; },
        {"KokkosSoftmax::logsumexp_both_axes: options.axis = " + std::to_string(axis),
         "each of the two axes"}));
  EXPECT_TRUE(TestFixture::is_invalid(
      [&](auto& c) {
        c.options.axes = axes;
        c.options.axis_count = 1;
      },
      {"logsumexp_both_axes: options.axes is given", "set it to NULL"}));
  EXPECT_TRUE(
      TestFixture::is_invalid([](auto& c) { c.options.algorithm = KOKKOSSOFTMAX_ALGORITHM_ONLINE; },
                              {": options.algorithm = 5, online", "default"}));
  EXPECT_TRUE(TestFixture::is_invalid([](auto& c) { c.options.reproducible = 1; },
                                      {": options.reproducible = 1", "set it to 0"}));
  EXPECT_TRUE(
      TestFixture::is_invalid([](auto& c) { c.options.reserved = 1; }, {": options.reserved = 1"}));
  EXPECT_TRUE(TestFixture::is_invalid([](auto& c) { c.options.empty_rows = 2; },
                                      {": options.empty_rows = 2 is unknown"}));
  typename TestFixture::Call call({5, 7});
  call.options.empty_rows = KOKKOSSOFTMAX_EMPTY_ROWS_ZERO;
  EXPECT_TRUE(call.is_right(normal_rows<X>(5, 7)));
}

// Options of a program with the first header, which is followed by other memory, and of one with a
// later header.
TYPED_TEST(CBothAxes, OptionsOfOtherHeaders) {
  using X = typename TypeParam::x_value;
  const auto rows = normal_rows<X>(5, 7);
  typename TestFixture::Call call({5, 7});
  constexpr std::size_t first_size = offsetof(kokkossoftmax_options, axes);
  std::memset(reinterpret_cast<unsigned char*>(&call.options) + first_size, 0xab,
              sizeof(call.options) - first_size);
  call.options.size = first_size;
  call.options.scale = -0.5;
  EXPECT_TRUE(call.is_right(rows));
  EXPECT_TRUE(TestFixture::is_invalid([](auto& c) { c.options.size = 8; },
                                      {"logsumexp_both_axes: options.size = 8"}));

  LaterOptions later;
  EXPECT_TRUE(succeeds(kokkossoftmax_options_init_sized(&later.known, later_size)));
  const auto both_axes = [&] {
    return kokkossoftmax_logsumexp_both_axes(TestFixture::space, nullptr, &call.x.c,
                                             &call.row_lse.c, &call.column_lse.c, &later.known);
  };
  EXPECT_TRUE(succeeds(both_axes()));
  EXPECT_TRUE(succeeds(kokkossoftmax_fence(TestFixture::space, nullptr)));
  EXPECT_TRUE(are_right(BothAxesSample(rows), call.row_field.read(), call.column_field.read()));
  later.more[0] = 1;
  EXPECT_TRUE(fails_with(KOKKOSSOFTMAX_INVALID_ARGUMENT,
                         {"KokkosSoftmax::logsumexp_both_axes: options", "unknown", "later"},
                         both_axes()));
}

#ifdef KOKKOS_ENABLE_CUDA
// The memory of the calls is kept for the stream, and freed before it.
TYPED_TEST(CBothAxes, CudaStreams) {
  using X = typename TypeParam::x_value;
  if (!std::is_same_v<typename TypeParam::exec, Kokkos::Cuda>) GTEST_SKIP() << "not CUDA";
  const std::vector<Rows<typename TypeParam::value>> samples{normal_rows<X>(70, 520),
                                                             normal_rows<X>(70, 5200)};
  for (int round = 0; round < 2; ++round) {
    cudaStream_t stream;
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    for (const auto& rows : samples) {
      typename TestFixture::Call call({rows.count, rows.columns});
      call.stream = stream;
      EXPECT_TRUE(call.is_right(rows));
    }
    EXPECT_TRUE(succeeds(kokkossoftmax_release_stream(TestFixture::space, stream)));
    ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  }
}
#endif

}  // namespace
}  // namespace KokkosSoftmax::Test
