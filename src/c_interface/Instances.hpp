// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_C_INTERFACE_INSTANCES_HPP
#define KOKKOSSOFTMAX_SRC_C_INTERFACE_INSTANCES_HPP

/// \file
/// From a space and a stream to an execution space instance.

#include <Kokkos_Core.hpp>
#include <c_interface/Status.hpp>
#include <mutex>
#include <type_traits>
#include <unordered_map>

namespace KokkosSoftmax::Impl {

/// The handle that an instance of Exec can be made of; void where there is none.
template <class Exec>
struct StreamOf {
  using type = void;
};
#ifdef KOKKOS_ENABLE_CUDA
template <>
struct StreamOf<Kokkos::Cuda> {
  using type = cudaStream_t;
};
#endif
#ifdef KOKKOS_ENABLE_HIP
template <>
struct StreamOf<Kokkos::HIP> {
  using type = hipStream_t;
};
#endif

template <class Exec>
inline constexpr bool has_streams = !std::is_void_v<typename StreamOf<Exec>::type>;

/// The instances made so far, by stream: making one allocates memory on the GPU and waits for it.
/// Gives them back before Kokkos finalizes.
template <class Exec>
class Instances {
 public:
  /// Never destroyed: at the end of the process the GPU's runtime may be gone already.
  static Instances& singleton() {
    static Instances& instances = *new Instances;
    return instances;
  }

  Exec get(void* stream) {
    const std::lock_guard lock(m_mutex);
    if (const auto found = m_instances.find(stream); found != m_instances.end())
      return found->second;
    if (!m_hooked) {
      Kokkos::push_finalize_hook([this] { clear(); });
      m_hooked = true;
    }
    const Exec exec(static_cast<typename StreamOf<Exec>::type>(stream));
    m_instances.emplace(stream, exec);
    return exec;
  }

  void release(void* stream) {
    const std::lock_guard lock(m_mutex);
    const auto found = m_instances.find(stream);
    if (found == m_instances.end()) return;
    found->second.fence("kokkossoftmax_release_stream");
    m_instances.erase(found);
  }

 private:
  void clear() {
    const std::lock_guard lock(m_mutex);
    m_instances.clear();
  }

  std::mutex m_mutex;
  std::unordered_map<void*, Exec> m_instances;
  bool m_hooked = false;
};

template <class Exec>
Exec instance_of(const char* function, void* stream) {
  if (stream == nullptr) return Exec{};
  if constexpr (has_streams<Exec>)
    return Instances<Exec>::singleton().get(stream);
  else
    throw_status(KOKKOSSOFTMAX_INVALID_ARGUMENT, function, ": stream = ", stream,
                 " is not NULL (the space is ", Exec::name(), ", which has no streams): give NULL");
}

/// Calls `body(std::type_identity<Exec>{})`.
template <class Body>
void with_space(const char* function, int space, const Body& body) {
  if (space == KOKKOSSOFTMAX_DEVICE)
    body(std::type_identity<Kokkos::DefaultExecutionSpace>{});
  else if (space == KOKKOSSOFTMAX_HOST)
    body(std::type_identity<Kokkos::DefaultHostExecutionSpace>{});
  else
    throw_status(KOKKOSSOFTMAX_INVALID_ARGUMENT, function, ": space = ", space,
                 " is unknown (no value of kokkossoftmax_space): give KOKKOSSOFTMAX_DEVICE or "
                 "KOKKOSSOFTMAX_HOST");
}

inline void check_initialized(const char* function) {
  if (!Kokkos::is_initialized())
    throw_status(KOKKOSSOFTMAX_NOT_INITIALIZED, function, ": Kokkos is not initialized (",
                 Kokkos::is_finalized() ? "it is finalized" : "nobody has initialized it",
                 "): call kokkossoftmax_initialize() before, and kokkossoftmax_finalize() after "
                 "all work");
}

/// Calls `body(exec)` with the instance that a space and a stream stand for.
template <class Body>
void with_instance(const char* function, int space, void* stream, const Body& body) {
  with_space(function, space, [&]<class Exec>(std::type_identity<Exec>) {
    check_initialized(function);
    body(instance_of<Exec>(function, stream));
  });
}

}  // namespace KokkosSoftmax::Impl

#endif
