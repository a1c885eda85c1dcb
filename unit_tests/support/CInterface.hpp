// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_CINTERFACE_HPP
#define KOKKOSSOFTMAX_TEST_CINTERFACE_HPP

/// \file
/// The arguments of kokkossoftmax.h, and the checks of its statuses.

#include <kokkossoftmax.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <support/Check.hpp>

namespace KokkosSoftmax::Test {

/// The spaces of the C interface, which can be one.
using DefaultSpace = Kokkos::DefaultExecutionSpace;
using DefaultHostSpace = Kokkos::DefaultHostExecutionSpace;
using DefaultSpaces =
    std::conditional_t<std::is_same_v<DefaultSpace, DefaultHostSpace>, TypeList<DefaultSpace>,
                       TypeList<DefaultSpace, DefaultHostSpace>>;

template <class Exec>
inline constexpr bool has_c_interface =
    std::is_same_v<Exec, DefaultSpace> || std::is_same_v<Exec, DefaultHostSpace>;

template <class Exec>
inline constexpr int space_of =
    std::is_same_v<Exec, DefaultSpace> ? KOKKOSSOFTMAX_DEVICE : KOKKOSSOFTMAX_HOST;

inline kokkossoftmax_options c_options(const Options& options) {
  kokkossoftmax_options c;
  EXPECT_EQ(kokkossoftmax_options_init(&c), KOKKOSSOFTMAX_SUCCESS);
  c.axis = options.axis;
  c.scale = options.scale;
  c.empty_rows = static_cast<int>(options.empty_rows);
  c.algorithm = static_cast<int>(options.algorithm);
  c.reproducible = options.reproducible;
  return c;
}

/// The options of a caller with a later header, and the memory after them.
struct LaterOptions {
  kokkossoftmax_options known;
  unsigned char more[24];
  unsigned char behind[16];
};
inline constexpr std::size_t later_size = offsetof(LaterOptions, behind);

/// The type of elements of T. Bytes are those of a mask.
template <class T>
inline constexpr int type_of =
    std::is_same_v<T, float>                          ? KOKKOSSOFTMAX_FLOAT
    : std::is_same_v<T, double>                       ? KOKKOSSOFTMAX_DOUBLE
    : std::is_same_v<T, unsigned char>                ? KOKKOSSOFTMAX_BOOL
    : std::is_same_v<T, std::int32_t>                 ? KOKKOSSOFTMAX_INT32
    : std::is_same_v<T, std::int64_t>                 ? KOKKOSSOFTMAX_INT64
    : std::is_same_v<T, Kokkos::Experimental::half_t> ? KOKKOSSOFTMAX_HALF
                                                      : KOKKOSSOFTMAX_BFLOAT16;

/// A tensor that owns its extents and strides.
template <class T>
class Tensor {
 public:
  Tensor(T* data, const Placement& placement)
      : m_extents(placement.extents.begin(), placement.extents.end()),
        m_strides(placement.strides.begin(), placement.strides.end()),
        c{data, type_of<T>, static_cast<int>(m_extents.size()), m_extents.data(),
          m_strides.data()} {}
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

 private:
  std::vector<std::int64_t> m_extents, m_strides;

 public:
  kokkossoftmax_tensor c;
};

inline ::testing::AssertionResult succeeds(int status) {
  if (status == KOKKOSSOFTMAX_SUCCESS) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "status " << status << ": " << kokkossoftmax_last_error();
}

inline ::testing::AssertionResult fails_with(int expected_status,
                                             std::initializer_list<std::string> parts, int status) {
  if (status != expected_status)
    return ::testing::AssertionFailure()
           << "status " << status << " instead of " << expected_status;
  const std::string message = kokkossoftmax_last_error();
  for (const auto& part : parts)
    if (message.find(part) == std::string::npos)
      return ::testing::AssertionFailure() << "no \"" << part << "\" in: " << message;
  return ::testing::AssertionSuccess();
}

}  // namespace KokkosSoftmax::Test

#endif
