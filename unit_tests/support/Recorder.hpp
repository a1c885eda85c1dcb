// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_RECORDER_HPP
#define KOKKOSSOFTMAX_TEST_RECORDER_HPP

/// \file
/// Records what Kokkos does during a call, with Kokkos' callbacks for profiling tools.

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace KokkosSoftmax::Test {

struct Events {
  struct Kernel {
    std::string label;
    std::uint32_t device;  // encodes the execution space and its instance
  };
  std::vector<Kernel> kernels;  // parallel_for, parallel_reduce and parallel_scan
  std::vector<std::string> regions;
  std::vector<std::string> fences;
  std::vector<std::string> allocations;
  std::vector<std::string> copies;
};

/// Records the events of Kokkos from its construction to its destruction. Only one Recorder can
/// exist at a time.
class Recorder {
 public:
  explicit Recorder(Events& events);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

 private:
  Kokkos::Tools::Experimental::EventSet m_before;
};

template <class Body>
Events record(const Body& body) {
  Events events;
  const Recorder recorder(events);
  body();
  return events;
}

}  // namespace KokkosSoftmax::Test

#endif
