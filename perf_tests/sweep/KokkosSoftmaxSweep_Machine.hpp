// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_MACHINE_HPP
#define KOKKOSSOFTMAXSWEEP_MACHINE_HPP

#include <string>

namespace KokkosSoftmaxSweep {

/// The machine that the numbers were measured on, for the JSON and the titles of the plots.
struct Machine {
  std::string backend;         ///< for example "Cuda"
  std::string device;          ///< of the GPU or CPU
  std::string kokkos_version;  ///< for example "4.7.0"
  bool on_host;
};

/// The machine of Kokkos' default execution space.
Machine this_machine();

}  // namespace KokkosSoftmaxSweep

#endif
