// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_QUEUEMEMORY_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_QUEUEMEMORY_HPP

/// \file
/// Memory whose size depends on the problem, from the first kernel of a call to its last one. Which
/// calls share memory is decided as in SplitWorkspaces.hpp: those on one queue, or those on a host
/// of which one begins after the other has ended. A captured call has memory of its graph.

#include <Kokkos_Core.hpp>
#include <backend/Allocation.hpp>
#include <backend/FinalizeHook.hpp>
#include <backend/GraphCapture.hpp>
#include <backend/Queue.hpp>
#include <cstddef>
#include <impl/device/backend/KokkosSoftmax_Intrinsics.hpp>
#include <list>
#include <mutex>
#include <vector>

namespace KokkosSoftmax::Impl {

/// The memory of the queues of an execution space. It is freed when Kokkos is finalized.
template <class Exec>
class QueueMemory {
  struct Memory;

 public:
  /// Never destroyed, because memory can't be freed after Kokkos has been finalized.
  static QueueMemory& singleton() {
    static QueueMemory& memory = *new QueueMemory;
    return memory;
  }

  /// The right to use memory, from before the first launch until the last one is enqueued.
  class Lease {
   public:
    std::byte* data() const { return m_data; }

    ~Lease() {
      if (m_memory != nullptr) singleton().take_back(*m_memory);
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

   private:
    friend QueueMemory;
    Lease(void* data, Memory* memory) : m_data(static_cast<std::byte*>(data)), m_memory(memory) {}

    std::byte* m_data;
    Memory* m_memory;  // null if a graph owns the data
  };

  /// Leases at least `bytes` bytes, which hold anything.
  Lease lease(const Exec& exec, std::size_t bytes) {
    if (is_capturing(exec)) return Lease(memory_of_captured_graph(exec, rounded(bytes)), nullptr);
    const QueueId queue = is_synchronous<Exec> ? QueueId{} : queue_id(exec);
    Memory& memory = take_memory(queue);
    try {
      return Lease(memory.block(exec, bytes), &memory);
    } catch (...) {
      take_back(memory);
      throw;
    }
  }

  /// Frees the memory of the instance's queue. All work on the queue must be complete.
  void release(const Exec& exec) {
    if constexpr (!is_synchronous<Exec>) {
      const QueueId queue = queue_id(exec);
      const std::lock_guard lock(m_mutex);
      m_memories.remove_if([&](const Memory& memory) { return memory.queue == queue; });
    }
  }

  /// Frees all memory. No call may be in progress.
  void clear() {
    const std::lock_guard lock(m_mutex);
    m_memories.clear();
  }

  /// The number of queues with memory (on a host, of calls at the same time so far), for tests.
  std::size_t count() {
    const std::lock_guard lock(m_mutex);
    return m_memories.size();
  }

 private:
  struct Memory {
    QueueId queue;
    bool in_use = false;  // guarded by m_mutex
    /// The last one is the largest. Earlier launches may still use the others, which have fewer
    /// bytes together than the last one.
    std::vector<Allocation<Exec>> blocks;

    void* block(const Exec& exec, std::size_t bytes) {
      if (blocks.empty() || blocks.back().size() < bytes) {
        const AllocationsDuringCapture allowed;  // of another stream
        blocks.emplace_back(exec, "KokkosSoftmax::intermediate results", rounded(bytes));
      }
      return blocks.back().data();
    }
  };

  /// The memory of so many queues is kept. Then a new queue frees that of the queue that has been
  /// without a call for the longest time, which waits for the device: streams are destroyed without
  /// notice.
  static constexpr std::size_t most_queues = 16;

  QueueMemory() {
    push_finalize_hook([this] { clear(); });
  }

  /// The next power of two, so that memory seldom grows.
  static std::size_t rounded(std::size_t bytes) {
    std::size_t power = std::size_t{1} << 16;
    while (power < bytes) power *= 2;
    return power;
  }

  /// The memory of the queue, in use from now on. On a host, any that isn't in use. Threads that
  /// use one queue wait for each other, so that the kernels of a call follow one another on the
  /// queue.
  Memory& take_memory(const QueueId& queue) {
    for (;;) {
      Memory* const found = try_take_memory(queue);
      if (found != nullptr) return *found;
      Intrinsics::before_next_poll();
    }
  }

  Memory* try_take_memory(const QueueId& queue) {
    const std::lock_guard lock(m_mutex);
    for (auto memory = m_memories.begin(); memory != m_memories.end(); ++memory) {
      if (memory->queue != queue) continue;
      if (!memory->in_use) {
        memory->in_use = true;
        m_memories.splice(m_memories.end(), m_memories, memory);
        return &m_memories.back();
      }
      if (!is_synchronous<Exec>) return nullptr;
    }
    free_oldest();
    Memory& made = m_memories.emplace_back();
    made.queue = queue;
    made.in_use = true;
    return &made;
  }

  void free_oldest() {
    if constexpr (!is_synchronous<Exec>) {
      if (m_memories.size() < most_queues) return;
      const AllocationsDuringCapture allowed;  // to free memory is forbidden, too
      for (auto memory = m_memories.begin(); memory != m_memories.end(); ++memory) {
        if (memory->in_use) continue;
        m_memories.erase(memory);
        return;
      }
    }
  }

  void take_back(Memory& memory) {
    const std::lock_guard lock(m_mutex);
    memory.in_use = false;
  }

  std::mutex m_mutex;
  std::list<Memory> m_memories;  // the one used last is last
};

}  // namespace KokkosSoftmax::Impl

#endif
