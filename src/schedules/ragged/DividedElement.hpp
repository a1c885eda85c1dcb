// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_DIVIDEDELEMENT_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_DIVIDEDELEMENT_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <impl/device/backend/KokkosSoftmax_Unroll.hpp>

namespace KokkosSoftmax::Impl {

/// An element of a list, whose words are divided among threads. So an element can be loaded while
/// the one before it is in use: each thread needs a register or two for it.
template <class Element, int threads>
class DividedElement {
 public:
  KOKKOS_FORCEINLINE_FUNCTION void load(const Element& from, int thread_id) {
    const char* const bytes = reinterpret_cast<const char*>(&from);
    for_each_word(thread_id, [&](int i, int place) {
      __builtin_memcpy(&m_word[i], word_at(bytes, place), sizeof(Word));
    });
  }
  /// Stores the words of this thread to scratch memory.
  KOKKOS_FORCEINLINE_FUNCTION void store(Element& to, int thread_id) const {
    char* const bytes = reinterpret_cast<char*>(&to);
    for_each_word(thread_id, [&](int i, int place) {
      __builtin_memcpy(word_at(bytes, place), &m_word[i], sizeof(Word));
    });
  }

 private:
  using Word = std::uint32_t;
  static constexpr int words = sizeof(Element) / sizeof(Word);
  static constexpr int count = (words + threads - 1) / threads;  // of this thread

  /// Without the alignment, a word would be copied byte by byte.
  template <class Byte>
  KOKKOS_FORCEINLINE_FUNCTION static Byte* word_at(Byte* bytes, int place) {
    static_assert(alignof(Element) % sizeof(Word) == 0);
    return static_cast<Byte*>(__builtin_assume_aligned(bytes + place * sizeof(Word), sizeof(Word)));
  }

  /// Calls f(i, place) for the words of this thread, which are at `place` in the element.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION static void for_each_word(int thread_id, const F& f) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < count; ++i) {
      const int place = i * threads + thread_id;
      if (place < words) f(i, place);
    }
  }

  Word m_word[count] = {};
};

}  // namespace KokkosSoftmax::Impl

#endif
