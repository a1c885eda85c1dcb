// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_TIMING_HPP
#define KOKKOSSOFTMAXSWEEP_TIMING_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>
#include <type_traits>
#include <vector>

namespace KokkosSoftmaxSweep {

/// The pause before each batch. A GPU under load for longer than some milliseconds may lower its
/// clock to stay below its power limit. With rests between the batches, they run at full clock.
using Rest = std::chrono::duration<double>;

/// Leaves the device idle for a while, and wakes it by one launch that isn't timed.
template <class Exec, class Launch>
void rest_before(const Exec& exec, const Launch& launch, Rest rest) {
  if (rest <= Rest::zero()) return;
  exec.fence();
  std::this_thread::sleep_for(rest);
  launch();
}

/// The time of `launches` launches back to back, from an idle instance to an idle instance.
template <class Exec, class Launch>
double seconds_of(const Exec& exec, const Launch& launch, int launches) {
  exec.fence();
  const Kokkos::Timer timer;
  for (int i = 0; i < launches; ++i) launch();
  exec.fence();
  return timer.seconds();
}

/// Whether Exec runs on the processors that also run all other programs.
template <class Exec>
inline constexpr bool is_host = std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;

/// The number of launches to time as one batch. One launch must have been made before, which loaded
/// the kernel.
///
/// On a GPU, a batch takes two milliseconds, so that the fence and the first launch (some 10
/// microseconds) are below one percent. The gaps between launches that remain in a batch of very
/// short kernels are part of what a user sees, and are included.
///
/// On a host, a batch takes a fifth of a millisecond. A fence costs less than a microsecond there,
/// and a batch that is far shorter than a slice of the scheduler (some milliseconds) can run
/// undisturbed between two of them.
template <class Exec, class Launch>
int batch_size(const Exec& exec, const Launch& launch) {
  constexpr double wanted = is_host<Exec> ? 2e-4 : 2e-3;
  double estimate = seconds_of(exec, launch, 1);
  if constexpr (is_host<Exec>) {  // again: the first batch may be a short one that was disturbed
    double total = estimate;
    for (int i = 0; i < 4 && total < 0.02; ++i) {
      const double again = seconds_of(exec, launch, 1);
      total += again;
      estimate = std::min(estimate, again);
    }
  } else {
    if (estimate < wanted) estimate = seconds_of(exec, launch, 4) / 4;
  }
  return static_cast<int>(std::clamp(wanted / estimate, 1.0, 1000.0));
}

/// The middle one: a single batch that another process disturbed does not change it.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

inline double fastest(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

/// The time of the median batch divided by that of the fastest one: 1 if nothing disturbed them.
inline double scatter(const std::vector<double>& batches) {
  return median(batches) / fastest(batches);
}

/// Above this, a time is marked in the tables.
inline constexpr double most_scatter = 1.2;

/// The time that is reported. On a GPU it is the median batch, because the clock of a GPU goes up
/// as well as down. On a host it is the fastest batch: other programs can only add to a time, and
/// on a machine that isn't idle they add to most batches.
template <class Exec>
double time_of(const std::vector<double>& batches) {
  return is_host<Exec> ? fastest(batches) : median(batches);
}

/// Whether a host should time another batch: at least 25, unless they take more than half a second.
template <class Exec>
bool wants_more(std::size_t batches, double seconds) {
  return is_host<Exec> && batches < 25 && seconds < 0.5;
}

/// The times of one launch in a few batches; more batches on a host.
template <class Exec, class Launch>
std::vector<double> seconds_of_batches(const Exec& exec, const Launch& launch,
                                       Rest rest = Rest::zero()) {
  launch();
  const int launches = batch_size(exec, launch);
  std::vector<double> seconds;
  double total = 0;
  while (seconds.size() < 7 || wants_more<Exec>(seconds.size(), total)) {
    rest_before(exec, launch, rest);
    const double batch = seconds_of(exec, launch, launches);
    seconds.push_back(batch / launches);
    total += batch;
  }
  return seconds;
}

/// The time of one launch in the median of these batches.
template <class Exec, class Launch>
double median_seconds(const Exec& exec, const Launch& launch, Rest rest = Rest::zero()) {
  return median(seconds_of_batches(exec, launch, rest));
}

/// The times of one launch of each call in the median of its batches. The calls have their batches
/// in turn, so that whatever disturbs the machine for a while disturbs all of them.
template <class Exec>
std::vector<double> median_seconds_in_turn(const Exec& exec,
                                           const std::vector<std::function<void()>>& calls) {
  constexpr int runs = 11;
  std::vector<int> launches;
  for (const auto& call : calls) {
    call();
    launches.push_back(batch_size(exec, call));
  }
  std::vector<std::vector<double>> seconds(calls.size());
  for (int run = 0; run < runs; ++run)
    for (std::size_t c = 0; c < calls.size(); ++c)
      seconds[c].push_back(seconds_of(exec, calls[c], launches[c]) / launches[c]);
  std::vector<double> medians;
  for (const auto& batches : seconds) medians.push_back(median(batches));
  return medians;
}

}  // namespace KokkosSoftmaxSweep

#endif
