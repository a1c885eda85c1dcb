// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXBOTHAXES_READ_HPP
#define KOKKOSSOFTMAXBOTHAXES_READ_HPP

#include <KokkosSoftmaxSweep_Timing.hpp>
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>

namespace KokkosSoftmaxBothAxes {

/// 16 bytes, which a thread reads at one time.
struct alignas(16) Words {
  std::uint64_t word[2];
};

/// Reads all of an aligned array, as fast as a kernel can. `result` depends on all bits, so that no
/// load is left out.
template <class Exec, class T>
void read_all(const Exec& exec, const T* x, std::int64_t entries,
              const Kokkos::View<std::uint64_t, Exec>& result) {
  constexpr bool on_host = KokkosSoftmaxSweep::is_host<Exec>;
  constexpr int at_one_time = 4;
  const auto chunks =
      entries * static_cast<std::int64_t>(sizeof(T)) / static_cast<std::int64_t>(sizeof(Words));
  const std::int64_t threads =
      on_host ? exec.concurrency()
              : std::min(chunks, std::int64_t{2} * static_cast<std::int64_t>(exec.concurrency()));
  const auto* const words = reinterpret_cast<const Words*>(x);
  Kokkos::parallel_for(
      "KokkosSoftmaxBothAxes::read_all", Kokkos::RangePolicy<Exec>(exec, 0, threads),
      KOKKOS_LAMBDA(std::int64_t thread) {
        // Threads of a GPU read neighbouring chunks, and those of a host have blocks.
        const std::int64_t block = (chunks + threads - 1) / threads;
        std::int64_t i = on_host ? thread * block : thread;
        const std::int64_t step = on_host ? 1 : threads;
        const std::int64_t end = on_host && i + block < chunks ? i + block : chunks;
        std::uint64_t bits = 0;
        for (; i + (at_one_time - 1) * step < end; i += at_one_time * step) {
          Words read[at_one_time];
          for (int k = 0; k < at_one_time; ++k) read[k] = words[i + k * step];
          for (int k = 0; k < at_one_time; ++k) bits |= read[k].word[0] ^ read[k].word[1];
        }
        for (; i < end; i += step) bits |= words[i].word[0] ^ words[i].word[1];
        if (bits == 1) result() = bits;
      });
}

}  // namespace KokkosSoftmaxBothAxes

#endif
