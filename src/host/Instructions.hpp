// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_INSTRUCTIONS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_INSTRUCTIONS_HPP

/// \file
/// The instructions that GNU vectors don't express, one overload per register type. Every use of
/// intrinsics on hosts is in this file. What a processor doesn't have falls back to plain C++.

#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

// Each unit that includes this has its own namespace, because the same functions are compiled for
// several instruction sets: a linker that merged them could keep one that the processor lacks.
#ifndef KOKKOSSOFTMAX_HOST_ISA
#error \
    "define KOKKOSSOFTMAX_HOST_ISA, the namespace of the instruction set (src/host/CMakeLists.txt)"
#endif

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

#define KOKKOSSOFTMAX_HOST_FUNCTION [[gnu::always_inline]] inline
#define KOKKOSSOFTMAX_HOST_LAMBDA __attribute__((always_inline))  // after the parameters

/// A register with `width` numbers of type T, and the same at any address.
template <class T, int width>
struct VectorType {
  typedef T type __attribute__((vector_size(width * sizeof(T))));
  typedef T anywhere
      __attribute__((vector_size(width * sizeof(T)), aligned(alignof(T)), may_alias));
};
template <class T, int width>
using Vector = typename VectorType<T, width>::type;

// ---- Any processor

/// a * b + c, rounded once if the processor can.
template <class V>
KOKKOSSOFTMAX_HOST_FUNCTION V multiply_add(V a, V b, V c) {
  return a * b + c;
}

/// The larger of a and b; b if one of them is NaN.
template <class V>
KOKKOSSOFTMAX_HOST_FUNCTION V larger(V a, V b) {
  return a > b ? a : b;
}

/// Stores without reading the cache line first. p is a multiple of the vector's size.
template <class V>
KOKKOSSOFTMAX_HOST_FUNCTION void stream(void* p, V v) {
  *static_cast<V*>(p) = v;
}

/// Orders streamed stores before the stores that follow.
KOKKOSSOFTMAX_HOST_FUNCTION void end_streams() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

/// Prefetches a cache line. Processors prefetch by themselves, except while their instructions
/// under way are all exponentials. An address behind an array does no harm.
KOKKOSSOFTMAX_HOST_FUNCTION void prefetch_at(const void* p) { __builtin_prefetch(p, 0, 3); }
/// Prefetches the cache line at p + bytes into the second-level cache.
KOKKOSSOFTMAX_HOST_FUNCTION void prefetch_far(const void* p, std::int64_t bytes = 16384) {
  __builtin_prefetch(static_cast<const char*>(p) + bytes, 0, 2);
}
KOKKOSSOFTMAX_HOST_FUNCTION constexpr std::int64_t smaller(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}

/// Whether any element of a comparison's result is true.
template <class M>
KOKKOSSOFTMAX_HOST_FUNCTION bool any(M mask) {
  bool result = false;
  for (int i = 0; i < static_cast<int>(sizeof(M) / sizeof(mask[0])); ++i) result |= mask[i] != 0;
  return result;
}

/// Which elements of a vector take part in a load or a store: the first `count`.
template <class T, int width>
class FirstElements {
  using V = Vector<T, width>;
  using Bits = decltype(V{} < V{});

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION explicit FirstElements(int count) : m_count(count) {
    for (int i = 0; i < width; ++i) m_mask[i] = i < count ? -1 : 0;
  }

  /// The other elements are 0.
  KOKKOSSOFTMAX_HOST_FUNCTION V load(const T* p) const {
    V v{};
    for (int i = 0; i < m_count; ++i) v[i] = p[i];
    return v;
  }
  KOKKOSSOFTMAX_HOST_FUNCTION void store(T* p, V v) const {
    for (int i = 0; i < m_count; ++i) p[i] = v[i];
  }
  KOKKOSSOFTMAX_HOST_FUNCTION V select(V first, V rest) const { return m_mask ? first : rest; }

 private:
  int m_count;
  Bits m_mask;
};

#if defined(__x86_64__)
// ---- x86-64: 16 bytes
KOKKOSSOFTMAX_HOST_FUNCTION __m128 larger(__m128 a, __m128 b) { return _mm_max_ps(a, b); }
KOKKOSSOFTMAX_HOST_FUNCTION __m128d larger(__m128d a, __m128d b) { return _mm_max_pd(a, b); }
KOKKOSSOFTMAX_HOST_FUNCTION void stream(void* p, __m128 v) {
  _mm_stream_ps(static_cast<float*>(p), v);
}
KOKKOSSOFTMAX_HOST_FUNCTION void stream(void* p, __m128d v) {
  _mm_stream_pd(static_cast<double*>(p), v);
}
using Int32x4 = std::int32_t __attribute__((vector_size(16)));
using Int64x2 = std::int64_t __attribute__((vector_size(16)));
KOKKOSSOFTMAX_HOST_FUNCTION bool any(Int32x4 mask) { return _mm_movemask_epi8((__m128i)mask) != 0; }
KOKKOSSOFTMAX_HOST_FUNCTION bool any(Int64x2 mask) { return _mm_movemask_epi8((__m128i)mask) != 0; }
#endif

#if defined(__FMA__)
KOKKOSSOFTMAX_HOST_FUNCTION __m128 multiply_add(__m128 a, __m128 b, __m128 c) {
  return _mm_fmadd_ps(a, b, c);
}
KOKKOSSOFTMAX_HOST_FUNCTION __m128d multiply_add(__m128d a, __m128d b, __m128d c) {
  return _mm_fmadd_pd(a, b, c);
}
KOKKOSSOFTMAX_HOST_FUNCTION __m256 multiply_add(__m256 a, __m256 b, __m256 c) {
  return _mm256_fmadd_ps(a, b, c);
}
KOKKOSSOFTMAX_HOST_FUNCTION __m256d multiply_add(__m256d a, __m256d b, __m256d c) {
  return _mm256_fmadd_pd(a, b, c);
}
#endif

#if defined(__AVX__)
// ---- AVX: 32 bytes
KOKKOSSOFTMAX_HOST_FUNCTION __m256 larger(__m256 a, __m256 b) { return _mm256_max_ps(a, b); }
KOKKOSSOFTMAX_HOST_FUNCTION __m256d larger(__m256d a, __m256d b) { return _mm256_max_pd(a, b); }
KOKKOSSOFTMAX_HOST_FUNCTION void stream(void* p, __m256 v) {
  _mm256_stream_ps(static_cast<float*>(p), v);
}
KOKKOSSOFTMAX_HOST_FUNCTION void stream(void* p, __m256d v) {
  _mm256_stream_pd(static_cast<double*>(p), v);
}
using Int32x8 = std::int32_t __attribute__((vector_size(32)));
using Int64x4 = std::int64_t __attribute__((vector_size(32)));
KOKKOSSOFTMAX_HOST_FUNCTION bool any(Int32x8 mask) { return _mm256_movemask_ps((__m256)mask) != 0; }
KOKKOSSOFTMAX_HOST_FUNCTION bool any(Int64x4 mask) {
  return _mm256_movemask_pd((__m256d)mask) != 0;
}
#endif

#if defined(__AVX__) && !defined(__AVX512VL__)
#define KOKKOSSOFTMAX_HOST_FIRST_ELEMENTS(T, width, prefix, suffix, Register)                     \
  template <>                                                                                     \
  class FirstElements<T, width> {                                                                 \
    using V = Vector<T, width>;                                                                   \
    using Bits = decltype(V{} < V{});                                                             \
                                                                                                  \
   public:                                                                                        \
    KOKKOSSOFTMAX_HOST_FUNCTION explicit FirstElements(int count) {                               \
      for (int i = 0; i < width; ++i) m_mask[i] = i < count ? -1 : 0;                             \
    }                                                                                             \
    KOKKOSSOFTMAX_HOST_FUNCTION V load(const T* p) const {                                        \
      return prefix##_maskload_##suffix(p, (Register)m_mask);                                     \
    }                                                                                             \
    KOKKOSSOFTMAX_HOST_FUNCTION void store(T* p, V v) const {                                     \
      prefix##_maskstore_##suffix(p, (Register)m_mask, v);                                        \
    }                                                                                             \
    KOKKOSSOFTMAX_HOST_FUNCTION V select(V first, V rest) const { return m_mask ? first : rest; } \
                                                                                                  \
   private:                                                                                       \
    Bits m_mask;                                                                                  \
  };
KOKKOSSOFTMAX_HOST_FIRST_ELEMENTS(float, 4, _mm, ps, __m128i)
KOKKOSSOFTMAX_HOST_FIRST_ELEMENTS(float, 8, _mm256, ps, __m256i)
KOKKOSSOFTMAX_HOST_FIRST_ELEMENTS(double, 2, _mm, pd, __m128i)
KOKKOSSOFTMAX_HOST_FIRST_ELEMENTS(double, 4, _mm256, pd, __m256i)
#undef KOKKOSSOFTMAX_HOST_FIRST_ELEMENTS
#endif

#if defined(__AVX512VL__)
#define KOKKOSSOFTMAX_HOST_FIRST_ELEMENTS(T, width, prefix, suffix, Mask) \
  template <>                                                             \
  class FirstElements<T, width> {                                         \
    using V = Vector<T, width>;                                           \
                                                                          \
   public:                                                                \
    KOKKOSSOFTMAX_HOST_FUNCTION explicit FirstElements(int count)         \
        : m_mask(static_cast<Mask>((1u << count) - 1)) {}                 \
    KOKKOSSOFTMAX_HOST_FUNCTION V load(const T* p) const {                \
      return prefix##_maskz_loadu_##suffix(m_mask, p);                    \
    }                                                                     \
    KOKKOSSOFTMAX_HOST_FUNCTION void store(T* p, V v) const {             \
      prefix##_mask_storeu_##suffix(p, m_mask, v);                        \
    }                                                                     \
    KOKKOSSOFTMAX_HOST_FUNCTION V select(V first, V rest) const {         \
      return prefix##_mask_blend_##suffix(m_mask, rest, first);           \
    }                                                                     \
                                                                          \
   private:                                                               \
    Mask m_mask;                                                          \
  };
KOKKOSSOFTMAX_HOST_FIRST_ELEMENTS(float, 4, _mm, ps, __mmask8)
KOKKOSSOFTMAX_HOST_FIRST_ELEMENTS(float, 8, _mm256, ps, __mmask8)
KOKKOSSOFTMAX_HOST_FIRST_ELEMENTS(float, 16, _mm512, ps, __mmask16)
KOKKOSSOFTMAX_HOST_FIRST_ELEMENTS(double, 2, _mm, pd, __mmask8)
KOKKOSSOFTMAX_HOST_FIRST_ELEMENTS(double, 4, _mm256, pd, __mmask8)
KOKKOSSOFTMAX_HOST_FIRST_ELEMENTS(double, 8, _mm512, pd, __mmask8)
#undef KOKKOSSOFTMAX_HOST_FIRST_ELEMENTS
#endif

#if defined(__AVX512F__)
// ---- AVX-512: 64 bytes
KOKKOSSOFTMAX_HOST_FUNCTION __m512 multiply_add(__m512 a, __m512 b, __m512 c) {
  return _mm512_fmadd_ps(a, b, c);
}
KOKKOSSOFTMAX_HOST_FUNCTION __m512d multiply_add(__m512d a, __m512d b, __m512d c) {
  return _mm512_fmadd_pd(a, b, c);
}
KOKKOSSOFTMAX_HOST_FUNCTION __m512 larger(__m512 a, __m512 b) {
  return _mm512_mask_max_ps(a, 0xffff, a, b);  // without a mask, GCC 12 warns of its own header
}
KOKKOSSOFTMAX_HOST_FUNCTION __m512d larger(__m512d a, __m512d b) {
  return _mm512_mask_max_pd(a, 0xff, a, b);
}
KOKKOSSOFTMAX_HOST_FUNCTION void stream(void* p, __m512 v) {
  _mm512_stream_ps(static_cast<float*>(p), v);
}
KOKKOSSOFTMAX_HOST_FUNCTION void stream(void* p, __m512d v) {
  _mm512_stream_pd(static_cast<double*>(p), v);
}
using Int32x16 = std::int32_t __attribute__((vector_size(64)));
using Int64x8 = std::int64_t __attribute__((vector_size(64)));
KOKKOSSOFTMAX_HOST_FUNCTION bool any(Int32x16 mask) {
  return _mm512_movepi32_mask((__m512i)mask) != 0;
}
KOKKOSSOFTMAX_HOST_FUNCTION bool any(Int64x8 mask) {
  return _mm512_movepi64_mask((__m512i)mask) != 0;
}
#endif

#if defined(__aarch64__)
// ---- NEON: 16 bytes. Its types are others than GNU vectors.
KOKKOSSOFTMAX_HOST_FUNCTION Vector<float, 4> multiply_add(Vector<float, 4> a, Vector<float, 4> b,
                                                          Vector<float, 4> c) {
  return (Vector<float, 4>)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
KOKKOSSOFTMAX_HOST_FUNCTION Vector<double, 2> multiply_add(Vector<double, 2> a, Vector<double, 2> b,
                                                           Vector<double, 2> c) {
  return (Vector<double, 2>)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}
#endif

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
