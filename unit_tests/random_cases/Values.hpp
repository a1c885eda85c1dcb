// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_RANDOMCASES_VALUES_HPP
#define KOKKOSSOFTMAX_TEST_RANDOMCASES_VALUES_HPP

/// \file
/// Random entries of rows.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random_cases/Random.hpp>
#include <support/Samples.hpp>

namespace KokkosSoftmax::Test {

/// Some of the entries, in some of the calls, get a value.
template <class T>
void replace_some(Random& random, Rows<T>& rows, T value) {
  const std::size_t one_of = random.element_of(std::array<std::size_t, 4>{0, 2, 10, 300});
  if (one_of == 0) return;
  for (T& entry : rows.values)
    if (random.one_in(one_of)) entry = value;
}

/// Some of the entries get special values.
template <class X, class T>
void add_special_entries(Random& random, Rows<T>& rows) {
  using Limits = std::numeric_limits<T>;
  const std::array specials{Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(),
                            Limits::max(),       -Limits::max(),     Limits::denorm_min()};
  if (rows.values.empty()) return;
  const std::size_t kinds = random.up_to(specials.size());  // few NaN among many rows, or all kinds
  const std::size_t first = random.below(specials.size());
  for (std::size_t i = random.up_to(1 + rows.count / 2); i > 0; --i)
    rows.values[random.below(rows.values.size())] =
        specials[(first + random.below(kinds)) % specials.size()];
}

/// Rows of one of several kinds. The type X of x rounds them.
template <class X, class T>
Rows<T> random_values(Random& random, std::size_t count, std::size_t columns) {
  Rows<T> rows{.count = count, .columns = columns, .values = std::vector<T>(count * columns)};
  const std::size_t kind = random.below(8);
  const bool is_hostile = kind == 0 && columns > 0 && columns <= 5000;
  const Rows<T> hostile = is_hostile ? hostile_rows<X>(columns) : Rows<T>{};
  const double deviation = random.element_of(std::array{0.01, 1.0, 3.0, 30.0});
  for (std::size_t row = 0; row < count; ++row) {
    const auto begin = rows.values.begin() + static_cast<std::ptrdiff_t>(row * columns);
    const double base = random.element_of(std::array{0.0, 1.0, -2.0, 100.0, -1000.0});
    const double rise = random.element_of(std::array{0.0, 0.25, 4.0, -4.0, 30.0, -1000.0});
    if (is_hostile) {
      const std::size_t other = random.below(hostile.count);
      std::copy_n(hostile.values.begin() + static_cast<std::ptrdiff_t>(other * columns), columns,
                  begin);
    } else if (kind == 1) {  // a ramp, or a constant
      for (std::size_t i = 0; i < columns; ++i)
        begin[static_cast<std::ptrdiff_t>(i)] =
            static_cast<T>(base + rise * static_cast<double>(i) / static_cast<double>(columns));
    } else if (kind == 4) {  // one entry near 0, and others far below
      std::generate_n(begin, columns,
                      [&] { return static_cast<T>(-20 - std::abs(10 * random.normal())); });
      if (columns > 0)
        begin[static_cast<std::ptrdiff_t>(random.below(columns))] =
            static_cast<T>(deviation * 1e-3 * random.normal());
    } else {
      std::generate_n(begin, columns, [&] { return static_cast<T>(deviation * random.normal()); });
    }
  }
  if (kind == 2 || kind == 3) add_special_entries<X>(random, rows);
  return rows;
}

}  // namespace KokkosSoftmax::Test

#endif
