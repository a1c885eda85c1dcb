// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_C_INTERFACE_INSTANCES_HPP
#define KOKKOSSOFTMAX_SRC_C_INTERFACE_INSTANCES_HPP

/// \file
/// Finds or makes the execution space instance for a space and a stream.

#include <Kokkos_Core.hpp>
#include <backend/FinalizeHook.hpp>
#include <backend/GraphCapture.hpp>
#include <backend/Queue.hpp>
#include <c_interface/Status.hpp>
#include <launch/QueueMemory.hpp>
#include <launch/SplitWorkspaces.hpp>
#include <map>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

namespace KokkosSoftmax::Impl {

template <class Exec>
inline constexpr bool has_streams = !std::is_void_v<typename StreamOf<Exec>::type>;

/// The instances that have been made, one per queue. They are kept, because making an instance
/// allocates memory on the GPU and waits for it. They are destroyed before Kokkos is finalized.
template <class Exec>
class Instances {
  using Stream = typename StreamOf<Exec>::type;

 public:
  /// Never destroyed, because the GPU's runtime may already be gone at the end of the process.
  static Instances& singleton() {
    static Instances& instances = *new Instances;
    return instances;
  }

  Exec get(const char* function, void* handle) {
    const auto stream = static_cast<Stream>(handle);
    const std::lock_guard lock(m_mutex);
    if (is_captured(stream)) return known_instance(function, handle);
    const QueueId queue = m_known[key_of(handle)] = queue_of_stream(stream);
    if (const auto found = m_instances.find(queue); found != m_instances.end())
      return found->second;
    if (!m_hooked) {
      push_finalize_hook([this] { clear(); });
      m_hooked = true;
    }
    return m_instances.emplace(queue, Exec(stream)).first->second;
  }

  void release(void* handle) {
    const std::lock_guard lock(m_mutex);
    m_known.erase(key_of(handle));
    const auto found = m_instances.find(queue_of_stream(static_cast<Stream>(handle)));
    if (found == m_instances.end()) return;
    found->second.fence("kokkossoftmax_release_stream");
    SplitWorkspaces<Exec>::singleton().release(found->second);
    QueueMemory<Exec>::singleton().release(found->second);
    m_instances.erase(found);
  }

 private:
  /// A handle and, if the handle stands for a stream of the calling thread, that thread.
  using Key = std::pair<void*, std::thread::id>;

  static Key key_of(void* handle) {
    return {handle, is_of_thread(static_cast<Stream>(handle)) ? std::this_thread::get_id()
                                                              : std::thread::id{}};
  }

  /// The instance that the handle had last, because a captured stream can't be asked for its
  /// number.
  Exec known_instance(const char* function, void* handle) const {
    const auto known = m_known.find(key_of(handle));
    const auto found = known == m_known.end() ? m_instances.end() : m_instances.find(known->second);
    if (found == m_instances.end())
      throw_status(KOKKOSSOFTMAX_INVALID_ARGUMENT, function, ": stream = ", handle,
                   " is being captured (the Kokkos instance that the library keeps for a stream "
                   "can't be made during a capture): call kokkossoftmax_fence() with this stream "
                   "before the capture");
    return found->second;
  }

  void clear() {
    const std::lock_guard lock(m_mutex);
    m_instances.clear();
    m_known.clear();
  }

  std::mutex m_mutex;
  std::map<QueueId, Exec> m_instances;
  std::map<Key, QueueId> m_known;
  bool m_hooked = false;
};

template <class Exec>
Exec instance_of(const char* function, void* stream) {
  if (stream == nullptr) return Exec{};
  if constexpr (has_streams<Exec>)
    return Instances<Exec>::singleton().get(function, stream);
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
                 " is unknown (it is not a value of kokkossoftmax_space): give "
                 "KOKKOSSOFTMAX_DEVICE or KOKKOSSOFTMAX_HOST");
}

inline void check_initialized(const char* function) {
  if (!Kokkos::is_initialized())
    throw_status(KOKKOSSOFTMAX_NOT_INITIALIZED, function, ": Kokkos is not initialized (",
                 Kokkos::is_finalized() ? "it is finalized already" : "it was never initialized",
                 "): call kokkossoftmax_initialize() before all other work, and "
                 "kokkossoftmax_finalize() after it");
}

/// Calls `body(exec)` with the instance for a space and a stream.
template <class Body>
void with_instance(const char* function, int space, void* stream, const Body& body) {
  with_space(function, space, [&]<class Exec>(std::type_identity<Exec>) {
    check_initialized(function);
    body(instance_of<Exec>(function, stream));
  });
}

}  // namespace KokkosSoftmax::Impl

#endif
