// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls the library with the value type that it is built for, from C++ and through the C interface.
#include <kokkossoftmax.h>

#include <KokkosSoftmax.hpp>
#include <cmath>
#include <cstdio>
#include <cstring>

#if defined(CALL_WITH_FLOATS)
using Value = float;
#else
using Value = double;
#endif

namespace {

bool is_half(Value v) { return std::abs(v - Value(0.5)) < Value(1e-12); }

/// A library without tests has the algorithm `host` alone on hosts.
int force_gpu_algorithm_on_host() {
  double numbers[2] = {0, 0};
  const int64_t extent = 2;
  const kokkossoftmax_tensor tensor{numbers, KOKKOSSOFTMAX_DOUBLE, 1, &extent, nullptr};
  kokkossoftmax_options options;
  kokkossoftmax_options_init(&options);
  options.algorithm = KOKKOSSOFTMAX_ALGORITHM_ONLINE;
  const int status = kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, KOKKOSSOFTMAX_HOST, nullptr,
                                         &tensor, &tensor, &options);
  if (status != KOKKOSSOFTMAX_INVALID_ARGUMENT ||
      std::strstr(kokkossoftmax_last_error(), "algorithm = online can't serve") == nullptr) {
    std::printf("online on a host gives status %d\n", status);
    return 1;
  }
  return 0;
}

int call_both() {
  const Kokkos::View<Value**> x("x", 3, 2), y("y", 3, 2);
  KokkosSoftmax::softmax(x, y);
  const auto on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
  if (!is_half(on_host(2, 1))) {
    std::printf("softmax of two zeros is %g, not 0.5\n", on_host(2, 1));
    return 1;
  }
  float numbers[2] = {0, 0};
  const int64_t extent = 2;
  const kokkossoftmax_tensor tensor{numbers, KOKKOSSOFTMAX_FLOAT, 1, &extent, nullptr};
  const int status = kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, KOKKOSSOFTMAX_HOST, nullptr,
                                         &tensor, &tensor, nullptr);
  if (status != KOKKOSSOFTMAX_UNSUPPORTED) {
    std::printf("floats through the C interface give status %d\n", status);
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard guard(argc, argv);
  return call_both() + force_gpu_algorithm_on_host();
}
