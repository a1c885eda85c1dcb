// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_QUEUEMEMORY_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_QUEUEMEMORY_HPP

/// \file
/// Memory in which one kernel leaves intermediate results for the next one on the same queue.

#include <Kokkos_Core.hpp>
#include <backend/FinalizeHook.hpp>
#include <backend/GraphCapture.hpp>
#include <backend/Queue.hpp>
#include <cstddef>
#include <map>
#include <mutex>

namespace KokkosSoftmax::Impl {

/// The memory of the queues of an execution space. A queue keeps its memory, which grows if a call
/// needs more. It is freed when Kokkos is finalized. Graphs own theirs.
template <class Exec>
class QueueMemory {
 public:
  /// Never destroyed, because memory can't be freed after Kokkos has been finalized.
  static QueueMemory& singleton() {
    static QueueMemory& memory = *new QueueMemory;
    return memory;
  }

  /// Calls enqueue(memory), which enqueues kernels that use `bytes` bytes of memory. No other
  /// thread enqueues such kernels meanwhile, so that those of two calls don't mix.
  template <class Enqueue>
  void with(const Exec& exec, std::size_t bytes, const Enqueue& enqueue) {
    if (is_capturing(exec)) return enqueue(memory_of_captured_graph(exec, bytes));
    const std::lock_guard lock(m_mutex);
    enqueue(of_queue(exec, bytes));
  }

  /// Frees the memory of the instance's queue. All work on the queue must be complete.
  void release(const Exec& exec) {
    const std::lock_guard lock(m_mutex);
    m_of_queue.erase(queue_id(exec));
  }

  /// Frees all memory. No kernel may use it.
  void clear() {
    const std::lock_guard lock(m_mutex);
    m_of_queue.clear();
  }

 private:
  using Memory = Kokkos::View<unsigned char*, typename Exec::memory_space>;

  /// Streams are destroyed without notice, so that a new one takes the place of all earlier ones
  /// from time to time. Kokkos waits for the device before it frees memory.
  static constexpr std::size_t most_queues = 16;

  QueueMemory() {
    push_finalize_hook([this] { clear(); });
  }

  void* of_queue(const Exec& exec, std::size_t bytes) {
    if (m_of_queue.size() == most_queues && m_of_queue.count(queue_id(exec)) == 0)
      m_of_queue.clear();
    Memory& memory = m_of_queue[queue_id(exec)];
    if (memory.size() < bytes) {
      const AllocationsDuringCapture allowed;  // of another stream, in this thread or another one
      memory = Memory();                       // frees the smaller one first
      memory = Memory(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing,
                                         "KokkosSoftmax::intermediate results"),
                      bytes);
    }
    return memory.data();
  }

  std::mutex m_mutex;
  std::map<QueueId, Memory> m_of_queue;
};

}  // namespace KokkosSoftmax::Impl

#endif
