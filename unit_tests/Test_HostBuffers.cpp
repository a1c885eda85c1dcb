// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The buffers that the threads of a host keep.

#include <gtest/gtest.h>

#include <cstdint>
#include <schedules/HostBuffers.hpp>
#include <thread>

namespace KokkosSoftmax::Test {
namespace {

using KokkosSoftmax::Impl::host_buffer_size, KokkosSoftmax::Impl::host_long_thread_buffer,
    KokkosSoftmax::Impl::host_thread_buffer;

template <class T>
class HostBuffers : public ::testing::Test {
 protected:
  /// A buffer whose first and last elements have been written.
  static T* buffer_of(std::int64_t size) {
    T* const buffer = host_long_thread_buffer<T>(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer) % 64, 0u);
    buffer[0] = buffer[size - 1] = T(1);
    return buffer;
  }
};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(HostBuffers, Types);

TYPED_TEST(HostBuffers, GrowAndStay) {
  TestFixture::buffer_of(100);
  TestFixture::buffer_of(host_buffer_size + 1);
  TypeParam* const longest = TestFixture::buffer_of(host_buffer_size * 4);
  EXPECT_NE(longest, host_thread_buffer<TypeParam>());
  EXPECT_EQ(TestFixture::buffer_of(host_buffer_size * 2), longest);
}

TYPED_TEST(HostBuffers, BelongToThreads) {
  TypeParam* const mine = TestFixture::buffer_of(host_buffer_size * 2);
  TypeParam* other = nullptr;
  std::thread([&] { other = TestFixture::buffer_of(host_buffer_size * 2); }).join();
  EXPECT_NE(other, mine);
}

}  // namespace
}  // namespace KokkosSoftmax::Test
