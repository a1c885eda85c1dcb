// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_HOSTTHREADS_HPP
#define KOKKOSSOFTMAX_TEST_HOSTTHREADS_HPP

/// \file
/// Several host threads that make calls at the same time, each on an instance of its own.

#include <Kokkos_Core.hpp>
#include <barrier>
#include <cstddef>
#include <thread>
#include <type_traits>
#include <vector>

namespace KokkosSoftmax::Test {

/// Calls body(i) for i in [0, count), each in its own thread. No call begins before all threads
/// have started.
template <class Body>
void on_host_threads(int count, const Body& body) {
  std::barrier start(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      body(i);
    });
  for (std::thread& thread : threads) thread.join();
}

/// Returns one instance per thread. They are fewer than `count` if Kokkos can't make so many:
/// Kokkos::Threads has only one.
template <class Exec>
std::vector<Exec> instances_for(int count) {
  const Exec exec;
#ifdef KOKKOS_ENABLE_OPENMP
  if constexpr (std::is_same_v<Exec, Kokkos::OpenMP>)
    if (exec.concurrency() < count) {
      std::vector<Exec> instances;
      for (int i = 0; i < count; ++i) instances.emplace_back(1);
      return instances;
    }
#endif
  auto instances = Kokkos::Experimental::partition_space(
      exec, std::vector<int>(static_cast<std::size_t>(count), 1));
  for (std::size_t i = 1; i < instances.size(); ++i)
    if (instances[i] == instances[0]) return {exec};
  return instances;
}

}  // namespace KokkosSoftmax::Test

#endif
