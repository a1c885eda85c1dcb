// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_ARCHITECTURE_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_ARCHITECTURE_HPP

/// \file
/// The names of the architectures of GPUs, as the compilers write them: "sm_90" (CUDA), "gfx90a"
/// (HIP). GPUs of different vendors can't have the same name.

#include <backend/Device.hpp>
#include <string>
#include <string_view>

namespace KokkosSoftmax::Impl {

/// The architecture of a CUDA device with the compute capability `major`.`minor`.
inline std::string cuda_architecture(int major, int minor) {
  return "sm_" + std::to_string(10 * major + minor);
}

/// The architecture of a HIP device. `name` is its gcnArchName, which has features after the name:
/// "gfx90a:sramecc+:xnack-".
inline std::string hip_architecture(std::string_view name) {
  return std::string(name.substr(0, name.find(':')));
}

/// The architecture of the instance's device; empty for hosts and for GPUs without a name.
template <class Exec>
const std::string& architecture([[maybe_unused]] const Exec& exec) {
  static PerDevice<std::string> of_device;
  return of_device.of(exec, [&]() -> std::string {
    if constexpr (is_cuda<Exec>) {
      const auto& device = device_properties(exec);
      return cuda_architecture(device.major, device.minor);
    } else if constexpr (is_hip<Exec>) {
      return hip_architecture(device_properties(exec).gcnArchName);
    } else {
      return {};
    }
  });
}

}  // namespace KokkosSoftmax::Impl

#endif
