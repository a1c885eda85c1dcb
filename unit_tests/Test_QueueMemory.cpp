// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory between the kernels of a call of logsumexp_both_axes: which calls share it, when it
// is allocated, and when it is freed. Calls at the same time are right, on streams, in threads and
// in graphs.

#include <support/BothAxes.hpp>
#include <support/CudaStreams.hpp>
#include <support/HostThreads.hpp>
#include <support/Recorder.hpp>
#include <support/Watchdog.hpp>

namespace KokkosSoftmax::Test {
namespace {

template <class C>
class QueueMemories : public ::testing::Test {
 protected:
  using T = typename C::value;
  using Exec = typename C::exec;
  using Call = BothAxesCall<Exec, T>;
  using Sample = BothAxesSample<T>;

  static auto& memory() { return KokkosSoftmax::Impl::QueueMemory<Exec>::singleton(); }

  /// Enqueues a call whose kernels use the memory: on hosts, that of the kernels for GPUs.
  static void enqueue(const Exec& exec, const Call& call, double scale = 1) {
    if constexpr (is_host_space<Exec>)
      call.template run_panels<1>(exec, scale);
    else
      call.run(exec, scale);
  }

  /// The address that a lease has.
  static void* leased(const Exec& exec, std::size_t bytes) {
    return memory().lease(exec, bytes).data();
  }

  const Watchdog m_watchdog{std::chrono::seconds(120)};
};
TYPED_TEST_SUITE(QueueMemories, ValueConfigs, ConfigName);

TYPED_TEST(QueueMemories, IsKeptAndGrowsWithoutAFence) {
  using Exec = typename TypeParam::exec;
  const Exec exec;
  exec.fence();
  TestFixture::memory().clear();
  void* const small = TestFixture::leased(exec, 100);
  EXPECT_EQ(TestFixture::leased(exec, 100), small);
  void* large = nullptr;
  const Events events = record([&] { large = TestFixture::leased(exec, 10'000'000); });
  EXPECT_NE(large, small);
  EXPECT_EQ(events.allocations.size(), 1u);
  EXPECT_EQ(events.fences, std::vector<std::string>{});
  const Events again = record([&] { EXPECT_EQ(TestFixture::leased(exec, 10'000'000), large); });
  EXPECT_EQ(again.allocations, std::vector<std::string>{});
  EXPECT_EQ(TestFixture::memory().count(), 1u);
  TestFixture::memory().clear();
  EXPECT_EQ(TestFixture::memory().count(), 0u);
}

// No fence is between the calls, and the memory of the small ones is still in use when that of the
// large ones is allocated.
TYPED_TEST(QueueMemories, GrowingMatrices) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Exec exec;
  exec.fence();
  TestFixture::memory().clear();
  std::vector<BothAxesSample<T>> samples;
  std::vector<BothAxesCall<Exec, T>> calls;
  for (const std::size_t rows : {10, 100, 1000}) {
    samples.emplace_back(normal_rows<T>(rows, 1500));
    calls.emplace_back(samples.back().rows);
  }
  for (const auto& call : calls) TestFixture::enqueue(exec, call);
  exec.fence();
  for (std::size_t i = 0; i < calls.size(); ++i) EXPECT_TRUE(calls[i].is_right(samples[i]));
}

// Each thread has another scale, so that the results of one thread are wrong for another.
TYPED_TEST(QueueMemories, ThreadsWithInstancesOfTheirOwn) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  constexpr int threads = 4;
  const auto instances = instances_for<Exec>(threads);
  if (instances.size() < threads) GTEST_SKIP() << Exec::name() << " has one instance alone";
  std::vector<BothAxesSample<T>> samples;
  std::vector<BothAxesCall<Exec, T>> calls;
  for (int i = 0; i < threads; ++i) {
    samples.emplace_back(normal_rows<T>(57, 701), 0.25 * (i + 1));
    calls.emplace_back(samples.back().rows);
  }
  Kokkos::fence();
  on_host_threads(threads, [&](int i) {
    const auto n = static_cast<std::size_t>(i);
    for (int k = 0; k < 100; ++k) TestFixture::enqueue(instances[n], calls[n], samples[n].scale);
    instances[n].fence();
  });
  for (std::size_t i = 0; i < threads; ++i) EXPECT_TRUE(calls[i].is_right(samples[i]));
}

TYPED_TEST(QueueMemories, LeasesAtTheSameTimeOnAHost) {
  using Exec = typename TypeParam::exec;
  if constexpr (KokkosSoftmax::Impl::is_synchronous<Exec>) {
    const Exec exec;
    const auto first = TestFixture::memory().lease(exec, 100);
    const auto second = TestFixture::memory().lease(exec, 100);
    EXPECT_NE(first.data(), second.data());
  }
}

#if defined(KOKKOS_ENABLE_CUDA)

template <class C>
class StreamMemories : public QueueMemories<C> {
 protected:
  using typename QueueMemories<C>::Call;
  using typename QueueMemories<C>::Sample;

  static Sample sample(double scale) {
    return Sample(normal_rows<typename C::value>(100, 1030), scale);
  }
};
TYPED_TEST_SUITE(StreamMemories, OverSpaces<TypeList<Kokkos::Cuda>>::values::types, ConfigName);

TYPED_TEST(StreamMemories, OnePerStream) {
  const StreamInstance a, b;
  const Kokkos::Cuda again(a.stream());
  void* const of_a = TestFixture::leased(a.exec(), 100);
  EXPECT_NE(TestFixture::leased(b.exec(), 100), of_a);
  EXPECT_EQ(TestFixture::leased(again, 100), of_a);
  const std::size_t before = TestFixture::memory().count();
  a.exec().fence();
  TestFixture::memory().release(a.exec());
  EXPECT_EQ(TestFixture::memory().count(), before - 1);
}

// Streams are created and destroyed, and CUDA reuses their handles.
TYPED_TEST(StreamMemories, ManyStreams) {
  constexpr std::size_t kept = 16;  // see QueueMemory
  const auto sample = TestFixture::sample(1);
  for (int k = 0; k < 100; ++k) {
    const StreamInstance stream(k % 2 == 0 ? cudaStreamNonBlocking : cudaStreamDefault);
    const typename TestFixture::Call call(sample.rows);
    for (int c = 0; c < 3; ++c) TestFixture::enqueue(stream.exec(), call);
    stream.exec().fence();
    EXPECT_TRUE(call.is_right(sample));
  }
  EXPECT_LE(TestFixture::memory().count(), kept);
}

// The kernels of the calls of two threads on one stream must not mix.
TYPED_TEST(StreamMemories, ThreadsOnOneStream) {
  const StreamInstance stream;
  const auto a = TestFixture::sample(1), b = TestFixture::sample(-0.5);
  const typename TestFixture::Call of_a(a.rows), of_b(b.rows);
  on_host_threads(2, [&](int i) {
    expect_cuda(cudaSetDevice(stream.exec().cuda_device()));
    const Kokkos::Cuda exec(stream.stream());
    for (int k = 0; k < 300; ++k)
      TestFixture::enqueue(exec, i == 0 ? of_a : of_b, i == 0 ? a.scale : b.scale);
    exec.fence();
  });
  EXPECT_TRUE(of_a.is_right(a));
  EXPECT_TRUE(of_b.is_right(b));
}

// Each graph has memory of its own. The first call of the stream is captured.
TYPED_TEST(StreamMemories, GraphsBesideEagerCalls) {
  const StreamInstance a, b, c;
  const auto first = TestFixture::sample(1), second = TestFixture::sample(-0.5);
  const typename TestFixture::Call of_first(first.rows), of_second(second.rows), eager(first.rows);
  const CapturedGraph first_graph(a.stream(), [&] { of_first.run(a.exec(), first.scale); });
  eager.run(a.exec());
  const CapturedGraph second_graph(a.stream(), [&] { of_second.run(a.exec(), second.scale); });
  for (int k = 0; k < 1000; ++k) {
    first_graph.launch(k % 3 == 0 ? a.stream() : b.stream());
    second_graph.launch(c.stream());
    eager.run(a.exec());
  }
  expect_cuda(cudaDeviceSynchronize());
  EXPECT_TRUE(of_first.is_right(first));
  EXPECT_TRUE(of_second.is_right(second));
  EXPECT_TRUE(eager.is_right(first));
}

// While one thread captures, another thread makes the first calls on so many streams that memory is
// allocated and freed.
TYPED_TEST(StreamMemories, FirstCallsOfAnotherThread) {
  using Call = typename TestFixture::Call;
  expect_cuda(cudaDeviceSynchronize());
  TestFixture::memory().clear();
  const StreamInstance a;
  const std::vector<StreamInstance> others(20);
  const auto sample = TestFixture::sample(1);
  const Call captured(sample.rows);
  std::vector<Call> eager;
  for (std::size_t i = 0; i < others.size(); ++i) eager.emplace_back(sample.rows);
  const CapturedGraph graph(a.stream(), [&] {
    std::thread([&] {
      for (std::size_t i = 0; i < others.size(); ++i) eager[i].run(others[i].exec());
    }).join();
    captured.run(a.exec());
  });
  graph.launch(a.stream());
  expect_cuda(cudaDeviceSynchronize());
  EXPECT_TRUE(captured.is_right(sample));
  for (const Call& call : eager) EXPECT_TRUE(call.is_right(sample));
}

#endif

}  // namespace
}  // namespace KokkosSoftmax::Test
