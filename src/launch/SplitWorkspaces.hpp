// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_SPLITWORKSPACES_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_SPLITWORKSPACES_HPP

/// \file
/// Which workspace a launch gets. Two launches share a workspace only if the second one begins
/// after the first one has ended:
///   - on a queue (a CUDA or HIP stream), all launches use the queue's workspace;
///   - on a host, where a launch is complete when it returns, each launch borrows a workspace;
///   - a call that is captured into a graph gets its own workspace, which belongs to the graph.

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <backend/Allocation.hpp>
#include <backend/FinalizeHook.hpp>
#include <backend/GraphCapture.hpp>
#include <backend/Hardware.hpp>
#include <backend/Queue.hpp>
#include <backend/ReadBack.hpp>
#include <backend/ZeroFill.hpp>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <schedules/split/Workspace.hpp>
#include <utility>
#include <vector>

namespace KokkosSoftmax::Impl {

/// The workspaces of an execution space, except those that belong to graphs. They are freed when
/// Kokkos is finalized.
template <class Exec>
class SplitWorkspaces {
  struct Memory;

 public:
  /// Never destroyed, because memory can't be freed after Kokkos has been finalized.
  static SplitWorkspaces& singleton() {
    static SplitWorkspaces& workspaces = *new SplitWorkspaces;
    return workspaces;
  }

  /// The right to use a workspace, from before the launch until parallel_for has returned.
  class Lease {
   public:
    const SplitWorkspace& workspace() const { return m_workspace; }

    ~Lease() {
      if (m_borrowed) singleton().take_back(std::move(m_borrowed));
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

   private:
    friend SplitWorkspaces;
    explicit Lease(const SplitWorkspace& workspace, std::unique_lock<std::mutex> enqueuing = {})
        : m_workspace(workspace), m_enqueuing(std::move(enqueuing)) {}
    explicit Lease(std::unique_ptr<Memory> borrowed)
        : m_workspace(borrowed->workspace()), m_borrowed(std::move(borrowed)) {}

    SplitWorkspace m_workspace;
    std::unique_lock<std::mutex> m_enqueuing;  // the lock of the queue's workspace
    std::unique_ptr<Memory> m_borrowed;
  };

  /// Leases a workspace for a launch on `exec` whose teams work on up to `panel` rows at one time.
  template <int panel>
  Lease lease(const Exec& exec) {
    if (is_capturing(exec)) {
      const WorkspaceLayout layout = layout_of<panel>(exec);
      return Lease(layout.at(memory_of_captured_graph(exec, layout.bytes()), 0));
    }
    if constexpr (is_synchronous<Exec>)
      return Lease(borrow<panel>(exec));
    else
      return lease_of_queue<panel>(exec);
  }

  /// Makes the workspace that a later lease needs, so that the lease doesn't allocate memory.
  template <int panel>
  void prepare(const Exec& exec) {
    if (is_capturing(exec)) return;
    if constexpr (is_synchronous<Exec>)
      take_back(borrow<panel>(exec));
    else {
      const std::lock_guard lock(m_mutex);
      of_queue<panel>(exec);
    }
  }

  /// Frees the workspaces of the instance's queue. All work on the queue must be complete.
  void release(const Exec& exec) {
    const QueueId queue = queue_id(exec);
    const std::lock_guard lock(m_mutex);
    std::erase_if(m_of_queue, [&](const auto& entry) { return entry.first.queue == queue; });
  }

  /// Frees all workspaces. No launch may be in progress.
  void clear() {
    const std::lock_guard lock(m_mutex);
    m_of_queue.clear();
    m_unused.clear();
  }

  /// The number of workspaces, for tests.
  std::size_t count() {
    const std::lock_guard lock(m_mutex);
    return m_of_queue.size() + m_unused.size();
  }

 private:
  /// Workspaces of the same kind can replace each other: those of queues of the same device, for
  /// panels of the same size.
  struct Kind {
    int device;
    int panel;

    auto operator<=>(const Kind&) const = default;
  };
  struct Key {
    QueueId queue;
    int panel;

    auto operator<=>(const Key&) const = default;
  };

  struct Memory {
    Memory(const Exec& exec, const Kind& kind_, const WorkspaceLayout& layout_)
        : kind(kind_),
          layout(layout_),
          bytes(exec, "KokkosSoftmax::split workspace", layout_.bytes()) {
      zero_fill(exec, bytes.data(), bytes.size());
    }

    SplitWorkspace workspace() const { return layout.at(bytes.data(), launches); }

    /// Whether all launches are complete and have left the counters as the next launch expects
    /// them, as far as this can be determined.
    bool is_idle() {
      const std::unique_lock not_enqueuing(enqueuing, std::try_to_lock);
      if (!not_enqueuing.owns_lock()) return false;
      std::vector<std::uint32_t> counters(layout.counters_bytes() / sizeof(std::uint32_t));
      const unsigned char* from = bytes.data() + layout.words_bytes();
      if (!read_back<Exec>(kind.device, from, counters.data(), layout.counters_bytes()))
        return false;
      std::uint64_t word = 0;
      std::memcpy(&word, counters.data(), sizeof(word));
      return LaunchWord(word).done == launches &&
             std::all_of(counters.begin() + 2, counters.end(),
                         [](std::uint32_t counter) { return counter == 0; });
    }

    Kind kind;
    WorkspaceLayout layout;
    Allocation<Exec> bytes;
    std::uint32_t launches = 0;  // the number of enqueued launches, modulo 2^32
    /// Held while a launch is enqueued, so that launches are enqueued in the order of their numbers
    /// even if several threads use the queue.
    std::mutex enqueuing;
  };

  /// This number of workspaces is kept for queues. After that, a new queue takes over the workspace
  /// of a queue that has nothing to do, because streams are destroyed without notice.
  static constexpr std::size_t most_queues = 16;

  SplitWorkspaces() {
    push_finalize_hook([this] { clear(); });
  }

  template <int panel>
  static WorkspaceLayout layout_of(const Exec& exec) {
    return {max_split_teams<panel>(exec), panel};
  }

  template <int panel>
  Lease lease_of_queue(const Exec& exec) {
    const std::lock_guard lock(m_mutex);
    Memory& memory = of_queue<panel>(exec);
    std::unique_lock enqueuing(memory.enqueuing);
    ++memory.launches;
    return Lease(memory.workspace(), std::move(enqueuing));
  }

  /// The workspace of the instance's queue. The caller must hold m_mutex.
  template <int panel>
  Memory& of_queue(const Exec& exec) {
    const Key key{queue_id(exec), panel};
    auto found = m_of_queue.find(key);
    if (found == m_of_queue.end()) {
      const Kind kind{device_number(exec), panel};
      const AllocationsDuringCapture allowed;  // of another stream, in this thread or another one
      auto memory = m_of_queue.size() < most_queues ? nullptr : take_idle(kind);
      if (!memory) memory = std::make_unique<Memory>(exec, kind, layout_of<panel>(exec));
      found = m_of_queue.emplace(key, std::move(memory)).first;
    }
    return *found->second;
  }

  std::unique_ptr<Memory> take_idle(const Kind& kind) {
    for (auto entry = m_of_queue.begin(); entry != m_of_queue.end(); ++entry) {
      if (entry->second->kind != kind || !entry->second->is_idle()) continue;
      auto memory = std::move(entry->second);
      m_of_queue.erase(entry);
      return memory;
    }
    return nullptr;
  }

  /// Takes an unused workspace that is large enough, or makes one. Instances of a host execution
  /// space can differ in the number of their threads.
  template <int panel>
  std::unique_ptr<Memory> borrow(const Exec& exec) {
    const WorkspaceLayout layout = layout_of<panel>(exec);
    {
      const std::lock_guard lock(m_mutex);
      for (auto& memory : m_unused) {
        if (memory->kind.panel != panel || memory->bytes.size() < layout.bytes()) continue;
        std::swap(memory, m_unused.back());
        auto found = std::move(m_unused.back());
        m_unused.pop_back();
        return found;
      }
    }
    return std::make_unique<Memory>(exec, Kind{0, panel}, layout);
  }

  void take_back(std::unique_ptr<Memory> memory) {
    const std::lock_guard lock(m_mutex);
    m_unused.push_back(std::move(memory));
  }

  std::mutex m_mutex;
  std::map<Key, std::unique_ptr<Memory>> m_of_queue;
  std::vector<std::unique_ptr<Memory>> m_unused;  // of hosts
};

}  // namespace KokkosSoftmax::Impl

#endif
