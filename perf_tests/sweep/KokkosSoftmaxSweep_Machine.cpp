// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSoftmaxSweep_Machine.hpp>
#include <Kokkos_Core.hpp>
#include <fstream>
#include <string>

namespace KokkosSoftmaxSweep {
namespace {

using Exec = Kokkos::DefaultExecutionSpace;

/// For example "Intel(R) Xeon(R) ..., 2 threads".
[[maybe_unused]] std::string processor_name() {
  std::string name = "CPU";
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);)
    if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos) {
      name = line.substr(line.find(": ") + 2);
      break;
    }
  return name + ", " + std::to_string(Exec().concurrency()) + " threads";
}

std::string device_name() {
#if defined(KOKKOS_ENABLE_CUDA)
  return Kokkos::Cuda().cuda_device_prop().name;
#elif defined(KOKKOS_ENABLE_HIP)
  return Kokkos::HIP().hip_device_prop().name;
#else
  return processor_name();
#endif
}

}  // namespace

Machine this_machine() {
  const std::string version = std::to_string(KOKKOS_VERSION / 10000) + "." +
                              std::to_string(KOKKOS_VERSION / 100 % 100) + "." +
                              std::to_string(KOKKOS_VERSION % 100);
  const bool on_host = std::is_same_v<Exec::memory_space, Kokkos::HostSpace>;
  return {Exec::name(), device_name(), version, on_host};
}

}  // namespace KokkosSoftmaxSweep
