// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_VECTOR_HPP
#define KOKKOSSOFTMAX_SRC_HOST_VECTOR_HPP

/// \file
/// Vectors of numbers that fill a register: loads, stores and reductions. The arithmetic is that of
/// GNU vectors.

#include <host/Instructions.hpp>
#include <type_traits>
#include <utility>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

template <class T>
struct NumberTraits;
template <>
struct NumberTraits<float> {
  using Bits = std::uint32_t;
  static constexpr float infinity = __builtin_inff();
  static constexpr float largest = __FLT_MAX__;
};
template <>
struct NumberTraits<double> {
  using Bits = std::uint64_t;
  static constexpr double infinity = __builtin_inf();
  static constexpr double largest = __DBL_MAX__;
};

/// What can be done with a vector of `width` numbers of type T. Numbers of a half type in memory
/// are converted from and to float.
template <class T_, int width_>
struct Lanes {
  using T = T_;
  static constexpr int width = width_;
  using V = Vector<T, width>;
  using Anywhere = typename VectorType<T, width>::anywhere;
  using HalvesAnywhere = typename VectorType<std::uint16_t, width>::anywhere;
  using Bits = Vector<typename NumberTraits<T>::Bits, width>;

  KOKKOSSOFTMAX_HOST_FUNCTION static V splat(T x) { return x - V{}; }
  KOKKOSSOFTMAX_HOST_FUNCTION static V load(const T* p) {
    return *reinterpret_cast<const Anywhere*>(p);
  }
  KOKKOSSOFTMAX_HOST_FUNCTION static void store(T* p, V v) { *reinterpret_cast<Anywhere*>(p) = v; }
  template <class Half>
  KOKKOSSOFTMAX_HOST_FUNCTION static V load(const Half* p) {
    return Conversion<Half, width>::to_float(*reinterpret_cast<const HalvesAnywhere*>(p));
  }
  template <class Half>
  KOKKOSSOFTMAX_HOST_FUNCTION static void store(Half* p, V v) {
    *reinterpret_cast<HalvesAnywhere*>(p) = Conversion<Half, width>::from_float(v);
  }
  /// Stores past the caches. p is a multiple of the size of what is stored.
  KOKKOSSOFTMAX_HOST_FUNCTION static void stream_to(T* p, V v) { stream(p, v); }
  template <class Half>
  KOKKOSSOFTMAX_HOST_FUNCTION static void stream_to(Half* p, V v) {
    stream(p, (Vector<float, width / 2>)Conversion<Half, width>::from_float(v));
  }

  /// combine(combine(...), ...) over all elements, in a tree.
  template <class Combine>
  KOKKOSSOFTMAX_HOST_FUNCTION static T reduce(V v, const Combine& combine) {
    if constexpr (width == 2)
      return combine(v[0], v[1]);
    else
      return Lanes<T, width / 2>::reduce(combine(half<0>(v), half<1>(v)), combine);
  }
  KOKKOSSOFTMAX_HOST_FUNCTION static T max(V v) {
    return reduce(v, [](auto a, auto b) { return larger(a, b); });
  }
  KOKKOSSOFTMAX_HOST_FUNCTION static T sum(V v) {
    return reduce(v, [](auto a, auto b) { return a + b; });
  }

  /// Lane i of the result is the reduction of all elements of v[i].
  template <class Combine>
  KOKKOSSOFTMAX_HOST_FUNCTION static V reduce_each(V (&v)[width], const Combine& combine) {
    return reduce_pairs<width, 1>(v, combine);
  }

  /// The reduction of all elements of v in each lane. The first one has the bits of reduce_each().
  template <class Combine, int distance = 1>
  KOKKOSSOFTMAX_HOST_FUNCTION static V reduce_in_all_lanes(V v, const Combine& combine) {
    if constexpr (distance == width)
      return v;
    else
      return reduce_in_all_lanes<Combine, 2 * distance>(
          combine(v, shuffle<&at_distance<distance>>(v, v)), combine);
  }

  /// The step of reduce_each() that leads to `vectors` vectors in one, given two vectors that hold
  /// half as many each.
  template <int vectors, class Combine>
  KOKKOSSOFTMAX_HOST_FUNCTION static V reduce_two(V a, V b, const Combine& combine) {
    constexpr int in_16_bytes = 16 / static_cast<int>(sizeof(T));
    constexpr int group = vectors / 2 >= in_16_bytes ? in_16_bytes : 1;
    return combine(shuffle<&every_second<group, 0>>(a, b), shuffle<&every_second<group, 1>>(a, b));
  }

  /// Lane i of the result is element index(i) of a, or element index(i) - width of b.
  template <int (*index)(int)>
  KOKKOSSOFTMAX_HOST_FUNCTION static V shuffle(V a, V b) {
    return shuffle_by<index>(a, b, Indices{});
  }

 private:
  using Indices = std::make_integer_sequence<int, width>;
  template <int (*index)(int), int... i>
  KOKKOSSOFTMAX_HOST_FUNCTION static V shuffle_by(V a, V b, std::integer_sequence<int, i...>) {
#if __has_builtin(__builtin_shufflevector)
    return __builtin_shufflevector(a, b, index(i)...);
#else
    return __builtin_shuffle(a, b, Bits{index(i)...});
#endif
  }

  template <int distance>
  static constexpr int at_distance(int i) {
    return i ^ distance;
  }

  template <int upper>
  KOKKOSSOFTMAX_HOST_FUNCTION static auto half(V v) {
    Vector<T, width / 2> result;
    __builtin_memcpy(&result, reinterpret_cast<const char*>(&v) + upper * sizeof(result),
                     sizeof(result));
    return result;
  }

  /// Halves the number of vectors: from two vectors, the elements (or groups of them) with even
  /// numbers are combined with those with odd numbers. Each step moves elements within 16 bytes, or
  /// groups of 16 bytes, which is one instruction.
  template <int vectors, int group, class Combine>
  KOKKOSSOFTMAX_HOST_FUNCTION static V reduce_pairs(V (&v)[width], const Combine& combine) {
    if constexpr (vectors == 1) {
      return v[0];
    } else {
      for (int i = 0; i < vectors / 2; ++i)
        v[i] = combine(shuffle<&every_second<group, 0>>(v[2 * i], v[2 * i + 1]),
                       shuffle<&every_second<group, 1>>(v[2 * i], v[2 * i + 1]));
      constexpr int in_16_bytes = 16 / static_cast<int>(sizeof(T));
      constexpr bool next_is_wide = width / vectors * 2 >= in_16_bytes;
      return reduce_pairs < vectors / 2, next_is_wide ? in_16_bytes : 1 > (v, combine);
    }
  }

  /// For shuffle(): the groups of `group` elements with even (or odd) numbers of a and b: those of
  /// a in the lower half. With groups of one element, this is done for each 16 bytes of a and b.
  template <int group, int odd>
  static constexpr int every_second(int i) {
    constexpr int block =
        group > 1 ? width : static_cast<int>(smaller(width, 16 / static_cast<int>(sizeof(T))));
    const int begin = i / block * block;
    const int position = i - begin;
    const int from_b = position / (block / 2);
    const int g = position % (block / 2) / group;
    return from_b * width + begin + (2 * g + odd) * group + position % group;
  }
};

/// Which elements of a vector take part in a load or a store: the first `count`.
template <class T, int width>
class FirstElements : public MaskedAccess<T, width> {
  using V = Vector<T, width>;
  using Base = MaskedAccess<T, width>;

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION explicit FirstElements(int count) : Base(count), m_number(count) {}
  using Base::load;  // the other elements are 0
  using Base::store;
  template <class Half>
  KOKKOSSOFTMAX_HOST_FUNCTION V load(const Half* p) const {
    return Conversion<Half, width>::to_float(Base::load_halves(&p->bits));
  }
  template <class Half>
  KOKKOSSOFTMAX_HOST_FUNCTION void store(Half* p, V v) const {
    Base::store_halves(&p->bits, Conversion<Half, width>::from_float(v));
  }
  /// Stores in parts of 1, 2, 4, ... elements. A store with a mask can wait for the cache line
  /// behind the last element, although it doesn't change that line.
  template <class Y>
  KOKKOSSOFTMAX_HOST_FUNCTION void store_in_parts(Y* p, V v) const {
    alignas(V) Y numbers[width];
    Lanes<T, width>::store(numbers, v);
    copy_in_parts(p, numbers, m_number);
  }
  /// Stores past the caches. Doubles are stored in parts, floats one at a time: parts are not
  /// faster for floats (docs/trials.md).
  KOKKOSSOFTMAX_HOST_FUNCTION void stream_to(T* p, V v) const {
    alignas(V) T numbers[width];
    Lanes<T, width>::store(numbers, v);
    if constexpr (sizeof(T) == sizeof(double)) {
      StreamedParts parts{p, numbers, m_number};
      parts.template stream_until_multiple_of<width>();
      parts.template stream_rest<width>();
    } else {
      for (int i = 0; i < m_number; ++i) stream(p + i, numbers[i]);
    }
  }

 private:
  /// Copies the first `count` numbers, at most `size`. Out of line, because it is seldom called.
  template <class Y>
  [[gnu::noinline]] static void copy_in_parts(Y* p, const Y* numbers, int count) {
    copy_first<width>(p, numbers, count);
  }

  /// Streams some numbers in parts of 1, 2, 4, ..., whose addresses are multiples of their sizes.
  struct StreamedParts {
    T* to;
    const T* numbers;
    int left;

    /// The parts up to a multiple of `size` numbers, if as many are left.
    template <int size>
    KOKKOSSOFTMAX_HOST_FUNCTION void stream_until_multiple_of() {
      if constexpr (size > 1) {
        stream_until_multiple_of<size / 2>();
        const bool is_multiple = reinterpret_cast<std::uintptr_t>(to) % (size * sizeof(T)) == 0;
        if (!is_multiple && left >= size / 2) stream_next<size / 2>();
      }
    }
    /// All parts that are left, fewer than 2 * size numbers.
    template <int size>
    KOKKOSSOFTMAX_HOST_FUNCTION void stream_rest() {
      if (left >= size) stream_next<size>();
      if constexpr (size > 1) stream_rest<size / 2>();
    }

   private:
    template <int size>
    KOKKOSSOFTMAX_HOST_FUNCTION void stream_next() {
      if constexpr (size == 1) {
        stream(to, *numbers);
      } else {
        Vector<T, size> part;
        __builtin_memcpy(&part, numbers, sizeof(part));
        stream(to, part);
      }
      to += size;
      numbers += size;
      left -= size;
    }
  };

  int m_number;
};

template <class T>
inline constexpr int widest = KOKKOSSOFTMAX_HOST_VECTOR_BYTES / static_cast<int>(sizeof(T));

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
