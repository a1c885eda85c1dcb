// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SPLIT_WORKSPACE_HPP
#define KOKKOSSOFTMAX_SRC_SPLIT_WORKSPACE_HPP

#include <Hardware.hpp>
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <map>
#include <mutex>

namespace KokkosSoftmax::Impl {

/// The memory through which the teams of a launch meet. Every launch finds it and leaves it with
/// `finished`, `claimed` and all `groups` zero, and an `epoch` above every tag in `words`, so that
/// nothing has to be cleared in between (see docs/split.md).
struct SplitWorkspace {
  /// Words of a team: two rings of `ring` rounds, for the fast and the slow way of RowGroup.
  static constexpr int ring = 4;
  static constexpr int words_per_message = 5;
  static constexpr int words_per_team = 2 * ring * words_per_message;

  std::uint32_t* finished = nullptr;  // teams that have left
  std::uint32_t* epoch = nullptr;     // tags of this launch are above it
  std::uint32_t* claimed = nullptr;   // rows that groups have claimed
  std::uint32_t* groups = nullptr;    // one word a group, see RowGroup
  std::uint64_t* words = nullptr;     // tagged halves of messages, words_per_team a team and row
  int all_words = 0;
};

/// One workspace for each stream of work: launches that are ordered never meet, so that they can
/// share it. Made at the first use on an instance, freed when Kokkos is finalized. `panel`: the
/// rows that a team works on at one time, see RowGroup.
template <class Exec, int panel>
class SplitWorkspaces {
 public:
  static SplitWorkspace of(const Exec& exec) {
    static SplitWorkspaces workspaces;
    const std::lock_guard lock(workspaces.m_mutex);
    auto found = workspaces.m_of_instance.find(instance_key(exec));
    if (found == workspaces.m_of_instance.end()) {
      if (workspaces.m_of_instance.empty())
        Kokkos::push_finalize_hook([] { workspaces.m_of_instance.clear(); });
      found = workspaces.m_of_instance.try_emplace(instance_key(exec), exec).first;
    }
    return found->second.pointers();
  }

 private:
  class Allocation {
   public:
    explicit Allocation(const Exec& exec)
        : m_counters(Kokkos::view_alloc(exec, "KokkosSoftmax::split counters"),
                     3 + max_split_teams<panel>(exec)),
          m_words(Kokkos::view_alloc(exec, "KokkosSoftmax::split words"),
                  max_split_teams<panel>(exec) * SplitWorkspace::words_per_team * panel) {}

    SplitWorkspace pointers() const {
      std::uint32_t* counters = m_counters.data();
      return {counters,     counters + 1,   counters + 2,
              counters + 3, m_words.data(), static_cast<int>(m_words.extent(0))};
    }

   private:
    Kokkos::View<std::uint32_t*, typename Exec::memory_space> m_counters;
    Kokkos::View<std::uint64_t*, typename Exec::memory_space> m_words;
  };

  std::mutex m_mutex;
  std::map<std::uintptr_t, Allocation> m_of_instance;
};

}  // namespace KokkosSoftmax::Impl

#endif
