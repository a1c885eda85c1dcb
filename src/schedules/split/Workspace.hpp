// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_WORKSPACE_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_WORKSPACE_HPP

/// \file
/// The memory that the teams of a split launch communicate through, and its layout.

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

namespace KokkosSoftmax::Impl {

/// The memory through which the teams of a launch communicate. Every launch finds `finished`,
/// `claimed` and all `groups` zero and an `epoch` above every tag in `words`, and leaves the
/// workspace in such a state. So nothing has to be cleared between launches (see docs/split.md).
/// Initially, all of the memory is zero. Launches that can run at the same time need workspaces of
/// their own, see SplitWorkspaces.hpp.
struct SplitWorkspace {
  /// A team has words for two rings of `ring` rounds: one for complete groups and one for closed
  /// groups, see TeamGroup.
  static constexpr int ring = 4;
  static constexpr int words_per_record = 5;
  static constexpr int words_per_team = 2 * ring * words_per_record;

  std::uint64_t* launches = nullptr;  // see LaunchWord
  std::uint32_t* finished = nullptr;  // teams that have left
  std::uint32_t* claimed = nullptr;   // rows that groups have claimed
  std::uint32_t* groups = nullptr;    // one word per group, see TeamGroup
  std::uint64_t* words = nullptr;     // tagged words of records, words_per_team per team and row
  int all_words = 0;
  std::uint32_t launch = 0;  // the number of this launch
};

/// What a launch leaves to the next launch on the same workspace. It is one word, so that both
/// halves are of the same launch.
struct LaunchWord {
  std::uint32_t done = 0;   // the number of the last completed launch
  std::uint32_t epoch = 0;  // tags of the next launch are above it

  KOKKOS_FORCEINLINE_FUNCTION explicit LaunchWord(std::uint64_t word)
      : done(static_cast<std::uint32_t>(word >> 32)), epoch(static_cast<std::uint32_t>(word)) {}
  KOKKOS_FORCEINLINE_FUNCTION static std::uint64_t of(std::uint32_t done, std::uint32_t epoch) {
    return std::uint64_t(done) << 32 | epoch;
  }
};

/// The size of a workspace and the places of its parts. The 64-bit words come first.
class WorkspaceLayout {
 public:
  /// For launches of up to `teams` teams, which work on up to `panel` rows at one time.
  WorkspaceLayout(int teams, int panel)
      : m_words(teams * SplitWorkspace::words_per_team * panel), m_counters(2 + teams) {}

  std::size_t bytes() const { return words_bytes() + counters_bytes(); }
  std::size_t words_bytes() const { return m_words * sizeof(std::uint64_t); }
  /// The size of `launches` and of everything after it.
  std::size_t counters_bytes() const {
    return sizeof(std::uint64_t) + m_counters * sizeof(std::uint32_t);
  }

  /// The workspace for launch number `launch`. `memory` has bytes() bytes and is aligned for 64-bit
  /// words.
  SplitWorkspace at(void* memory, std::uint32_t launch) const {
    auto* const words = static_cast<std::uint64_t*>(memory);
    std::uint64_t* const launches = words + m_words;
    auto* const counters = reinterpret_cast<std::uint32_t*>(launches + 1);
    SplitWorkspace workspace;
    workspace.launches = launches;
    workspace.finished = counters;
    workspace.claimed = counters + 1;
    workspace.groups = counters + 2;
    workspace.words = words;
    workspace.all_words = static_cast<int>(m_words);
    workspace.launch = launch;
    return workspace;
  }

 private:
  std::size_t m_words;
  std::size_t m_counters;
};

}  // namespace KokkosSoftmax::Impl

#endif
