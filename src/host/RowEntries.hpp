// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_ROWENTRIES_HPP
#define KOKKOSSOFTMAX_SRC_HOST_ROWENTRIES_HPP

/// \file
/// What the entries of an output row are computed from. Each class has at(c), the vector that
/// begins at column c, and first(c, FirstElements), the first elements of such a vector.

#include <host/Operations.hpp>
#include <host/Prefetch.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// Exponentials in a buffer.
template <class L>
class KeptEntries {
  using T = typename L::T;

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION explicit KeptEntries(const T* kept) : m_kept(kept) {}
  KOKKOSSOFTMAX_HOST_FUNCTION const T* address(std::int64_t c) const { return m_kept + c; }
  KOKKOSSOFTMAX_HOST_FUNCTION auto at(std::int64_t c) const { return L::load(m_kept + c); }
  KOKKOSSOFTMAX_HOST_FUNCTION auto first(std::int64_t c,
                                         const FirstElements<T, L::width>& n) const {
    return n.load(m_kept + c);
  }

 private:
  const T* m_kept;
};

/// The same for a buffer in the last-level cache.
///
/// \tparam level  where far prefetches go on this processor. If that is the second level, the
///                exponentials are prefetched there alone, which takes less time on AMD's Zen 4
///                (docs/trials.md). Otherwise they are prefetched to all levels.
/// \tparam ahead  the bytes from a vector that is read to the cache line that is prefetched
template <class L, PrefetchTo level, std::int64_t ahead>
class FarKeptEntries : public KeptEntries<L> {
 public:
  using KeptEntries<L>::KeptEntries;
  KOKKOSSOFTMAX_HOST_FUNCTION auto at(std::int64_t c) const {
    if constexpr (level == PrefetchTo::second_level)
      prefetch_far<level>(this->address(c), ahead);
    else
      prefetch_at(this->address(c), ahead);
    return KeptEntries<L>::at(c);
  }
};

/// The values of x.
template <class L, class X, class Values>
class ReadEntries {
  using T = typename L::T;

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION ReadEntries(const X* x, const Values& values)
      : m_x(x), m_values(values) {}
  KOKKOSSOFTMAX_HOST_FUNCTION const X* address(std::int64_t c) const { return m_x + c; }
  KOKKOSSOFTMAX_HOST_FUNCTION auto at(std::int64_t c) const { return m_values(L::load(m_x + c)); }
  KOKKOSSOFTMAX_HOST_FUNCTION auto first(std::int64_t c,
                                         const FirstElements<T, L::width>& n) const {
    return m_values(n.load(m_x + c));
  }

 private:
  const X* m_x;
  Values m_values;
};

/// Exponentials that are computed from x a second time.
///
/// \tparam ahead  the bytes from a vector that is read to the cache line that is prefetched; 0 if
///                nothing is prefetched
template <class L, class X, class Values, class Exp, std::int64_t ahead = 0>
class RecomputedEntries {
  using T = typename L::T;

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION RecomputedEntries(const X* x, const Values& values, const Exp& exp)
      : m_read(x, values), m_exp(exp) {}
  KOKKOSSOFTMAX_HOST_FUNCTION auto at(std::int64_t c) const {
    if constexpr (ahead > 0) prefetch_at(m_read.address(c), ahead);
    return m_exp(m_read.at(c));
  }
  KOKKOSSOFTMAX_HOST_FUNCTION auto first(std::int64_t c,
                                         const FirstElements<T, L::width>& n) const {
    return m_exp(m_read.first(c, n));
  }

 private:
  ReadEntries<L, X, Values> m_read;
  Exp m_exp;
};

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
