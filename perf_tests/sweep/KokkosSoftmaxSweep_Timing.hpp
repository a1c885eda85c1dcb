// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_TIMING_HPP
#define KOKKOSSOFTMAXSWEEP_TIMING_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace KokkosSoftmaxSweep {

/// For how long nothing runs before each batch. A GPU under load for longer than some milliseconds
/// may lower its clock to stay below its limit of power; with rests between, batches run at full
/// clock.
using Rest = std::chrono::duration<double>;

/// Leaves the device idle for a while, and wakes it by one launch that isn't timed.
template <class Exec, class Launch>
void rest_before(const Exec& exec, const Launch& launch, Rest rest) {
  if (rest <= Rest::zero()) return;
  exec.fence();
  std::this_thread::sleep_for(rest);
  launch();
}

/// Time of `launches` launches back to back, from an idle instance to an idle instance.
template <class Exec, class Launch>
double seconds_of(const Exec& exec, const Launch& launch, int launches) {
  exec.fence();
  const Kokkos::Timer timer;
  for (int i = 0; i < launches; ++i) launch();
  exec.fence();
  return timer.seconds();
}

/// How many launches to time as one batch: enough for two milliseconds, so that the fence and the
/// first launch (some 10 microseconds on a GPU) are below one percent. The gaps between launches
/// that remain in a batch of very short kernels belong to what a user sees and stay in. Expects one
/// launch to have been made before, which loaded the kernel.
template <class Exec, class Launch>
int batch_size(const Exec& exec, const Launch& launch) {
  const double wanted = 2e-3;
  double estimate = seconds_of(exec, launch, 1);
  if (estimate < wanted) estimate = seconds_of(exec, launch, 4) / 4;
  return static_cast<int>(std::clamp(wanted / estimate, 1.0, 1000.0));
}

/// The middle one: not moved by the odd batch that another process disturbed.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The time of one launch in the median of a few batches.
template <class Exec, class Launch>
double median_seconds(const Exec& exec, const Launch& launch, Rest rest = Rest::zero()) {
  launch();
  const int launches = batch_size(exec, launch);
  std::vector<double> seconds(7);
  for (double& s : seconds) {
    rest_before(exec, launch, rest);
    s = seconds_of(exec, launch, launches) / launches;
  }
  return median(seconds);
}

}  // namespace KokkosSoftmaxSweep

#endif
