// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_DEVICE_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_DEVICE_HPP

/// \file
/// The device of an execution space instance, and its properties. A process can use several
/// devices: instances of Kokkos::Cuda can be made from streams of any of them.

#include <Kokkos_Core.hpp>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace KokkosSoftmax::Impl {

template <class Exec>
inline constexpr bool is_host_space =
    std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;

#if defined(KOKKOS_ENABLE_CUDA)
template <class Exec>
inline constexpr bool is_cuda = std::is_same_v<Exec, Kokkos::Cuda>;
#else
template <class Exec>
inline constexpr bool is_cuda = false;
#endif

#if defined(KOKKOS_ENABLE_HIP)
template <class Exec>
inline constexpr bool is_hip = std::is_same_v<Exec, Kokkos::HIP>;
#else
template <class Exec>
inline constexpr bool is_hip = false;
#endif

/// The device number of the instance; 0 for spaces whose devices have no numbers.
template <class Exec>
int device_number([[maybe_unused]] const Exec& exec) {
  if constexpr (is_cuda<Exec>)
    return exec.cuda_device();
  else if constexpr (is_hip<Exec>)
    return exec.hip_device();
  else
    return 0;
}

/// One value per device, computed when the value for the device is first requested.
template <class Value>
class PerDevice {
 public:
  /// Returns the value for the device of `exec`. Calls compute() if there is no value yet.
  /// \throws std::runtime_error if the number of the device is max_devices or larger
  template <class Exec, class Compute>
  const Value& of(const Exec& exec, const Compute& compute) {
    const auto device = static_cast<std::size_t>(device_number(exec));
    if (device < max_devices)
      if (const Value* known = m_known[device].load(std::memory_order_acquire)) return *known;
    return compute_for(device, compute);
  }

 private:
  static constexpr std::size_t max_devices = 64;

  template <class Compute>
  const Value& compute_for(std::size_t device, const Compute& compute) {
    if (device >= max_devices)
      throw std::runtime_error("KokkosSoftmax: the device has the number " +
                               std::to_string(device) + " (the library keeps limits for " +
                               std::to_string(max_devices) +
                               " devices): make fewer devices visible to the process");
    const std::lock_guard lock(m_mutex);
    if (m_known[device].load(std::memory_order_relaxed) == nullptr) {
      m_value[device] = std::make_unique<const Value>(compute());
      m_known[device].store(m_value[device].get(), std::memory_order_release);
    }
    return *m_value[device];
  }

  std::mutex m_mutex;
  std::array<std::atomic<const Value*>, max_devices> m_known{};
  std::array<std::unique_ptr<const Value>, max_devices> m_value;
};

[[noreturn]] inline void throw_no_properties(const char* backend, int device) {
  throw std::runtime_error(std::string("KokkosSoftmax: ") + backend +
                           " doesn't tell the properties of device " + std::to_string(device) +
                           " (the device may be lost): restart the process");
}

// The properties of the instance's device. Kokkos' own cuda_device_prop() and hip_device_prop()
// describe the device that Kokkos was initialized with.
#if defined(KOKKOS_ENABLE_CUDA)
inline const cudaDeviceProp& device_properties(const Kokkos::Cuda& exec) {
  static PerDevice<cudaDeviceProp> properties;
  return properties.of(exec, [&] {
    cudaDeviceProp of_device{};
    if (cudaGetDeviceProperties(&of_device, exec.cuda_device()) != cudaSuccess)
      throw_no_properties("CUDA", exec.cuda_device());
    return of_device;
  });
}
#endif

#if defined(KOKKOS_ENABLE_HIP)
inline const hipDeviceProp_t& device_properties(const Kokkos::HIP& exec) {
  static PerDevice<hipDeviceProp_t> properties;
  return properties.of(exec, [&] {
    hipDeviceProp_t of_device{};
    if (hipGetDeviceProperties(&of_device, exec.hip_device()) != hipSuccess)
      throw_no_properties("HIP", exec.hip_device());
    return of_device;
  });
}
#endif

}  // namespace KokkosSoftmax::Impl

#endif
