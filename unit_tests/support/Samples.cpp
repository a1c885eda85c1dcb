// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <support/Samples.hpp>
#include <type_traits>
#include <utility>

namespace KokkosSoftmax::Test {
namespace {

/// The constants of the hostile rows for an x of type X.
template <class X>
struct Values {
  using T = X;
  using Limits = std::numeric_limits<T>;
  static constexpr bool is_double = std::is_same_v<T, double>;
  static constexpr T inf = Limits::infinity();
  static constexpr T nan = Limits::quiet_NaN();
  static constexpr T largest = Limits::max();
  static constexpr T denormal = Limits::denorm_min();
  static constexpr T huge = is_double ? T(1e300) : T(1e38);
  static constexpr int exponent = is_double ? 300 : 38;
  /// exp(-vanishing) is close to the smallest normal number.
  static constexpr T vanishing = is_double ? T(708) : T(87);
  /// offset + k * step is exact for small k.
  static constexpr T offset = T(1e7);
  static constexpr T step = is_double ? T(0.0625) : T(1);
};

#if !KOKKOS_HALF_T_IS_FLOAT
template <>
struct Values<Kokkos::Experimental::half_t> : Values<float> {
  static constexpr float largest = 65504;
  static constexpr float denormal = 0x1p-24f;
  static constexpr float huge = 60000;
  static constexpr int exponent = 4;
  static constexpr float offset = 2000;
};
#endif
#if !KOKKOS_BHALF_T_IS_FLOAT
template <>
struct Values<Kokkos::Experimental::bhalf_t> : Values<float> {
  static constexpr float largest = 0x1.fep127f;
  static constexpr float denormal = 0x1p-133f;
  static constexpr float offset = 200;
};
#endif

template <class X, class T>
T rounded(T value) {
  return static_cast<T>(static_cast<X>(value));
}

/// Adds rows to a matrix, each given as a function of the column.
template <class X>
class RowList {
 public:
  using T = typename Values<X>::T;

  explicit RowList(std::size_t columns) { m_rows.columns = columns; }

  void add(const char* name, const std::function<T(std::size_t)>& entry) {
    for (std::size_t i = 0; i < m_rows.columns; ++i) m_rows.values.push_back(rounded<X>(entry(i)));
    m_rows.names.push_back(name);
    ++m_rows.count;
  }

  /// Adds a row with `special` in one column and `others` in all other columns.
  void add_one(const char* name, std::size_t column, T special, T others) {
    add(name, [=](std::size_t i) { return i == column ? special : others; });
  }

  Rows<T> rows() { return std::move(m_rows); }

 private:
  Rows<T> m_rows;
};

template <class X>
void add_equal_rows(RowList<X>& list) {
  using V = Values<X>;
  using T = typename V::T;
  const std::pair<const char*, T> kinds[] = {{"all 0", T(0)},
                                             {"all 0.3", T(0.3)},
                                             {"all large", V::offset},
                                             {"all -large", -V::offset},
                                             {"all huge", V::huge},
                                             {"all -huge", -V::huge},
                                             {"all largest", V::largest},
                                             {"all -largest", -V::largest},
                                             {"all denormal", V::denormal}};
  for (const auto& [name, value] : kinds) list.add(name, [v = value](std::size_t) { return v; });
}

template <class X>
void add_sorted_rows(RowList<X>& list, std::size_t columns) {
  using T = typename Values<X>::T;
  const T n = static_cast<T>(columns);
  list.add("ascending to 40", [=](std::size_t i) { return 40 * static_cast<T>(i) / n; });
  list.add("descending to -40", [=](std::size_t i) { return -40 * static_cast<T>(i) / n; });
  list.add("ascending in steps of 10", [](std::size_t i) { return 10 * static_cast<T>(i); });
  list.add("descending in steps of 10", [](std::size_t i) { return -10 * static_cast<T>(i); });
}

template <class X>
void add_special_rows(RowList<X>& list, std::size_t columns) {
  using V = Values<X>;
  using T = typename V::T;
  const std::size_t last = columns - 1, middle = columns / 2;
  list.add_one("+inf first", 0, V::inf, T(1));
  list.add_one("+inf last", last, V::inf, T(1));
  list.add_one("NaN first", 0, V::nan, T(1));
  list.add_one("NaN in the middle", middle, V::nan, T(1));
  list.add_one("NaN last", last, V::nan, T(1));
  list.add_one("-NaN last", last, -V::nan, T(1));
  list.add_one("NaN among -inf", middle, V::nan, -V::inf);
  list.add_one("NaN among +inf", middle, V::nan, V::inf);
  list.add_one("-inf first", 0, -V::inf, T(1));
  list.add_one("-inf last", last, -V::inf, T(1));
  list.add_one("one finite entry among -inf", last, T(-3), -V::inf);
  list.add_one("+inf among -inf", middle, V::inf, -V::inf);
  list.add("all -inf", [](std::size_t) { return -V::inf; });
  list.add("all +inf", [](std::size_t) { return V::inf; });
  list.add("all NaN", [](std::size_t) { return V::nan; });
  list.add("-inf and finite in turn",
           [](std::size_t i) { return i % 2 == 0 ? -V::inf : T(0.01) * static_cast<T>(i % 97); });
}

template <class X>
void add_extreme_rows(RowList<X>& list, std::size_t columns) {
  using V = Values<X>;
  using T = typename V::T;
  list.add_one("huge first", 0, V::huge, T(0));
  list.add_one("huge last", columns - 1, V::huge, T(0));
  list.add_one("-huge last", columns - 1, -V::huge, T(0));
  list.add("huge and -huge in turn", [](std::size_t i) { return i % 2 == 0 ? V::huge : -V::huge; });
  list.add("denormals", [](std::size_t i) { return static_cast<T>(i) * V::denormal; });
  list.add("0 and -0 in turn", [](std::size_t i) { return i % 2 == 0 ? T(0) : -T(0); });
  list.add("probabilities around the smallest normal number", [](std::size_t i) {
    return i == 0 ? T(0) : -V::vanishing + 10 - T(0.25) * static_cast<T>(i % 80);
  });
  // A kernel can round the value that it subtracts to a number of few bits. The maximum of this row
  // is not such a number.
  list.add("probabilities just above the smallest normal number", [](std::size_t i) {
    constexpr T max = T(0.0015);
    const T last = max + std::log(std::numeric_limits<T>::min());
    return i == 0 ? max
                  : last * (1 - static_cast<T>(1 + i % 100) * std::numeric_limits<T>::epsilon());
  });
  list.add("large + small",
           [](std::size_t i) { return V::offset + V::step * static_cast<T>(i % 13); });
  list.add("-large - small",
           [](std::size_t i) { return -V::offset - V::step * static_cast<T>(i % 13); });
  auto random = std::make_shared<std::mt19937_64>(columns);
  list.add("all magnitudes", [=](std::size_t) {
    std::uniform_real_distribution<double> exponent(-V::exponent, V::exponent);
    const T magnitude = static_cast<T>(std::pow(10.0, exponent(*random)));
    return (*random)() % 2 == 0 ? magnitude : -magnitude;
  });
}

/// Adds the row base + rise * column / columns.
template <class X>
void add_ramp(RowList<X>& list, std::size_t columns, const char* name, double base, double rise) {
  using T = typename Values<X>::T;
  list.add(name, [=](std::size_t i) {
    return static_cast<T>(base + rise * static_cast<double>(i) / static_cast<double>(columns));
  });
}

template <class X>
void add_two_ramps(RowList<X>& list, std::size_t columns) {
  add_ramp(list, columns, "rising by 4", 1, 4);
  add_ramp(list, columns, "falling by 4", 1, -4);
}

/// Adds a row with `special` in a random column, and others(random) in the other columns.
template <class X, class Others>
void add_one_at_random(RowList<X>& list, const char* name, std::size_t columns, double special,
                       double factor, std::mt19937_64& random, const Others& others) {
  using T = typename Values<X>::T;
  const std::size_t column = random() % columns;
  list.add(name, [&](std::size_t i) {
    return static_cast<T>(factor * (i == column ? special : others(random)));
  });
}

template <class X>
RowList<X> near_zero_list(std::size_t columns, double factor) {
  using T = typename Values<X>::T;
  constexpr double inf = std::numeric_limits<double>::infinity();
  std::mt19937_64 random(columns);
  const auto far = [](std::mt19937_64& r) {
    return std::uniform_real_distribution<double>(-46, -20)(r);
  };
  const auto far_or_nothing = [=](std::mt19937_64& r) { return r() % 2 == 0 ? -inf : far(r); };
  const auto farthest = [](std::mt19937_64&) { return -46.0; };
  // their exponentials add up to some 0.03
  const double log_of_columns = std::log(static_cast<double>(columns));
  const auto middle = [=](std::mt19937_64&) { return -3.5 - log_of_columns; };
  const auto tiny = [&] {
    const double magnitude =
        std::pow(10.0, std::uniform_real_distribution<double>(-18, -3)(random));
    return random() % 2 == 0 ? magnitude : -magnitude;
  };
  RowList<X> list(columns);
  const auto add = [&](const char* name, double special, const auto& others) {
    add_one_at_random(list, name, columns, special, factor, random, others);
  };
  add("0, the others far below", 0.0, far);
  add("0, some others far below", 0.0, far_or_nothing);
  for (int i = 0; i < 4; ++i) add("a tiny entry, the others far below", tiny(), far);
  add("a tiny entry, some others far below", tiny(), far_or_nothing);
  add("0, the others at -46", 0.0, farthest);
  add("0, the others at some -4", 0.0, middle);
  add("0.03, the others at some -4", 0.03, middle);
  add("-0.03, the others at some -4", -0.03, middle);
  add("1/16, the others far below", 0.0625, far);
  add("-1/16, the others far below", -0.0625, far);
  add("0, the others -inf", 0.0, [](std::mt19937_64&) { return -inf; });
  list.add("two entries 0, the others far below", [&](std::size_t i) {
    return static_cast<T>(factor * (i == 0 || i == columns - 1 ? 0.0 : far(random)));
  });
  list.add("two entries near -0.7", [&](std::size_t i) {
    return static_cast<T>(factor *
                          (i == 0 || i == columns - 1 ? -0.69314718055994531 : far(random)));
  });
  return list;
}

}  // namespace

template <class X>
RowsFor<X> near_zero_rows(std::size_t columns, double factor) {
  return near_zero_list<X>(columns, factor).rows();
}

template <class X>
RowsFor<X> normal_rows(std::size_t count, std::size_t columns) {
  using T = typename Values<X>::T;
  std::mt19937_64 random(1000003 * count + columns);
  std::normal_distribution<double> normal(0.0, 3.0);
  Rows<T> rows{count, columns, std::vector<T>(count * columns)};
  for (T& value : rows.values) value = rounded<X>(static_cast<T>(normal(random)));
  return rows;
}

template <class X>
const SampleFor<X>& normal_sample(std::size_t count, std::size_t columns) {
  static std::map<std::pair<std::size_t, std::size_t>, SampleFor<X>> samples;
  const auto [entry, is_new] = samples.try_emplace({count, columns});
  if (is_new) {
    entry->second.rows = normal_rows<X>(count, columns);
    entry->second.expected = reference(entry->second.rows);
  }
  return entry->second;
}

template <class X>
RowsFor<X> two_ramp_rows(std::size_t columns) {
  RowList<X> list(columns);
  add_two_ramps(list, columns);
  return list.rows();
}

template <class X>
RowsFor<X> ramp_rows(std::size_t columns) {
  using T = typename Values<X>::T;
  RowList<X> list(columns);
  add_two_ramps(list, columns);
  add_ramp(list, columns, "rising by 0.25", 0, 0.25);
  add_ramp(list, columns, "rising by 0.5", -2, 0.5);
  add_ramp(list, columns, "rising by 30", 0, 30);
  add_ramp(list, columns, "rising by 4 from 1000", 1000, 4);
  list.add("rising in stairs of 512 columns",
           [](std::size_t i) { return static_cast<T>(5.0 / 512 * static_cast<double>(i / 512)); });
  list.add("rising in stairs of 8192 columns",
           [](std::size_t i) { return static_cast<T>(5.0 / 512 * static_cast<double>(i / 8192)); });
  return list.rows();
}

template <class X>
RowsFor<X> hostile_rows(std::size_t columns) {
  RowList<X> list(columns);
  add_equal_rows(list);
  add_sorted_rows(list, columns);
  add_special_rows(list, columns);
  add_extreme_rows(list, columns);
  return list.rows();
}

#define KOKKOSSOFTMAX_TEST_INSTANTIATE(X)                                  \
  template RowsFor<X> normal_rows<X>(std::size_t, std::size_t);            \
  template const SampleFor<X>& normal_sample<X>(std::size_t, std::size_t); \
  template RowsFor<X> ramp_rows<X>(std::size_t);                           \
  template RowsFor<X> two_ramp_rows<X>(std::size_t);                       \
  template RowsFor<X> near_zero_rows<X>(std::size_t, double);              \
  template RowsFor<X> hostile_rows<X>(std::size_t);
KOKKOSSOFTMAX_TEST_INSTANTIATE(float)
KOKKOSSOFTMAX_TEST_INSTANTIATE(double)
#if !KOKKOS_HALF_T_IS_FLOAT
KOKKOSSOFTMAX_TEST_INSTANTIATE(Kokkos::Experimental::half_t)
#endif
#if !KOKKOS_BHALF_T_IS_FLOAT
KOKKOSSOFTMAX_TEST_INSTANTIATE(Kokkos::Experimental::bhalf_t)
#endif
#undef KOKKOSSOFTMAX_TEST_INSTANTIATE

}  // namespace KokkosSoftmax::Test
