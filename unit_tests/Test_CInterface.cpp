// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests kokkossoftmax.h: results, and errors, which give a status and a message and write nothing.
// CInterface.c tests it in a process that does not use Kokkos itself.

#include <kokkossoftmax.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <support/Check.hpp>
#include <support/Recorder.hpp>
#include <thread>

namespace KokkosSoftmax::Test {
namespace {

using Device = Kokkos::DefaultExecutionSpace;
using Host = Kokkos::DefaultHostExecutionSpace;

template <class Exec>
constexpr int space_of = std::is_same_v<Exec, Device> ? KOKKOSSOFTMAX_DEVICE : KOKKOSSOFTMAX_HOST;

using DeviceConfigs = TypeList<Config<Device, double>, Config<Device, float>>;
using HostConfigs = TypeList<Config<Host, double>, Config<Host, float>>;
using SpaceConfigs = std::conditional_t<std::is_same_v<Device, Host>, DeviceConfigs,
                                        Concatenated<DeviceConfigs, HostConfigs>::type>;

int operation_of(Function function) {
  switch (function) {
    case Function::softmax:
      return KOKKOSSOFTMAX_SOFTMAX;
    case Function::log_softmax:
      return KOKKOSSOFTMAX_LOG_SOFTMAX;
    case Function::logsumexp:
      return KOKKOSSOFTMAX_LOGSUMEXP;
  }
  throw std::logic_error("no such function");
}

kokkossoftmax_options c_options(const Options& options) {
  kokkossoftmax_options c;
  EXPECT_EQ(kokkossoftmax_options_init(&c), KOKKOSSOFTMAX_SUCCESS);
  c.axis = options.axis;
  c.scale = options.scale;
  c.empty_rows = static_cast<int>(options.empty_rows);
  c.algorithm = static_cast<int>(options.algorithm);
  c.reproducible = options.reproducible;
  return c;
}

/// A tensor that owns its extents and strides.
template <class T>
class Tensor {
 public:
  Tensor(T* data, const Placement& placement)
      : m_extents(placement.extents.begin(), placement.extents.end()),
        m_strides(placement.strides.begin(), placement.strides.end()),
        c{data, std::is_same_v<T, float> ? KOKKOSSOFTMAX_FLOAT : KOKKOSSOFTMAX_DOUBLE,
          static_cast<int>(m_extents.size()), m_extents.data(), m_strides.data()} {}
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

 private:
  std::vector<std::int64_t> m_extents, m_strides;

 public:
  kokkossoftmax_tensor c;
};

::testing::AssertionResult succeeds(int status) {
  if (status == KOKKOSSOFTMAX_SUCCESS) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "status " << status << ": " << kokkossoftmax_last_error();
}

::testing::AssertionResult fails_with(int expected_status, std::initializer_list<std::string> parts,
                                      int status) {
  if (status != expected_status)
    return ::testing::AssertionFailure()
           << "status " << status << " instead of " << expected_status;
  const std::string message = kokkossoftmax_last_error();
  for (const auto& part : parts)
    if (message.find(part) == std::string::npos)
      return ::testing::AssertionFailure() << "no \"" << part << "\" in: " << message;
  return ::testing::AssertionSuccess();
}

template <class C>
class CInterface : public ::testing::Test {
 protected:
  using T = typename C::value;
  using Exec = typename C::exec;
  static constexpr int space = space_of<Exec>;

  /// Calls the function on tensors with the given placements, and checks the result.
  static ::testing::AssertionResult check(const Case& c, const Placement& x_place,
                                          const Placement& y_place, void* stream = nullptr) {
    const auto& sample = normal_sample<T>(product(without_axis(c.extents, c.options.axis)),
                                          c.extents[axis_index(c.extents, c.options.axis)]);
    Field<T, Exec> x(x_place), y(y_place);
    x.assign(rows_to_tensor(sample.rows.values, c.extents, c.options.axis));
    const Tensor<T> tx(x.data(), x_place), ty(y.data(), y_place);
    const auto options = c_options(c.options);
    const auto result = succeeds(
        kokkossoftmax_apply(operation_of(c.function), space, stream, &tx.c, &ty.c, &options));
    if (!result) return result;
    if (const auto fenced = succeeds(kokkossoftmax_fence(space, stream)); !fenced) return fenced;
    return both(check_output(c, sample.rows, sample.expected, y), x.is_unchanged(),
                "x was written");
  }

  /// Memory and tensors of a call on a 5 x 7 matrix that must fail.
  struct Call {
    Field<T, Exec> x_field{place_right({5, 7})}, y_field{place_right({5, 7})};
    Tensor<T> x{x_field.data(), place_right({5, 7})}, y{y_field.data(), place_right({5, 7})};
    kokkossoftmax_options options = c_options({});

    ::testing::AssertionResult fails(int status, std::initializer_list<std::string> parts,
                                     int operation = KOKKOSSOFTMAX_SOFTMAX) {
      const auto result = fails_with(
          status, parts, kokkossoftmax_apply(operation, space, nullptr, &x.c, &y.c, &options));
      Exec{}.fence();
      return both(result, x_field.is_unchanged() && y_field.is_unchanged(), "memory was written");
    }
    ::testing::AssertionResult is_invalid(std::initializer_list<std::string> parts) {
      return fails(KOKKOSSOFTMAX_INVALID_ARGUMENT, parts);
    }
  };
};
TYPED_TEST_SUITE(CInterface, SpaceConfigs::types, ConfigName);

TYPED_TEST(CInterface, ContiguousAndStrided) {
  for (const Function function : all_functions)
    for (const Extents& extents : {Extents{33}, Extents{5, 1025}, Extents{3, 7, 129}})
      for (int axis = 0; axis < static_cast<int>(extents.size()); ++axis) {
        const Case c{.function = function, .extents = extents, .options = {.axis = axis}};
        const Extents y = c.y_extents();
        EXPECT_TRUE(TestFixture::check(c, place_right(extents), place_right(y)));
        EXPECT_TRUE(TestFixture::check(c, place_strided(extents), place_left(y)));
        EXPECT_TRUE(TestFixture::check(c, place_left(extents), place_strided(y)));
      }
}

TYPED_TEST(CInterface, Options) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  constexpr Algorithm algorithm = is_host_space<Exec> ? Algorithm::host : Algorithm::online;
  auto rows = normal_rows<T>(3, 129);
  std::fill_n(rows.values.begin() + 129, 129, -std::numeric_limits<T>::infinity());
  const Options all_changed{.axis = 0,
                            .scale = 0.25,
                            .empty_rows = EmptyRows::zero,
                            .algorithm = algorithm,
                            .reproducible = true};
  const Case c{.extents = {129, 3}, .options = all_changed};
  Field<T, Exec> x(place_right(c.extents)), y(place_right(c.extents));
  x.assign(rows_to_tensor(rows.values, c.extents, 0));
  const Tensor<T> tx(x.data(), place_right(c.extents)), ty(y.data(), place_right(c.extents));
  const auto options = c_options(all_changed);
  const Events events = record([&] {
    EXPECT_TRUE(succeeds(kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, TestFixture::space, nullptr,
                                             &tx.c, &ty.c, &options)));
  });
  Exec{}.fence();
  EXPECT_TRUE(check_output(c, rows, reference(rows, 0.25, EmptyRows::zero), y));
  ASSERT_EQ(events.kernels.size(), 1u);
  EXPECT_EQ(events.kernels[0].label,
            "KokkosSoftmax::softmax[" + std::string(to_string(algorithm)) + "]");
  EXPECT_EQ(events.fences, std::vector<std::string>{});
}

TYPED_TEST(CInterface, DefaultsWithoutOptionsAndStrides) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Case c{.extents = {4, 3, 65}};
  const auto& sample = normal_sample<T>(12, 65);
  Field<T, Exec> x(place_right(c.extents)), y(place_right(c.extents));
  x.assign(sample.rows.values);
  Tensor<T> tx(x.data(), place_right(c.extents)), ty(y.data(), place_right(c.extents));
  tx.c.strides = ty.c.strides = nullptr;
  EXPECT_TRUE(succeeds(kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, TestFixture::space, nullptr,
                                           &tx.c, &ty.c, nullptr)));
  EXPECT_TRUE(succeeds(kokkossoftmax_fence(TestFixture::space, nullptr)));
  EXPECT_TRUE(check_output(c, sample.rows, sample.expected, y));
}

TYPED_TEST(CInterface, InPlace) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  for (const Function function : {Function::softmax, Function::log_softmax})
    for (const int axis : {0, 1}) {
      const Case c{.function = function, .extents = {33, 33}, .options = {.axis = axis}};
      const auto& sample = normal_sample<T>(33, 33);
      Field<T, Exec> x(place_strided(c.extents));
      x.assign(rows_to_tensor(sample.rows.values, c.extents, axis));
      const Tensor<T> tensor(x.data(), place_strided(c.extents));
      const auto options = c_options(c.options);
      EXPECT_TRUE(succeeds(kokkossoftmax_apply(operation_of(function), TestFixture::space, nullptr,
                                               &tensor.c, &tensor.c, &options)));
      EXPECT_TRUE(succeeds(kokkossoftmax_fence(TestFixture::space, nullptr)));
      EXPECT_TRUE(check_output(c, sample.rows, sample.expected, x));
    }
}

TYPED_TEST(CInterface, EmptyTensors) {
  using T = typename TypeParam::value;
  const Tensor<T> no_rows(nullptr, place_right({0, 7})), no_columns(nullptr, place_right({5, 0}));
  for (const auto* tensor : {&no_rows.c, &no_columns.c})
    EXPECT_TRUE(succeeds(kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, TestFixture::space, nullptr,
                                             tensor, tensor, nullptr)));
}

// Arguments that are checked for Views as well give the same messages.
TYPED_TEST(CInterface, SharedErrors) {
  typename TestFixture::Call call;
  call.options.axis = 2;
  EXPECT_TRUE(call.is_invalid({"KokkosSoftmax::softmax: axis = 2", "rank 2", "from -2 to 1"}));
  call.options = c_options({.scale = double(NAN)});
  EXPECT_TRUE(call.is_invalid({"KokkosSoftmax::softmax: scale", "finite"}));
  call.options = c_options({});
  EXPECT_TRUE(call.fails(KOKKOSSOFTMAX_INVALID_ARGUMENT,
                         {"KokkosSoftmax::logsumexp: the extents (5, 7) of lse", "x (5, 7)"},
                         KOKKOSSOFTMAX_LOGSUMEXP));
  call.y.c.rank = 1;
  EXPECT_TRUE(call.is_invalid({"the extents (5) of y", "x (5, 7)"}));
  call.y.c.rank = 2;
  call.y.c.data = call.x_field.data() + 1;
  EXPECT_TRUE(call.is_invalid({"KokkosSoftmax::softmax: x at", "and y at", "overlap"}));
}

TYPED_TEST(CInterface, TensorErrors) {
  const typename TestFixture::Call right;
  const std::int64_t negative[] = {-1, 7}, backwards[] = {7, -1}, broadcast[] = {0, 1};
  const auto is_invalid = [&](auto change, std::initializer_list<std::string> parts) {
    typename TestFixture::Call call;
    change(call);
    return call.is_invalid(parts);
  };
  EXPECT_TRUE(is_invalid([](auto& c) { c.x.c.data = nullptr; }, {"softmax: x.data is NULL"}));
  EXPECT_TRUE(is_invalid([](auto& c) { c.y.c.data = nullptr; }, {"softmax: y.data is NULL"}));
  EXPECT_TRUE(is_invalid([](auto& c) { c.x.c.extents = nullptr; }, {"x.extents is NULL"}));
  EXPECT_TRUE(is_invalid([](auto& c) { c.x.c.rank = 0; }, {"x has rank 0", "1 to 4"}));
  EXPECT_TRUE(is_invalid([](auto& c) { c.x.c.rank = 5; }, {"x has rank 5", "1 to 4"}));
  EXPECT_TRUE(is_invalid([&](auto& c) { c.x.c.extents = negative; }, {"x.extents[0] = -1"}));
  EXPECT_TRUE(is_invalid([&](auto& c) { c.x.c.strides = backwards; }, {"x.strides[1] = -1"}));
  EXPECT_TRUE(is_invalid([&](auto& c) { c.y.c.strides = broadcast; }, {"y.strides[0] = 0"}));
  EXPECT_TRUE(is_invalid([](auto& c) { c.options.empty_rows = 2; }, {"empty_rows = 2"}));
  EXPECT_TRUE(is_invalid([](auto& c) { c.options.algorithm = -1; }, {"algorithm = -1"}));
}

/// The options of a caller with a later header, and the memory after them.
struct LaterOptions {
  kokkossoftmax_options known;
  unsigned char more[24];
  unsigned char behind[16];
};
constexpr std::size_t later_size = offsetof(LaterOptions, behind);

template <std::size_t count>
bool all_are(const unsigned char (&bytes)[count], unsigned char value) {
  return std::all_of(std::begin(bytes), std::end(bytes), [&](auto byte) { return byte == value; });
}

TYPED_TEST(CInterface, OptionsOfALaterHeader) {
  typename TestFixture::Call call;
  LaterOptions later;
  std::memset(&later, 0xab, sizeof(later));
  EXPECT_TRUE(succeeds(kokkossoftmax_options_init_sized(&later.known, later_size)));
  EXPECT_EQ(later.known.size, later_size);
  EXPECT_EQ(later.known.axis, -1);
  EXPECT_TRUE(all_are(later.more, 0));
  EXPECT_TRUE(all_are(later.behind, 0xab));

  const auto apply = [&] {
    return kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, TestFixture::space, nullptr, &call.x.c,
                               &call.y.c, &later.known);
  };
  for (const std::size_t byte : {std::size_t(0), sizeof(later.more) - 1}) {
    later.more[byte] = 1;
    const auto at = std::to_string(sizeof(later.known) + byte);
    EXPECT_TRUE(fails_with(KOKKOSSOFTMAX_INVALID_ARGUMENT,
                           {"KokkosSoftmax::softmax: options", "byte " + at, "later"}, apply()));
    EXPECT_TRUE(call.y_field.is_unchanged());
    later.more[byte] = 0;
  }
  EXPECT_TRUE(succeeds(apply()));
  EXPECT_TRUE(succeeds(kokkossoftmax_fence(TestFixture::space, nullptr)));
  EXPECT_FALSE(call.y_field.is_unchanged());
}

// No byte is written beyond the size that the caller passes.
TYPED_TEST(CInterface, SizeOfOptions) {
  for (const std::size_t size : {std::size_t(0), std::size_t(8), sizeof(kokkossoftmax_options) - 1,
                                 std::size_t(1) << 20, ~std::size_t(0)}) {
    LaterOptions options;
    std::memset(&options, 0xab, sizeof(options));
    unsigned char bytes[sizeof(options)];
    EXPECT_TRUE(fails_with(KOKKOSSOFTMAX_INVALID_ARGUMENT,
                           {"size = " + std::to_string(size), "kokkossoftmax_options"},
                           kokkossoftmax_options_init_sized(&options.known, size)));
    std::memcpy(bytes, &options, sizeof(options));
    EXPECT_TRUE(all_are(bytes, 0xab));

    typename TestFixture::Call call;
    call.options.size = size;
    EXPECT_TRUE(call.is_invalid(
        {"softmax: options.size = " + std::to_string(size), "call kokkossoftmax_options_init()"}));
  }
  LaterOptions options;
  std::memset(&options, 0xab, sizeof(options));
  EXPECT_TRUE(succeeds(kokkossoftmax_options_init(&options.known)));
  EXPECT_TRUE(all_are(options.more, 0xab));
}

TYPED_TEST(CInterface, MisalignedData) {
  using T = typename TypeParam::value;
  for (std::size_t bytes = 1; bytes < sizeof(T); ++bytes) {
    const auto shifted = [&](void* data) { return static_cast<char*>(data) + bytes; };
    typename TestFixture::Call x, y;
    x.x.c.data = shifted(x.x.c.data);
    EXPECT_TRUE(x.is_invalid({"softmax: x.data", "multiple of " + std::to_string(sizeof(T))}));
    y.y.c.data = shifted(y.y.c.data);
    EXPECT_TRUE(y.is_invalid({"softmax: y.data", "multiple of " + std::to_string(sizeof(T))}));
  }
  // An address that is not aligned is valid if there are no elements.
  Tensor<T> empty(nullptr, place_right({0, 7}));
  empty.c.data = reinterpret_cast<void*>(1);
  EXPECT_TRUE(succeeds(kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, TestFixture::space, nullptr,
                                           &empty.c, &empty.c, nullptr)));
}

TYPED_TEST(CInterface, SizesBeyond64Bits) {
  constexpr std::int64_t large = std::int64_t(1) << 32;
  const std::int64_t extents[] = {large, large, 3}, no_rows[] = {large, 0, large, large};
  const std::int64_t stride_0[] = {0, 0, 0}, strides[] = {std::int64_t(1) << 62, 1};
  typename TestFixture::Call call;
  auto& x = call.x.c;
  auto& y = call.y.c;
  x.rank = y.rank = 3;
  x.extents = y.extents = extents;
  for (const auto* x_strides : {stride_0, static_cast<const std::int64_t*>(nullptr)}) {
    x.strides = x_strides;
    y.strides = nullptr;
    EXPECT_TRUE(call.is_invalid({"softmax: the extents (4294967296, 4294967296, 3) of x"}));
    y.rank = 2;
    EXPECT_TRUE(call.fails(KOKKOSSOFTMAX_INVALID_ARGUMENT, {"(4294967296, 4294967296, 3) of x"},
                           KOKKOSSOFTMAX_LOGSUMEXP));
    y.rank = 3;
  }
  typename TestFixture::Call other;
  other.y.c.strides = strides;
  EXPECT_TRUE(other.is_invalid({"softmax: the strides", "4611686018427387904", "of y"}));

  x.rank = y.rank = 4;
  x.extents = y.extents = no_rows;
  x.strides = y.strides = nullptr;
  EXPECT_TRUE(succeeds(
      kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, TestFixture::space, nullptr, &x, &y, nullptr)));
}

TYPED_TEST(CInterface, TypesWithoutKernels) {
  typename TestFixture::Call call;
  call.x.c.type = KOKKOSSOFTMAX_HALF;
  call.y.c.type = KOKKOSSOFTMAX_DOUBLE;
  EXPECT_TRUE(call.fails(KOKKOSSOFTMAX_UNSUPPORTED,
                         {"KokkosSoftmax::softmax: x of type", "half", "float to float"}));
  call.y.c.type = KOKKOSSOFTMAX_BFLOAT16;
  EXPECT_TRUE(call.fails(KOKKOSSOFTMAX_UNSUPPORTED, {"half", "y of type", "bfloat16"}));
#if KOKKOS_HALF_T_IS_FLOAT
  call.y.c.type = KOKKOSSOFTMAX_HALF;
  EXPECT_TRUE(call.fails(KOKKOSSOFTMAX_UNSUPPORTED, {"half", "float to float"}));
#endif
#if KOKKOS_BHALF_T_IS_FLOAT
  call.x.c.type = call.y.c.type = KOKKOSSOFTMAX_BFLOAT16;
  EXPECT_TRUE(call.fails(KOKKOSSOFTMAX_UNSUPPORTED, {"bfloat16", "float to float"}));
#endif
  call.x.c.type = 99;
  EXPECT_TRUE(call.fails(KOKKOSSOFTMAX_UNSUPPORTED, {"99", "unknown"}));
  call.x.c.type = KOKKOSSOFTMAX_DOUBLE;
  call.y.c.type = KOKKOSSOFTMAX_FLOAT;
  EXPECT_TRUE(call.fails(KOKKOSSOFTMAX_UNSUPPORTED, {"x of type", "double", "y of type", "float"}));
}

TYPED_TEST(CInterface, NullAndUnknownArguments) {
  const typename TestFixture::Call call;
  const int space = TestFixture::space;
  const auto *x = &call.x.c, *y = &call.y.c;
  const auto apply = kokkossoftmax_apply;
  const int invalid = KOKKOSSOFTMAX_INVALID_ARGUMENT;
  EXPECT_TRUE(fails_with(invalid, {"x is NULL"}, apply(0, space, nullptr, nullptr, y, nullptr)));
  EXPECT_TRUE(fails_with(invalid, {"lse is NULL"}, apply(2, space, nullptr, x, nullptr, nullptr)));
  EXPECT_TRUE(fails_with(invalid, {"operation = 3"}, apply(3, space, nullptr, x, y, nullptr)));
  EXPECT_TRUE(fails_with(invalid, {"space = 2"}, apply(0, 2, nullptr, x, y, nullptr)));
  EXPECT_TRUE(fails_with(invalid, {"space = -1"}, kokkossoftmax_fence(-1, nullptr)));
  EXPECT_TRUE(fails_with(invalid, {"options is NULL"}, kokkossoftmax_options_init(nullptr)));
  EXPECT_EQ(kokkossoftmax_space_name(7), nullptr);
  EXPECT_TRUE(call.x_field.is_unchanged() && call.y_field.is_unchanged());
}

TYPED_TEST(CInterface, StreamOfASpaceWithoutStreams) {
  using Exec = typename TypeParam::exec;
  if (!is_host_space<Exec>) GTEST_SKIP() << Exec::name() << " has streams";
  typename TestFixture::Call call;
  int no_stream = 0;
  EXPECT_TRUE(fails_with(KOKKOSSOFTMAX_INVALID_ARGUMENT,
                         {"kokkossoftmax_apply: stream", Exec::name(), "NULL"},
                         kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, TestFixture::space, &no_stream,
                                             &call.x.c, &call.y.c, nullptr)));
  EXPECT_TRUE(call.y_field.is_unchanged());
  EXPECT_TRUE(succeeds(kokkossoftmax_release_stream(TestFixture::space, &no_stream)));
}

TYPED_TEST(CInterface, SpaceName) {
  EXPECT_STREQ(kokkossoftmax_space_name(TestFixture::space), TypeParam::exec::name());
}

TYPED_TEST(CInterface, LastErrorOfEachThread) {
  typename TestFixture::Call call;
  call.options.axis = 2;
  EXPECT_TRUE(call.is_invalid({"axis = 2"}));
  std::string elsewhere = "not read";
  std::thread([&] { elsewhere = kokkossoftmax_last_error(); }).join();
  EXPECT_EQ(elsewhere, "");
  EXPECT_NE(std::strstr(kokkossoftmax_last_error(), "axis = 2"), nullptr);
}

// The test program has initialized Kokkos itself and continues to use it.
TYPED_TEST(CInterface, KokkosOfTheApplication) {
  EXPECT_EQ(kokkossoftmax_is_initialized(), 1);
  EXPECT_TRUE(succeeds(kokkossoftmax_initialize()));
  EXPECT_TRUE(succeeds(kokkossoftmax_initialize()));
  EXPECT_TRUE(succeeds(kokkossoftmax_finalize()));
  EXPECT_TRUE(succeeds(kokkossoftmax_finalize()));
  EXPECT_TRUE(fails_with(KOKKOSSOFTMAX_NOT_INITIALIZED, {"kokkossoftmax_finalize:"},
                         kokkossoftmax_finalize()));
  EXPECT_EQ(kokkossoftmax_is_initialized(), 1);
  EXPECT_TRUE(Kokkos::is_initialized());
}

#ifdef KOKKOS_ENABLE_CUDA
TYPED_TEST(CInterface, CudaStreams) {
  if (!std::is_same_v<typename TypeParam::exec, Kokkos::Cuda>) GTEST_SKIP() << "not CUDA";
  const Case c{.extents = {64, 1024}};
  const auto place = place_right(c.extents);
  for (int round = 0; round < 2; ++round) {
    cudaStream_t streams[2];
    for (auto& stream : streams) ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    for (const auto stream : {streams[0], streams[1], streams[0], cudaStreamLegacy})
      EXPECT_TRUE(TestFixture::check(c, place, place, stream));
    for (auto& stream : streams) {
      EXPECT_TRUE(succeeds(kokkossoftmax_release_stream(TestFixture::space, stream)));
      EXPECT_TRUE(succeeds(kokkossoftmax_release_stream(TestFixture::space, stream)));
      ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    }
  }
}

// The instance of a stream is made only once.
TYPED_TEST(CInterface, CudaStreamIsKept) {
  using T = typename TypeParam::value;
  if (!std::is_same_v<typename TypeParam::exec, Kokkos::Cuda>) GTEST_SKIP() << "not CUDA";
  typename TestFixture::Call call;
  call.x_field.assign(normal_sample<T>(5, 7).rows.values);
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  const auto apply = [&] {
    EXPECT_TRUE(succeeds(kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, TestFixture::space, stream,
                                             &call.x.c, &call.y.c, nullptr)));
  };
  const Events first = record(apply), second = record(apply);
  EXPECT_EQ(second.allocations, std::vector<std::string>{});
  EXPECT_EQ(second.fences, std::vector<std::string>{});
  ASSERT_EQ(second.kernels.size(), 1u);
  ASSERT_EQ(first.kernels.size(), 1u);
  EXPECT_EQ(first.kernels[0].device, second.kernels[0].device);
  EXPECT_TRUE(succeeds(kokkossoftmax_release_stream(TestFixture::space, stream)));
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}
#endif

}  // namespace
}  // namespace KokkosSoftmax::Test
