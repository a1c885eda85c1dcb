// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_INSTRUCTIONS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_INSTRUCTIONS_HPP

/// \file
/// The instructions that GNU vectors don't express, one overload per register type. Every use of
/// intrinsics on hosts is in this file. What a processor doesn't have falls back to plain C++.

#include <cstdint>
#include <host/Types.hpp>
#include <type_traits>
#include <utility>
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

/// The lower of a and b; b if one of them is NaN.
template <class V>
KOKKOSSOFTMAX_HOST_FUNCTION V lower(V a, V b) {
  return a < b ? a : b;
}

/// a * b; 0 where x < limit.
template <class V>
KOKKOSSOFTMAX_HOST_FUNCTION V product_or_zero_below(V x, V limit, V a, V b) {
  return x < limit ? V{} : a * b;
}

/// Part of two vectors, if the processor takes it by one instruction: of(a, b, first) has the
/// elements from element `first` on of a and b, one behind the other.
template <class V>
struct PartOfTwo {
  static constexpr bool is_instruction = false;
};

/// Stores without reading the cache line first. p is a multiple of the vector's size.
template <class V>
KOKKOSSOFTMAX_HOST_FUNCTION void stream(void* p, V v) {
  *static_cast<V*>(p) = v;
}

/// The same for one number. If the rest of the line follows soon, one whole line is written.
KOKKOSSOFTMAX_HOST_FUNCTION void stream(float* p, float x) {
#if defined(__x86_64__)
  _mm_stream_si32(reinterpret_cast<int*>(p), __builtin_bit_cast(int, x));
#else
  *p = x;
#endif
}
KOKKOSSOFTMAX_HOST_FUNCTION void stream(double* p, double x) {
#if defined(__x86_64__)
  _mm_stream_si64(reinterpret_cast<long long*>(p), __builtin_bit_cast(long long, x));
#else
  *p = x;
#endif
}

/// Orders streamed stores before the stores that follow.
KOKKOSSOFTMAX_HOST_FUNCTION void end_streams() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

/// Makes the compiler load a variable where it is read, in place of computing it from the registers
/// that were stored.
template <class Variable>
KOKKOSSOFTMAX_HOST_FUNCTION void keep_in_memory(Variable& variable) {
  asm volatile("" : "+m"(variable));
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

/// Numbers of two bytes as integers.
template <int width>
using HalfBits = Vector<std::uint16_t, width>;

/// Where element i of 4 numbers of two bytes begins in an integer of 8 bytes.
KOKKOSSOFTMAX_HOST_FUNCTION constexpr int first_bit_of(int i) {
  return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 16 * i : 48 - 16 * i;
}

/// The first `count` of 4 numbers of two bytes; the others are 0.
KOKKOSSOFTMAX_HOST_FUNCTION std::uint64_t load_some_of_four(const std::uint16_t* p, int count) {
  std::uint64_t four = 0;
  if (count >= 4) {
    __builtin_memcpy(&four, p, 8);
    return four;
  }
  if ((count & 2) != 0) __builtin_memcpy(&four, p, 4);
  if ((count & 1) != 0) four |= static_cast<std::uint64_t>(p[count & 2]) << first_bit_of(count & 2);
  return four;
}
KOKKOSSOFTMAX_HOST_FUNCTION void store_some_of_four(std::uint16_t* p, std::uint64_t four,
                                                    int count) {
  if (count >= 4) {
    __builtin_memcpy(p, &four, 8);
    return;
  }
  if ((count & 2) != 0) __builtin_memcpy(p, &four, 4);
  if ((count & 1) != 0) p[count & 2] = static_cast<std::uint16_t>(four >> first_bit_of(count & 2));
}

/// The same for a vector, in registers.
template <int width>
KOKKOSSOFTMAX_HOST_FUNCTION HalfBits<width> load_some_halves(const std::uint16_t* p, int count) {
  std::uint64_t fours[(width + 3) / 4];
  for (int k = 0; k < (width + 3) / 4; ++k)
    fours[k] = count > 4 * k ? load_some_of_four(p + 4 * k, count - 4 * k) : 0;
  HalfBits<width> result;
  __builtin_memcpy(&result, fours, sizeof(result));
  return result;
}
template <int width>
KOKKOSSOFTMAX_HOST_FUNCTION void store_some_halves(std::uint16_t* p, HalfBits<width> halves,
                                                   int count) {
  std::uint64_t fours[(width + 3) / 4];
  __builtin_memcpy(fours, &halves, sizeof(halves));
  for (int k = 0; k < (width + 3) / 4; ++k)
    if (count > 4 * k) store_some_of_four(p + 4 * k, fours[k], count - 4 * k);
}

/// Copies the first `count` numbers, fewer than 2 * size, to any address.
template <int size, class T>
KOKKOSSOFTMAX_HOST_FUNCTION void copy_first(T* to, const T* numbers, int count) {
  const int part = count & size;
  if (part) __builtin_memcpy(to, numbers, size * sizeof(T));
  if constexpr (size > 1) copy_first<size / 2>(to + part, numbers + part, count);
}

/// The mask of the first `count` lanes: all bits of these lanes are 1. A comparison of vectors is
/// one instruction. GCC 12 makes a branch per lane of a loop that sets them.
template <class Bits, int... lane>
KOKKOSSOFTMAX_HOST_FUNCTION Bits mask_of_first(int count, std::integer_sequence<int, lane...>) {
  using Lane = std::remove_cvref_t<decltype(Bits{}[0])>;
  return Bits{lane...} < Bits{} + static_cast<Lane>(count);
}

/// Loads and stores of the first `count` elements of a vector; see FirstElements.
template <class T, int width>
class MaskedAccess {
  using V = Vector<T, width>;
  using Bits = decltype(V{} < V{});

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION explicit MaskedAccess(int count)
      : m_count(count),
        m_mask(mask_of_first<Bits>(count, std::make_integer_sequence<int, width>{})) {}

  /// The other elements are 0.
  KOKKOSSOFTMAX_HOST_FUNCTION V load(const T* p) const {
    V v{};
    for (int i = 0; i < m_count; ++i) v[i] = p[i];
    return v;
  }
  KOKKOSSOFTMAX_HOST_FUNCTION void store(T* p, V v) const {
    for (int i = 0; i < m_count; ++i) p[i] = v[i];
  }
  KOKKOSSOFTMAX_HOST_FUNCTION HalfBits<width> load_halves(const std::uint16_t* p) const {
    return load_some_halves<width>(p, m_count);
  }
  KOKKOSSOFTMAX_HOST_FUNCTION void store_halves(std::uint16_t* p, HalfBits<width> halves) const {
    store_some_halves<width>(p, halves, m_count);
  }
  KOKKOSSOFTMAX_HOST_FUNCTION V select(V first, V rest) const { return m_mask ? first : rest; }

 private:
  int m_count;
  Bits m_mask;
};

/// Moves numbers of two bytes from and to the upper halves of integers of four bytes.
template <int width>
struct UpperHalves {
  using Bits = Vector<std::uint32_t, width>;

  /// The lower halves are 0.
  KOKKOSSOFTMAX_HOST_FUNCTION static Bits widened(HalfBits<width> halves) {
    return __builtin_convertvector(halves, Bits) << 16;
  }
  KOKKOSSOFTMAX_HOST_FUNCTION static HalfBits<width> narrowed(Bits bits) {
    return __builtin_convertvector(bits >> 16, HalfBits<width>);
  }
};

/// Converts vectors of a half type to vectors of float and back. Results are rounded to nearest,
/// ties to even. NaN stays NaN: the floats are results of arithmetic, whose NaN are quiet.
template <class Half, int width>
struct Conversion;

template <int width>
struct Conversion<HostBhalf, width> {
  using V = Vector<float, width>;
  using Bits = Vector<std::uint32_t, width>;

  KOKKOSSOFTMAX_HOST_FUNCTION static V to_float(HalfBits<width> halves) {
    return (V)UpperHalves<width>::widened(halves);
  }
  KOKKOSSOFTMAX_HOST_FUNCTION static HalfBits<width> from_float(V v) {
    const Bits bits = (Bits)v;
    const Bits half_ulp = 0x7fffu + ((bits >> 16) & 1u);
    return UpperHalves<width>::narrowed(bits + (half_ulp & (Bits)(v == v)));
  }
};

/// half_t by integer operations. The results are the same if a processor treats denormal floats as
/// 0: no float here is denormal, except those that are rounded to 0.
template <int width>
struct IntegerConversion {
  using V = Vector<float, width>;
  using Bits = Vector<std::uint32_t, width>;
  using Int = Vector<std::int32_t, width>;

  KOKKOSSOFTMAX_HOST_FUNCTION static V to_float(HalfBits<width> halves) {
    constexpr std::uint32_t bias_difference = (127u - 15u) << 23;
    constexpr std::uint32_t exponent_mask = 0x7c00u << 13;
    const Bits bits = UpperHalves<width>::widened(halves);
    const Bits without_sign = (bits & 0x7fff0000u) >> 3;
    const Bits exponent = without_sign & exponent_mask;
    const Bits normal = without_sign + bias_difference;
    const Bits special = normal + bias_difference;  // inf, NaN
    // A denormal number has no leading 1: 2^-14 is added and subtracted.
    const V denormal = (V)(normal + (1u << 23)) - 0x1p-14f;
    const Bits result = exponent == 0u ? (Bits)denormal : normal;
    return (V)((exponent == exponent_mask ? special : result) | (bits & 0x80000000u));
  }
  KOKKOSSOFTMAX_HOST_FUNCTION static HalfBits<width> from_float(V v) {
    constexpr std::int32_t infinity = 255 << 23;
    constexpr std::int32_t too_large = (127 + 16) << 23;  // 2^16
    constexpr std::int32_t smallest_normal = (127 - 14) << 23;
    constexpr std::uint32_t one_half = 126u << 23;
    const Bits sign = (Bits)v & 0x80000000u;
    const Bits bits = (Bits)v ^ sign;
    const Int magnitude = (Int)bits;  // x86-64 compares signed integers
    // A carry from the digits raises the exponent, up to that of infinity.
    const Bits normal = (bits - ((127u - 15u) << 23) + 0xfffu + ((bits >> 13) & 1u)) >> 13;
    // The last digit of numbers from 0.5 to 1 is that of denormal numbers, so the sum is rounded
    // as they are.
    const Bits denormal = (Bits)((V)bits + 0.5f) - one_half;
    const Bits special = magnitude > infinity ? Bits{} + 0x7e00u : Bits{} + 0x7c00u;
    const Bits finite = magnitude < smallest_normal ? denormal : normal;
    const Bits result = magnitude >= too_large ? special : finite;
    return UpperHalves<width>::narrowed(result << 16 | sign);
  }
};

template <int width>
struct Conversion<HostHalf, width> : IntegerConversion<width> {};

#if defined(__x86_64__)
// ---- x86-64: 16 bytes
KOKKOSSOFTMAX_HOST_FUNCTION __m128 larger(__m128 a, __m128 b) { return _mm_max_ps(a, b); }
KOKKOSSOFTMAX_HOST_FUNCTION __m128d larger(__m128d a, __m128d b) { return _mm_max_pd(a, b); }
KOKKOSSOFTMAX_HOST_FUNCTION __m128 lower(__m128 a, __m128 b) { return _mm_min_ps(a, b); }
KOKKOSSOFTMAX_HOST_FUNCTION __m128d lower(__m128d a, __m128d b) { return _mm_min_pd(a, b); }
KOKKOSSOFTMAX_HOST_FUNCTION void stream(void* p, __m128 v) {
  _mm_stream_ps(static_cast<float*>(p), v);
}
KOKKOSSOFTMAX_HOST_FUNCTION void stream(void* p, __m128d v) {
  _mm_stream_pd(static_cast<double*>(p), v);
}

template <>
struct UpperHalves<4> {
  KOKKOSSOFTMAX_HOST_FUNCTION static Vector<std::uint32_t, 4> widened(HalfBits<4> halves) {
    const __m128i h = {(long long)halves, 0};
    return (Vector<std::uint32_t, 4>)_mm_unpacklo_epi16(__m128i{}, h);
  }
  KOKKOSSOFTMAX_HOST_FUNCTION static HalfBits<4> narrowed(Vector<std::uint32_t, 4> bits) {
    const __m128i h = _mm_srai_epi32((__m128i)bits, 16);
    return (HalfBits<4>)_mm_packs_epi32(h, h)[0];
  }
};

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

#if defined(__AVX2__)
template <>
struct UpperHalves<8> {
  KOKKOSSOFTMAX_HOST_FUNCTION static Vector<std::uint32_t, 8> widened(HalfBits<8> halves) {
    return (Vector<std::uint32_t, 8>)_mm256_slli_epi32(_mm256_cvtepu16_epi32((__m128i)halves), 16);
  }
  KOKKOSSOFTMAX_HOST_FUNCTION static HalfBits<8> narrowed(Vector<std::uint32_t, 8> bits) {
    const __m256i h = _mm256_srai_epi32((__m256i)bits, 16);
    return (HalfBits<8>)_mm_packs_epi32(_mm256_castsi256_si128(h), _mm256_extracti128_si256(h, 1));
  }
};
#endif

#if defined(__F16C__)
template <>
struct Conversion<HostHalf, 4> {
  KOKKOSSOFTMAX_HOST_FUNCTION static __m128 to_float(HalfBits<4> halves) {
    return _mm_cvtph_ps(__m128i{(long long)halves, 0});
  }
  KOKKOSSOFTMAX_HOST_FUNCTION static HalfBits<4> from_float(__m128 v) {
    return (HalfBits<4>)_mm_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT)[0];
  }
};
template <>
struct Conversion<HostHalf, 8> {
  KOKKOSSOFTMAX_HOST_FUNCTION static __m256 to_float(HalfBits<8> halves) {
    return _mm256_cvtph_ps((__m128i)halves);
  }
  KOKKOSSOFTMAX_HOST_FUNCTION static HalfBits<8> from_float(__m256 v) {
    return (HalfBits<8>)_mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
  }
};
#endif

#if defined(__AVX__)
// ---- AVX: 32 bytes
KOKKOSSOFTMAX_HOST_FUNCTION __m256 larger(__m256 a, __m256 b) { return _mm256_max_ps(a, b); }
KOKKOSSOFTMAX_HOST_FUNCTION __m256d larger(__m256d a, __m256d b) { return _mm256_max_pd(a, b); }
KOKKOSSOFTMAX_HOST_FUNCTION __m256 lower(__m256 a, __m256 b) { return _mm256_min_ps(a, b); }
KOKKOSSOFTMAX_HOST_FUNCTION __m256d lower(__m256d a, __m256d b) { return _mm256_min_pd(a, b); }
KOKKOSSOFTMAX_HOST_FUNCTION void stream(void* p, __m256 v) {
  _mm256_stream_ps(static_cast<float*>(p), v);
}
KOKKOSSOFTMAX_HOST_FUNCTION void stream(void* p, __m256d v) {
  _mm256_stream_pd(static_cast<double*>(p), v);
}
using Int32x8 = std::int32_t __attribute__((vector_size(32)));
using Int64x4 = std::int64_t __attribute__((vector_size(32)));
#if !defined(__AVX512F__)
/// Element i of the result is the entry of the table whose number is in the low bits of v[i].
template <int entries>
KOKKOSSOFTMAX_HOST_FUNCTION __m256 look_up(const float* table, __m256 v) {
  static_assert(entries == 8);
  return _mm256_permutevar8x32_ps(_mm256_load_ps(table), (__m256i)v);
}
#endif
KOKKOSSOFTMAX_HOST_FUNCTION bool any(Int32x8 mask) { return _mm256_movemask_ps((__m256)mask) != 0; }
KOKKOSSOFTMAX_HOST_FUNCTION bool any(Int64x4 mask) {
  return _mm256_movemask_pd((__m256d)mask) != 0;
}
#endif

#if defined(__AVX__) && !defined(__AVX512VL__)
#define KOKKOSSOFTMAX_HOST_MASKED_ACCESS(T, width, prefix, suffix, Register)                      \
  template <>                                                                                     \
  class MaskedAccess<T, width> {                                                                  \
    using V = Vector<T, width>;                                                                   \
    using Bits = decltype(V{} < V{});                                                             \
                                                                                                  \
   public:                                                                                        \
    KOKKOSSOFTMAX_HOST_FUNCTION explicit MaskedAccess(int count)                                  \
        : m_count(count),                                                                         \
          m_mask(mask_of_first<Bits>(count, std::make_integer_sequence<int, width>{})) {}         \
    KOKKOSSOFTMAX_HOST_FUNCTION V load(const T* p) const {                                        \
      return prefix##_maskload_##suffix(p, (Register)m_mask);                                     \
    }                                                                                             \
    KOKKOSSOFTMAX_HOST_FUNCTION void store(T* p, V v) const {                                     \
      alignas(V) T numbers[width];                                                                \
      __builtin_memcpy(numbers, &v, sizeof(v));                                                   \
      copy_first<width>(p, numbers, m_count);                                                     \
    }                                                                                             \
    KOKKOSSOFTMAX_HOST_FUNCTION V select(V first, V rest) const { return m_mask ? first : rest; } \
    KOKKOSSOFTMAX_HOST_FUNCTION HalfBits<width> load_halves(const std::uint16_t* p) const {       \
      return load_some_halves<width>(p, m_count);                                                 \
    }                                                                                             \
    KOKKOSSOFTMAX_HOST_FUNCTION void store_halves(std::uint16_t* p,                               \
                                                  HalfBits<width> halves) const {                 \
      store_some_halves<width>(p, halves, m_count);                                               \
    }                                                                                             \
                                                                                                  \
   private:                                                                                       \
    int m_count;                                                                                  \
    Bits m_mask;                                                                                  \
  };
KOKKOSSOFTMAX_HOST_MASKED_ACCESS(float, 4, _mm, ps, __m128i)
KOKKOSSOFTMAX_HOST_MASKED_ACCESS(float, 8, _mm256, ps, __m256i)
KOKKOSSOFTMAX_HOST_MASKED_ACCESS(double, 2, _mm, pd, __m128i)
KOKKOSSOFTMAX_HOST_MASKED_ACCESS(double, 4, _mm256, pd, __m256i)
#undef KOKKOSSOFTMAX_HOST_MASKED_ACCESS
#endif

#if defined(__AVX512VL__)
/// Loads and stores numbers of two bytes whose bit in `mask` is 1.
KOKKOSSOFTMAX_HOST_FUNCTION __m128i load_halves_of(__mmask8 mask, const std::uint16_t* p) {
  return _mm_maskz_loadu_epi16(mask, p);
}
KOKKOSSOFTMAX_HOST_FUNCTION __m256i load_halves_of(__mmask16 mask, const std::uint16_t* p) {
  return _mm256_maskz_loadu_epi16(mask, p);
}
KOKKOSSOFTMAX_HOST_FUNCTION void store_halves_of(__mmask8 mask, std::uint16_t* p, __m128i v) {
  _mm_mask_storeu_epi16(p, mask, v);
}
KOKKOSSOFTMAX_HOST_FUNCTION void store_halves_of(__mmask16 mask, std::uint16_t* p, __m256i v) {
  _mm256_mask_storeu_epi16(p, mask, v);
}

#define KOKKOSSOFTMAX_HOST_MASKED_ACCESS(T, width, prefix, suffix, Mask)                    \
  template <>                                                                               \
  class MaskedAccess<T, width> {                                                            \
    using V = Vector<T, width>;                                                             \
                                                                                            \
   public:                                                                                  \
    KOKKOSSOFTMAX_HOST_FUNCTION explicit MaskedAccess(int count)                            \
        : m_mask(static_cast<Mask>((1u << count) - 1)) {}                                   \
    KOKKOSSOFTMAX_HOST_FUNCTION V load(const T* p) const {                                  \
      return prefix##_maskz_loadu_##suffix(m_mask, p);                                      \
    }                                                                                       \
    KOKKOSSOFTMAX_HOST_FUNCTION void store(T* p, V v) const {                               \
      prefix##_mask_storeu_##suffix(p, m_mask, v);                                          \
    }                                                                                       \
    KOKKOSSOFTMAX_HOST_FUNCTION V select(V first, V rest) const {                           \
      return prefix##_mask_blend_##suffix(m_mask, rest, first);                             \
    }                                                                                       \
    KOKKOSSOFTMAX_HOST_FUNCTION HalfBits<width> load_halves(const std::uint16_t* p) const { \
      const auto halves = load_halves_of(m_mask, p);                                        \
      HalfBits<width> result;                                                               \
      __builtin_memcpy(&result, &halves, sizeof(result));                                   \
      return result;                                                                        \
    }                                                                                       \
    KOKKOSSOFTMAX_HOST_FUNCTION void store_halves(std::uint16_t* p,                         \
                                                  HalfBits<width> halves) const {           \
      decltype(load_halves_of(m_mask, p)) v{};                                              \
      __builtin_memcpy(&v, &halves, sizeof(halves));                                        \
      store_halves_of(m_mask, p, v);                                                        \
    }                                                                                       \
                                                                                            \
   private:                                                                                 \
    Mask m_mask;                                                                            \
  };
KOKKOSSOFTMAX_HOST_MASKED_ACCESS(float, 4, _mm, ps, __mmask8)
KOKKOSSOFTMAX_HOST_MASKED_ACCESS(float, 8, _mm256, ps, __mmask8)
KOKKOSSOFTMAX_HOST_MASKED_ACCESS(float, 16, _mm512, ps, __mmask16)
KOKKOSSOFTMAX_HOST_MASKED_ACCESS(double, 2, _mm, pd, __mmask8)
KOKKOSSOFTMAX_HOST_MASKED_ACCESS(double, 4, _mm256, pd, __mmask8)
KOKKOSSOFTMAX_HOST_MASKED_ACCESS(double, 8, _mm512, pd, __mmask8)
#undef KOKKOSSOFTMAX_HOST_MASKED_ACCESS
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
KOKKOSSOFTMAX_HOST_FUNCTION __m512 lower(__m512 a, __m512 b) {
  return _mm512_mask_min_ps(a, 0xffff, a, b);
}
KOKKOSSOFTMAX_HOST_FUNCTION __m512d lower(__m512d a, __m512d b) {
  return _mm512_mask_min_pd(a, 0xff, a, b);
}
KOKKOSSOFTMAX_HOST_FUNCTION __m512 product_or_zero_below(__m512 x, __m512 limit, __m512 a,
                                                         __m512 b) {
  return _mm512_maskz_mul_ps(_mm512_cmp_ps_mask(x, limit, _CMP_NLT_UQ), a, b);
}
KOKKOSSOFTMAX_HOST_FUNCTION __m512d product_or_zero_below(__m512d x, __m512d limit, __m512d a,
                                                          __m512d b) {
  return _mm512_maskz_mul_pd(_mm512_cmp_pd_mask(x, limit, _CMP_NLT_UQ), a, b);
}
/// Element i of the result is the entry of the table whose number is in the low bits of v[i].
template <int entries>
KOKKOSSOFTMAX_HOST_FUNCTION __m512 look_up(const float* table, __m512 v) {
  static_assert(entries == 16 || entries == 32);
  const __m512 first = _mm512_load_ps(table);
  if constexpr (entries == 16) return _mm512_maskz_permutexvar_ps(0xffff, (__m512i)v, first);
  return _mm512_maskz_permutex2var_ps(0xffff, first, (__m512i)v,
                                      _mm512_load_ps(table + entries - 16));
}
template <int entries>
KOKKOSSOFTMAX_HOST_FUNCTION __m512d look_up(const double* table, __m512d v) {
  static_assert(entries == 16);
  return _mm512_maskz_permutex2var_pd(0xff, _mm512_load_pd(table), (__m512i)v,
                                      _mm512_load_pd(table + 8));
}
KOKKOSSOFTMAX_HOST_FUNCTION __m512 multiply_add_or_zero_below(__m512 x, __m512 limit, __m512 a,
                                                              __m512 b, __m512 c) {
  return _mm512_maskz_fmadd_ps(_mm512_cmp_ps_mask(x, limit, _CMP_NLT_UQ), a, b, c);
}
KOKKOSSOFTMAX_HOST_FUNCTION __m512d multiply_add_or_zero_below(__m512d x, __m512d limit, __m512d a,
                                                               __m512d b, __m512d c) {
  return _mm512_maskz_fmadd_pd(_mm512_cmp_pd_mask(x, limit, _CMP_NLT_UQ), a, b, c);
}
template <>
struct PartOfTwo<Vector<float, 16>> {
  static constexpr bool is_instruction = true;
  KOKKOSSOFTMAX_HOST_FUNCTION static __m512 of(__m512 a, __m512 b, int first) {
    using Numbers = Vector<std::int32_t, 16>;
    const Numbers elements = Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} + first;
    return _mm512_maskz_permutex2var_ps(0xffff, a, (__m512i)elements, b);
  }
};
template <>
struct PartOfTwo<Vector<double, 8>> {
  static constexpr bool is_instruction = true;
  KOKKOSSOFTMAX_HOST_FUNCTION static __m512d of(__m512d a, __m512d b, int first) {
    using Numbers = Vector<std::int64_t, 8>;
    const Numbers elements = Numbers{0, 1, 2, 3, 4, 5, 6, 7} + first;
    return _mm512_maskz_permutex2var_pd(0xff, a, (__m512i)elements, b);
  }
};
KOKKOSSOFTMAX_HOST_FUNCTION void stream(void* p, __m512 v) {
  _mm512_stream_ps(static_cast<float*>(p), v);
}
KOKKOSSOFTMAX_HOST_FUNCTION void stream(void* p, __m512d v) {
  _mm512_stream_pd(static_cast<double*>(p), v);
}

template <>
struct Conversion<HostHalf, 16> {
  KOKKOSSOFTMAX_HOST_FUNCTION static __m512 to_float(HalfBits<16> halves) {
    return _mm512_maskz_cvtph_ps(0xffff, (__m256i)halves);  // with a mask: see larger()
  }
  KOKKOSSOFTMAX_HOST_FUNCTION static HalfBits<16> from_float(__m512 v) {
    return (HalfBits<16>)_mm512_maskz_cvtps_ph(0xffff, v, _MM_FROUND_TO_NEAREST_INT);
  }
};
template <>
struct Conversion<HostBhalf, 16> {
  KOKKOSSOFTMAX_HOST_FUNCTION static __m512 to_float(HalfBits<16> halves) {
    using Words = Vector<std::uint16_t, 32>;
    constexpr Words from = {0, 0, 0, 1, 0, 2,  0, 3,  0, 4,  0, 5,  0, 6,  0, 7,
                            0, 8, 0, 9, 0, 10, 0, 11, 0, 12, 0, 13, 0, 14, 0, 15};
    const __m512i words = _mm512_maskz_broadcast_i64x4(0xff, (__m256i)halves);
    return (__m512)_mm512_maskz_permutexvar_epi16(0xaaaaaaaa, (__m512i)from, words);
  }
  KOKKOSSOFTMAX_HOST_FUNCTION static HalfBits<16> from_float(__m512 v) {
    using Words = Vector<std::uint16_t, 32>;
    constexpr Words from = {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
    const __m512i bits = (__m512i)v;
    const __mmask16 is_number = _mm512_cmp_ps_mask(v, v, _CMP_ORD_Q);
    const __mmask16 is_odd =
        _mm512_mask_test_epi32_mask(is_number, bits, _mm512_set1_epi32(1 << 16));
    __m512i rounded = _mm512_mask_add_epi32(bits, is_number, bits, _mm512_set1_epi32(0x7fff));
    rounded = _mm512_mask_add_epi32(rounded, is_odd, rounded, _mm512_set1_epi32(1));
    const __m512i upper = _mm512_maskz_permutexvar_epi16(0xffffffff, (__m512i)from, rounded);
    return (HalfBits<16>)_mm512_maskz_extracti64x4_epi64(0xf, upper, 0);
  }
};

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

template <>
struct Conversion<HostHalf, 4> {
  KOKKOSSOFTMAX_HOST_FUNCTION static Vector<float, 4> to_float(HalfBits<4> halves) {
    return (Vector<float, 4>)vcvt_f32_f16((float16x4_t)halves);
  }
  KOKKOSSOFTMAX_HOST_FUNCTION static HalfBits<4> from_float(Vector<float, 4> v) {
    return (HalfBits<4>)vcvt_f16_f32((float32x4_t)v);
  }
};
#endif

// ---- Any processor, again: these call the functions above, so they come after all of them

/// a * b + c; 0 where x < limit.
template <class V>
KOKKOSSOFTMAX_HOST_FUNCTION V multiply_add_or_zero_below(V x, V limit, V a, V b, V c) {
  return x < limit ? V{} : multiply_add(a, b, c);
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
