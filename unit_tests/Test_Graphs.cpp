// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that are captured into CUDA graphs (docs/graphs.md). They are right at each launch of the
// graph, on any stream, and concurrently with other graphs and calls.

#include <backend/GraphCapture.hpp>
#include <launch/SplitWorkspaces.hpp>
#include <support/Check.hpp>
#include <support/CudaStreams.hpp>
#include <support/Watchdog.hpp>
#include <thread>

#if defined(KOKKOS_ENABLE_CUDA)

namespace KokkosSoftmax::Test {
namespace {

template <class C>
class Graphs : public ::testing::Test {
 protected:
  using T = typename C::value;
  using Exec = Kokkos::Cuda;
  using Right = Kokkos::LayoutRight;

  /// A call with its own memory.
  struct Operands {
    const Sample<T>& sample;
    Case c;
    Field<T, Exec> x, y;

    Operands(std::size_t count, std::size_t columns, const Options& options)
        : sample(normal_sample<T>(count, columns)),
          c{.extents = options.axis == 0 ? Extents{columns, count} : Extents{count, columns},
            .options = options},
          x(place_right(c.extents)),
          y(place_right(c.extents)) {
      x.assign(rows_to_tensor(sample.rows.values, c.extents, options.axis));
    }
    void call_on(const Exec& exec) const {
      softmax(exec, x.template view<Right, 2, const T>(), y.template view<Right, 2>(), c.options);
    }
    ::testing::AssertionResult is_right() const {
      return check_output(c, sample.rows, sample.expected, y);
    }
  };

  /// Options for three rows, contiguous or strided, that teams divide among them and exchange
  /// results.
  static std::vector<Options> split_options() {
    return {{.axis = 0, .algorithm = Algorithm::two_pass_column},
            {.axis = 1, .algorithm = Algorithm::split_online},
            {.axis = 1, .algorithm = Algorithm::split},
            {.axis = 0, .algorithm = Algorithm::split_column}};
  }

  static void replay_beside_eager_calls(const Options& options, int replays) {
    const StreamInstance a, b, c;
    const Operands first(3, 40003, options), second(3, 50001, options), eager(3, 40003, options);
    const CapturedGraph of_first(a.stream(), [&] { first.call_on(a.exec()); });
    eager.call_on(a.exec());  // makes the workspace of the stream
    const CapturedGraph of_second(a.stream(), [&] { second.call_on(a.exec()); });
    for (int k = 0; k < replays; ++k) {
      of_first.launch(k % 3 == 0 ? a.stream() : b.stream());
      of_second.launch(c.stream());
      eager.call_on(a.exec());
      if (k % 1000 == 999) expect_cuda(cudaDeviceSynchronize());
    }
    expect_cuda(cudaDeviceSynchronize());
    EXPECT_TRUE(first.is_right());
    EXPECT_TRUE(second.is_right());
    EXPECT_TRUE(eager.is_right());
  }

  const Watchdog m_watchdog{std::chrono::seconds(120)};
};
TYPED_TEST_SUITE(Graphs, OverSpaces<TypeList<Kokkos::Cuda>>::values::types, ConfigName);

TYPED_TEST(Graphs, ReplayBesideEagerCalls) {
  for (const Options& options : TestFixture::split_options())
    TestFixture::replay_beside_eager_calls(options, 2000);
}

// Tests the schedules that the library chooses for all kinds of shapes. No call is made before the
// capture.
TYPED_TEST(Graphs, EveryShape) {
  const StreamInstance a, b;
  for (const int axis : {0, 1})
    for (const std::size_t columns : {7, 33, 1025, 12671, 32768, 100003}) {
      const typename TestFixture::Operands operands(5, columns, {.axis = axis});
      const CapturedGraph cold(a.stream(), [&] { operands.call_on(a.exec()); });
      cold.launch(b.stream());
      b.exec().fence();
      EXPECT_TRUE(operands.is_right());
    }
}

// The first call of a process, if the test runs alone. On a stream that synchronizes with the
// legacy stream, it is refused, and the capture goes on.
TYPED_TEST(Graphs, FirstCallOfAProcess) {
  const typename TestFixture::Operands operands(5, 1025, {});
  const StreamInstance a(cudaStreamNonBlocking);
  const CapturedGraph graph(a.stream(), [&] { operands.call_on(a.exec()); });
  graph.launch(a.stream());
  a.exec().fence();
  EXPECT_TRUE(operands.is_right());
}
TYPED_TEST(Graphs, FirstCallOfAProcessOnBlockingStream) {
  const typename TestFixture::Operands operands(5, 1025, {});
  const StreamInstance a(cudaStreamDefault);
  const auto capture_and_check = [&] {
    const CapturedGraph graph(a.stream(), [&] { operands.call_on(a.exec()); });
    graph.launch(a.stream());
    a.exec().fence();
    EXPECT_TRUE(operands.is_right());
  };
  bool is_refused = false;
  const CapturedGraph graph(a.stream(), [&] {
    try {
      operands.call_on(a.exec());
    } catch (const std::runtime_error& error) {
      is_refused = true;
      EXPECT_NE(std::string(error.what()).find("docs/graphs.md"), std::string::npos);
    }
  });
  if (is_refused) operands.call_on(a.exec());
  capture_and_check();
}

// The plan was made before the capture.
TYPED_TEST(Graphs, Plan) {
  const StreamInstance a, b;
  for (const Options& options : TestFixture::split_options()) {
    const typename TestFixture::Operands operands(3, 40003, options);
    const auto x =
        operands.x.template view<Kokkos::LayoutRight, 2, const typename TypeParam::value>();
    const auto y = operands.y.template view<Kokkos::LayoutRight, 2>();
    const auto plan = plan_softmax(a.exec(), x, y, options);
    const CapturedGraph graph(a.stream(), [&] { plan.execute(x, y); });
    for (int k = 0; k < 10; ++k) graph.launch(b.stream());
    b.exec().fence();
    EXPECT_TRUE(operands.is_right());
  }
}

// The memory of a graph is reused after the graph is destroyed.
TYPED_TEST(Graphs, ManyGraphs) {
  const StreamInstance a, b;
  const typename TestFixture::Operands operands(3, 40003, {.algorithm = Algorithm::split_online});
  const auto allocations = [] {
    return KokkosSoftmax::Impl::GraphMemory::singleton().allocations();
  };
  std::size_t before = 0;
  for (int k = 0; k < 300; ++k) {
    if (k == 10) before = allocations();
    const CapturedGraph graph(a.stream(), [&] { operands.call_on(a.exec()); });
    graph.launch(b.stream());
    b.exec().fence();
  }
  EXPECT_TRUE(operands.is_right());
  EXPECT_LT(allocations(), before + 10);  // CUDA gives memory back some time after the destruction
}

// While one thread captures, another thread makes its first call, which allocates a workspace.
TYPED_TEST(Graphs, FirstCallOfAnotherThread) {
  expect_cuda(cudaDeviceSynchronize());
  KokkosSoftmax::Impl::SplitWorkspaces<Kokkos::Cuda>::singleton().clear();
  const StreamInstance a, b;
  const typename TestFixture::Operands captured(3, 40003, {.algorithm = Algorithm::split_online});
  const typename TestFixture::Operands eager(3, 40003, {.algorithm = Algorithm::split_online});
  const CapturedGraph graph(a.stream(), [&] {
    std::thread([&] { eager.call_on(b.exec()); }).join();
    captured.call_on(a.exec());
  });
  graph.launch(b.stream());
  b.exec().fence();
  EXPECT_TRUE(eager.is_right());
  EXPECT_TRUE(captured.is_right());
}

template <class C>
class SlowGraphs : public Graphs<C> {};
TYPED_TEST_SUITE(SlowGraphs, OverSpaces<TypeList<Kokkos::Cuda>>::values::types, ConfigName);

TYPED_TEST(SlowGraphs, HundredThousandReplays) {
  for (const Options& options : TestFixture::split_options())
    TestFixture::replay_beside_eager_calls(options, 50000);  // replays of each of two graphs
}

}  // namespace
}  // namespace KokkosSoftmax::Test

#endif
