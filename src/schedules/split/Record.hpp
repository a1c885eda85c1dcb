// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_RECORD_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_RECORD_HPP

/// \file
/// The records that the teams of a group publish to each other. Reading and writing them needs no
/// fences.

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <impl/device/backend/KokkosSoftmax_Intrinsics.hpp>
#include <impl/device/team/KokkosSoftmax_RowState.hpp>
#include <schedules/split/Workspace.hpp>

namespace KokkosSoftmax::Impl {

// Each word of a record is valid by itself, so that these accesses need no memory order.
using Intrinsics::before_next_poll;
using Intrinsics::load_relaxed;
using Intrinsics::store_relaxed;

/// What a team publishes to its group in a round.
template <RowState State>
struct RoundRecord {
  State state;
  std::uint32_t row = 0;  // of a later round; only in the record of the group's first team
};

/// What a lane has read of the records of a round.
template <RowState State>
struct PolledRound {
  RoundRecord<State> part;
  bool there = true;
};

/// A record as words of 64 bits: 32 bits of the record and a tag of 32 bits. From the tag, a reader
/// knows for each word whether it is the word that it waits for. The words of `stride` records are
/// interleaved.
template <RowState State, int stride>
struct TaggedRecord {
  static constexpr int state_words = sizeof(State) / sizeof(std::uint32_t);
  static constexpr int words = state_words + 1;
  static_assert(words <= SplitWorkspace::words_per_record);
  struct Halves {
    std::uint32_t half[state_words];
  };

  KOKKOS_FORCEINLINE_FUNCTION static void publish(std::uint64_t* to, std::uint32_t tag,
                                                  const RoundRecord<State>& record) {
    const std::uint64_t high = std::uint64_t(tag) << 32;
    const auto halves = Kokkos::bit_cast<Halves>(record.state);
    for (int w = 0; w < state_words; ++w) store_relaxed(to + w * stride, high | halves.half[w]);
    store_relaxed(to + state_words * stride, high | record.row);
  }

  /// Returns false if a word isn't there yet.
  KOKKOS_FORCEINLINE_FUNCTION static bool read(const std::uint64_t* from, std::uint32_t tag,
                                               RoundRecord<State>& record) {
    std::uint32_t half[words];
    bool there = true;
    for (int w = 0; w < words; ++w) {
      const std::uint64_t word = load_relaxed(from + w * stride);
      there = there && static_cast<std::uint32_t>(word >> 32) == tag;
      half[w] = static_cast<std::uint32_t>(word);
    }
    Halves halves;
    for (int w = 0; w < state_words; ++w) halves.half[w] = half[w];
    record = {Kokkos::bit_cast<State>(halves), half[state_words]};
    return there;
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
