// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches on different queues, on streams that are hard to distinguish: each queue must have its
// own workspace, and the number of workspaces must not grow without limit.

#include <kokkossoftmax.h>

#include <algorithm>
#include <launch/SplitWorkspaces.hpp>
#include <support/Check.hpp>
#include <support/CudaStreams.hpp>
#include <support/Watchdog.hpp>
#include <thread>

#if defined(KOKKOS_ENABLE_CUDA)

namespace KokkosSoftmax::Test {
namespace {

template <class C>
class Queues : public ::testing::Test {
 protected:
  using T = typename C::value;
  using Exec = Kokkos::Cuda;
  using Right = Kokkos::LayoutRight;

  static auto& workspaces() { return KokkosSoftmax::Impl::SplitWorkspaces<Exec>::singleton(); }

  /// Checks `calls` calls with rows that are split over teams.
  static void expect_right_on(const Exec& exec, int calls, const Options& options) {
    const auto& sample = normal_sample<T>(3, 40003);
    const Case c{.extents = options.axis == 0 ? Extents{40003, 3} : Extents{3, 40003},
                 .options = options};
    Field<T, Exec> x(place_right(c.extents)), y(place_right(c.extents));
    x.assign(rows_to_tensor(sample.rows.values, c.extents, options.axis));
    for (int k = 0; k < calls; ++k)
      softmax(exec, x.template view<Right, 2, const T>(), y.template view<Right, 2>(), c.options);
    exec.fence();
    EXPECT_TRUE(check_output(c, sample.rows, sample.expected, y));
  }

  const Watchdog m_watchdog{std::chrono::seconds(120)};
};
TYPED_TEST_SUITE(Queues, OverSpaces<TypeList<Kokkos::Cuda>>::values::types, ConfigName);

// One handle stands for a different stream in each thread.
TYPED_TEST(Queues, PerThreadStreams) {
  normal_sample<typename TypeParam::value>(3, 40003);  // made before the threads, which share it
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      expect_cuda(cudaSetDevice(Kokkos::Cuda{}.cuda_device()));  // Kokkos needs a current context
      const Kokkos::Cuda exec(cudaStreamPerThread);
      for (const Options& options : {Options{.axis = 1, .algorithm = Algorithm::split_online},
                                     Options{.axis = 1, .algorithm = Algorithm::split},
                                     Options{.axis = 0, .algorithm = Algorithm::split_column}})
        TestFixture::expect_right_on(exec, 1000, options);
    });
  for (auto& thread : threads) thread.join();
}

// Streams are created and destroyed, and CUDA reuses their handles.
TYPED_TEST(Queues, ManyStreams) {
  constexpr std::size_t kept = 16;  // for queues that may still be used, see SplitWorkspaces
  const std::size_t before = TestFixture::workspaces().count();
  for (int k = 0; k < 200; ++k) {
    const StreamInstance stream(k % 2 == 0 ? cudaStreamNonBlocking : cudaStreamDefault);
    TestFixture::expect_right_on(stream.exec(), 2, {.algorithm = Algorithm::split_online});
  }
  // One more if all that were there are for panels of another size.
  EXPECT_LE(TestFixture::workspaces().count(), std::max(before, kept) + 1);
}

TYPED_TEST(Queues, ReleaseFreesTheWorkspace) {
  cudaStream_t stream = nullptr;
  expect_cuda(cudaStreamCreate(&stream));
  const Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::CudaSpace> x("x", 3, 40003),
      y("y", 3, 40003);
  const std::int64_t extents[] = {3, 40003};
  const kokkossoftmax_tensor tx{x.data(), KOKKOSSOFTMAX_FLOAT, 2, extents, nullptr};
  const kokkossoftmax_tensor ty{y.data(), KOKKOSSOFTMAX_FLOAT, 2, extents, nullptr};
  kokkossoftmax_options options;
  kokkossoftmax_options_init(&options);
  options.algorithm = KOKKOSSOFTMAX_ALGORITHM_SPLIT_ONLINE;
  const std::size_t before = TestFixture::workspaces().count();
  ASSERT_EQ(
      kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, KOKKOSSOFTMAX_DEVICE, stream, &tx, &ty, &options),
      0)
      << kokkossoftmax_last_error();
  const std::size_t with = TestFixture::workspaces().count();
  ASSERT_EQ(kokkossoftmax_release_stream(KOKKOSSOFTMAX_DEVICE, stream), 0);
  EXPECT_EQ(TestFixture::workspaces().count(), with - 1);
  EXPECT_LE(with, before + 1);
  cudaStreamDestroy(stream);
}

// An instance can't be made while its stream is being captured.
TYPED_TEST(Queues, CapturedStreamWithoutAnInstance) {
  cudaStream_t stream = nullptr;
  expect_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const Kokkos::View<float*, Kokkos::CudaSpace> x("x", 100), y("y", 100);
  const std::int64_t extents[] = {100};
  const kokkossoftmax_tensor tx{x.data(), KOKKOSSOFTMAX_FLOAT, 1, extents, nullptr};
  const kokkossoftmax_tensor ty{y.data(), KOKKOSSOFTMAX_FLOAT, 1, extents, nullptr};
  const auto apply = [&] {
    return kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, KOKKOSSOFTMAX_DEVICE, stream, &tx, &ty,
                               nullptr);
  };
  int status = 0;
  {
    const CapturedGraph graph(stream, [&] { status = apply(); });
  }
  EXPECT_EQ(status, KOKKOSSOFTMAX_INVALID_ARGUMENT);
  EXPECT_NE(std::string(kokkossoftmax_last_error()).find("kokkossoftmax_fence"), std::string::npos);
  EXPECT_EQ(kokkossoftmax_fence(KOKKOSSOFTMAX_DEVICE, stream), 0);
  {
    const CapturedGraph graph(stream, [&] { status = apply(); });
  }
  EXPECT_EQ(status, 0) << kokkossoftmax_last_error();
  EXPECT_EQ(kokkossoftmax_release_stream(KOKKOSSOFTMAX_DEVICE, stream), 0);
  cudaStreamDestroy(stream);
}

/// Memory of the current device. Kokkos' Views can't be allocated on every device.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& values) : m_size(values.size()) {
    expect_cuda(cudaMalloc(&m_data, m_size * sizeof(T)));
    expect_cuda(cudaMemcpy(m_data, values.data(), m_size * sizeof(T), cudaMemcpyHostToDevice));
    expect_cuda(cudaDeviceSynchronize());  // cudaMemcpy can return before the data have arrived
  }
  ~DeviceArray() { cudaFree(m_data); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return m_data; }
  std::vector<T> read() const {
    std::vector<T> values(m_size);
    expect_cuda(cudaMemcpy(values.data(), m_data, m_size * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* m_data = nullptr;
  std::size_t m_size;
};

/// Checks softmax on the current device of the calling thread.
template <class T>
::testing::AssertionResult is_right_on_device(const Kokkos::Cuda& exec, std::size_t columns,
                                              const Options& options) {
  using View = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::CudaSpace,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const auto& sample = normal_sample<T>(3, columns);
  const Extents extents = options.axis == 0 ? Extents{columns, 3} : Extents{3, columns};
  const DeviceArray<T> x(rows_to_tensor(sample.rows.values, extents, options.axis));
  const DeviceArray<T> y(std::vector<T>(3 * columns, T(-1)));
  softmax(exec, View(x.data(), extents[0], extents[1]), View(y.data(), extents[0], extents[1]),
          options);
  exec.fence();
  return is_accurate(Function::softmax, sample.rows, sample.expected,
                     tensor_to_rows(y.read(), extents, options.axis));
}

// One process uses instances of streams of every device, and the legacy stream of each device.
TYPED_TEST(Queues, EveryDevice) {
  int devices = 0, current = 0;
  expect_cuda(cudaGetDeviceCount(&devices));
  expect_cuda(cudaGetDevice(&current));
  if (devices < 2) GTEST_SKIP() << "one device alone";
  for (int pass = 0; pass < 3; ++pass)
    for (int device = 0; device < devices; ++device) {
      expect_cuda(cudaSetDevice(device));
      const StreamInstance own;
      for (const Kokkos::Cuda& exec : {own.exec(), Kokkos::Cuda(cudaStreamLegacy)})
        for (const Algorithm algorithm :
             {Algorithm::automatic, Algorithm::split_online, Algorithm::split, Algorithm::online,
              Algorithm::cluster}) {
          expect_cuda(cudaSetDevice(device));
          EXPECT_TRUE(
              is_right_on_device<typename TypeParam::value>(exec, 40003, {.algorithm = algorithm}))
              << "device " << device << ", " << to_string(algorithm);
        }
      EXPECT_TRUE(is_right_on_device<typename TypeParam::value>(
          own.exec(), 40003, {.axis = 0, .algorithm = Algorithm::split_column}));
      EXPECT_TRUE(is_right_on_device<typename TypeParam::value>(own.exec(), 4003, {.axis = 0}));
    }
  expect_cuda(cudaSetDevice(current));
}

}  // namespace
}  // namespace KokkosSoftmax::Test

#endif
