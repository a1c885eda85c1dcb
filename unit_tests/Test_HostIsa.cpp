// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the library knows of the processor of a host. Calls if KOKKOSSOFTMAX_ISA has a wrong value:
// after a call with a right value, it isn't read again, so CTest sets the variable for these tests.

#include <KokkosSoftmax.hpp>
#include <Kokkos_Core.hpp>
#include <cstdlib>
#include <host/Isa.hpp>
#include <string>
#include <support/Throws.hpp>
#include <thread>

namespace KokkosSoftmax::Test {
namespace {

class HostIsaUnknown : public ::testing::Test {
 protected:
  using Exec = Kokkos::DefaultHostExecutionSpace;
  template <class T>
  using Matrix = Kokkos::View<T**, Kokkos::LayoutRight, Exec>;
  template <class T>
  using Vector = Kokkos::View<T*, Exec>;
  static constexpr int rows = 4;
  static constexpr int columns = 6;

  void SetUp() override {
    const char* const value = std::getenv("KOKKOSSOFTMAX_ISA");
    if (value == nullptr || std::string(value) != "mmx")
      GTEST_SKIP() << "KOKKOSSOFTMAX_ISA isn't mmx";
  }

  template <class Call>
  static ::testing::AssertionResult throws(const Call& call) {
    return throws_with({"KOKKOSSOFTMAX_ISA=mmx is unknown", "this library is compiled for "}, call);
  }

  const Matrix<float> x{"x", rows, columns};
  const Matrix<float> y{"y", rows, columns};
  const Matrix<float> dx{"dx", rows, columns};
  const Vector<float> lse{"lse", rows};
  const Vector<float> dlse{"dlse", rows};
  const Vector<int> numbers{"numbers", rows};
};

// A virtual machine with few cores can report the whole cache of a processor with many.
TEST(HostCaches, AreNoLargerThanProcessorsCanUse) {
  constexpr std::int64_t most_per_processor = std::int64_t{32} << 20;
  const std::int64_t processors = std::thread::hardware_concurrency();
  std::int64_t before = 1;
  for (const std::int64_t threads :
       {std::int64_t{1}, std::int64_t{2}, processors, 2 * processors}) {
    const std::int64_t bytes = KokkosSoftmax::Impl::last_level_cache_bytes(threads);
    EXPECT_GE(bytes, before) << threads << " threads";
    EXPECT_LE(bytes, processors * most_per_processor) << threads << " threads";
    before = bytes;
  }
}

TEST_F(HostIsaUnknown, FunctionsThrow) {
  for (const int axis : {0, 1}) {
    EXPECT_TRUE(throws([&] { softmax(Exec{}, x, y, {.axis = axis}); }));
    EXPECT_TRUE(throws([&] { log_softmax(Exec{}, x, y, {.axis = axis}); }));
  }
  EXPECT_TRUE(throws([&] { logsumexp(Exec{}, x, lse); }));
  EXPECT_TRUE(throws([&] { plan_softmax(Exec{}, x, y).execute(x, y); }));
}

TEST_F(HostIsaUnknown, FunctionsWithOperandsThrow) {
  EXPECT_TRUE(throws([&] { softmax(Exec{}, x, y, {}, Operands{.bias = x}); }));
  EXPECT_TRUE(throws([&] { softmax(Exec{}, x, y, {}, Operands{.lengths = numbers}); }));
  EXPECT_TRUE(throws([&] { logsumexp(Exec{}, x, lse, {}, Operands{.weights = x}); }));
}

TEST_F(HostIsaUnknown, GradientsThrow) {
  EXPECT_TRUE(throws([&] { softmax_backward(Exec{}, x, y, dx); }));
  EXPECT_TRUE(throws([&] { logsumexp_backward(Exec{}, x, lse, dlse, dx); }));
  EXPECT_TRUE(throws([&] { cross_entropy(Exec{}, x, numbers, lse); }));
  EXPECT_TRUE(throws([&] { cross_entropy_backward(Exec{}, x, numbers, lse, dlse, dx); }));
}

TEST_F(HostIsaUnknown, FunctionsOfSegmentsThrow) {
  const Vector<float> values("values", rows), dy("dy", rows), result("result", rows);
  const Vector<int> offsets("offsets", 2);
  offsets(1) = rows;
  EXPECT_TRUE(throws([&] { segment_softmax(Exec{}, values, offsets, result); }));
  EXPECT_TRUE(throws([&] { segment_softmax_backward(Exec{}, values, dy, offsets, result); }));
}

TEST_F(HostIsaUnknown, BothAxesThrow) {
  const Vector<float> of_columns("of_columns", columns);
  EXPECT_TRUE(throws([&] { logsumexp_both_axes(Exec{}, x, lse, of_columns); }));
}

}  // namespace
}  // namespace KokkosSoftmax::Test
