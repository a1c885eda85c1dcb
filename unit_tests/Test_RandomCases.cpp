// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random shapes, layouts, values, options and operands, all at once. The other tests vary few of
// them at a time. A case depends on its seed alone, so that a wrong one can be run again.

#include <algorithm>
#include <array>
#include <iostream>
#include <iterator>
#include <numeric>
#include <random>
#include <support/Algorithms.hpp>
#include <support/Inputs.hpp>
#include <support/RandomCases.hpp>

namespace KokkosSoftmax::Test {
namespace {

using KokkosSoftmax::Impl::StridedArray;

/// Random numbers that are the same with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : m_engine(seed) {}

  std::size_t below(std::size_t n) { return m_engine() % n; }
  std::size_t up_to(std::size_t n) { return 1 + below(n); }  // at least 1
  bool one_in(std::size_t n) { return below(n) == 0; }
  double uniform() { return static_cast<double>(m_engine() >> 11) * 0x1p-53; }

  /// Nearly normally distributed with standard deviation 1.
  double normal() {
    double sum = -3;
    for (int i = 0; i < 6; ++i) sum += uniform();
    return sum * 1.41421356;
  }

  template <class Range>
  auto element_of(const Range& range) {
    return std::begin(range)[below(std::size(range))];
  }

 private:
  std::mt19937_64 m_engine;
};

std::size_t random_columns(Random& random) {
  if (random.one_in(100)) return random.up_to(100000);
  switch (random.below(10)) {
    case 0:
    case 1:
    case 2:
      return random.up_to(8);
    case 3:
    case 4:
    case 5:
      return random.up_to(64);
    case 6:
    case 7:
      return random.up_to(300);
    case 8:
      return random.element_of(std::array{31, 32, 33, 127, 128, 129, 1000, 1023, 1024, 1025, 4096});
    default:
      return random.up_to(5000);
  }
}

/// Extents of rank 1 to 4 with few thousand elements, except that a row may have more.
Extents random_extents(Random& random, std::size_t axis, std::size_t rank) {
  Extents extents(rank, 1);
  extents[axis] = random_columns(random);
  std::size_t rest = (random.one_in(10) ? 30000 : 3000) / extents[axis];
  for (std::size_t d = 0; d < rank; ++d) {
    if (d == axis || rest < 2) continue;
    const bool is_last = d + 1 == rank || (d + 2 == rank && axis + 1 == rank);
    extents[d] = random.up_to(is_last ? rest : std::min<std::size_t>(rest, 9));
    rest /= extents[d];
  }
  if (random.one_in(40)) extents[random.below(rank)] = 0;
  return extents;
}

/// Any order of the axes in memory, with gaps after some of them, at any alignment.
Placement random_placement(Random& random, const Extents& extents) {
  std::vector<std::size_t> order(extents.size());  // the slowest axis first
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (random.one_in(3))
    for (std::size_t d = order.size(); d > 1; --d) std::swap(order[d - 1], order[random.below(d)]);
  Placement placement{extents, Extents(extents.size()), random.one_in(2) ? 0 : random.below(17)};
  std::size_t stride = random.one_in(6) ? random.up_to(4) : 1;
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    placement.strides[*d] = stride;
    stride *= std::max<std::size_t>(extents[*d], 1);
    if (random.one_in(4)) stride += random.below(9);
  }
  return placement;
}

/// A placement with one stride from row to row, in the order of the rows in x.
Placement placement_beside(Random& random, const Placement& x, std::size_t axis) {
  const Extents extents = without_axis(x.extents, static_cast<int>(axis));
  const Extents x_strides = without_axis(x.strides, static_cast<int>(axis));
  std::vector<std::size_t> order(extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  order.erase(std::remove_if(order.begin(), order.end(), [&](auto d) { return extents[d] == 1; }),
              order.end());
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return x_strides[a] > x_strides[b]; });
  Placement placement{extents, Extents(extents.size(), 1), random.below(4)};
  std::size_t stride = random.up_to(3);
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    placement.strides[*d] = stride;
    stride *= std::max<std::size_t>(extents[*d], 1);
  }
  return placement;
}

/// An operand of fewer axes than `to`, or with axes of extent 1, or with strides of 0.
Placement random_operand_placement(Random& random, const Extents& to) {
  Extents extents(to.begin() + (random.one_in(3) ? random.below(to.size() + 1) : 0), to.end());
  for (std::size_t& extent : extents)
    if (random.one_in(4)) extent = 1;
  Placement placement = random_placement(random, extents);
  for (std::size_t& stride : placement.strides)
    if (random.one_in(12)) stride = 0;
  return placement;
}

template <class T>
StridedArray<T> array_at(T* data, const Placement& placement) {
  StridedArray<T> array;
  array.data = data;
  array.rank = static_cast<int>(placement.extents.size());
  for (std::size_t d = 0; d < placement.extents.size(); ++d) {
    array.extents[d] = static_cast<std::int64_t>(placement.extents[d]);
    array.strides[d] = static_cast<std::int64_t>(placement.strides[d]);
  }
  return array;
}

/// An array that a call reads besides x. All of its memory holds random numbers, also the gaps and
/// the guard zones: a kernel that takes the wrong ones gives wrong results.
template <class B, class Exec>
class RandomOperand {
 public:
  template <class Make>
  RandomOperand(Random& random, const Extents& to, const Make& make)
      : m_placement(random_operand_placement(random, to)),
        m_image(2 * guard + m_placement.offset + m_placement.span()),
        m_memory(m_image.size() * sizeof(B)) {
    for (B& value : m_image) value = make();
    m_memory.assign(m_image.data());
  }

  StridedArray<const B> array() const {
    return array_at(reinterpret_cast<const B*>(m_memory.data()) + begin(), m_placement);
  }

  /// One value per element of the extents that it is broadcast to, with the last axis fastest.
  template <class Value>
  std::vector<Value> broadcast(const Extents& to) const {
    Placement placement{to, Extents(to.size(), 0)};
    const std::size_t missing = to.size() - m_placement.extents.size();
    for (std::size_t d = 0; d < m_placement.extents.size(); ++d)
      if (m_placement.extents[d] != 1) placement.strides[missing + d] = m_placement.strides[d];
    std::vector<Value> values;
    for (const std::size_t address : placement.addresses())
      values.push_back(static_cast<Value>(m_image[begin() + address]));
    return values;
  }

  bool is_unchanged() const {
    std::vector<B> image(m_image.size());
    m_memory.read(image.data());
    return same_bits(image, m_image);
  }

 private:
  static constexpr std::size_t guard = 64;
  std::size_t begin() const { return guard + m_placement.offset; }

  Placement m_placement;
  std::vector<B> m_image;
  Memory<Kokkos::Device<Exec, typename Exec::memory_space>> m_memory;
};

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
    } else {
      std::generate_n(begin, columns, [&] { return static_cast<T>(deviation * random.normal()); });
    }
  }
  if (kind == 2 || kind == 3) add_special_entries<X>(random, rows);
  return rows;
}

Options random_options(Random& random, std::size_t axis, std::size_t rank) {
  const int signed_axis = static_cast<int>(axis);
  return {.axis = random.one_in(2) ? signed_axis : signed_axis - static_cast<int>(rank),
          .scale = random.element_of(std::array{1.0, 1.0, 1.0, 0.5, -0.75, 0.0, 3.0, 1e-3, 250.0}),
          .empty_rows = random.one_in(2) ? EmptyRows::nan : EmptyRows::zero,
          .algorithm = random.one_in(2) ? Algorithm::automatic : random.element_of(all_algorithms),
          .reproducible = random.one_in(4)};
}

/// The operands of a call that are read.
template <class X, class T, class Exec>
struct RandomOperands {
  template <class B>
  using Optional = std::optional<RandomOperand<B, Exec>>;

  Optional<X> bias;
  Optional<T> wide_bias;
  Optional<unsigned char> mask;
  Optional<std::int32_t> lengths;
  Optional<std::int64_t> long_lengths;
  std::optional<Causal> causal;

  RandomOperands(Random& random, const Extents& extents, std::size_t axis) {
    const auto number = [&] { return 2 * random.normal(); };
    if (random.one_in(4)) bias.emplace(random, extents, [&] { return static_cast<X>(number()); });
    if (!std::is_same_v<X, T> && !bias && random.one_in(4))
      wide_bias.emplace(random, extents, [&] { return static_cast<T>(number()); });
    const std::size_t density = random.element_of(std::array{2, 3, 10, 1000});
    if (random.one_in(4))
      mask.emplace(random, extents, [&]() -> unsigned char {
        return random.one_in(density) ? 0 : static_cast<unsigned char>(random.up_to(255));
      });
    const Extents rows = without_axis(extents, static_cast<int>(axis));
    const auto length = [&] {
      return static_cast<std::int32_t>(random.below(extents[axis] + extents[axis] / 4 + 3)) - 1;
    };
    if (random.one_in(6))
      lengths.emplace(random, rows, length);
    else if (random.one_in(6))
      long_lengths.emplace(random, rows, length);
    if (extents.size() > 1 && random.one_in(6)) add_causal(random, extents, axis);
  }

  /// The same operands as rows, with everything that masks in the mask.
  Inputs<T> as_rows(const Extents& extents, int axis) const {
    Inputs<T> inputs;
    const auto to_rows = [&](const auto& operand) {
      return tensor_to_rows(operand.template broadcast<T>(extents), extents, axis);
    };
    if (bias) inputs.bias = to_rows(*bias);
    if (wide_bias) inputs.bias = to_rows(*wide_bias);
    const std::vector<T> mask_rows = mask ? to_rows(*mask) : std::vector<T>{};
    const std::vector<std::int64_t> limits = column_limits(extents, axis);
    const std::size_t columns = extents[axis_index(extents, axis)];
    for (std::size_t row = 0; row < limits.size(); ++row)
      for (std::size_t column = 0; column < columns; ++column)
        inputs.mask.push_back((!mask || mask_rows[row * columns + column] != 0) &&
                              static_cast<std::int64_t>(column) < limits[row]);
    return inputs;
  }

  bool are_unchanged() const {
    const auto is_unchanged = [](const auto& operand) {
      return !operand || operand->is_unchanged();
    };
    return is_unchanged(bias) && is_unchanged(wide_bias) && is_unchanged(mask) &&
           is_unchanged(lengths) && is_unchanged(long_lengths);
  }

  auto arrays() const {
    KokkosSoftmax::Impl::InputArrays<const X, T> arrays;
    if (bias) arrays.bias = bias->array();
    if (wide_bias) arrays.wide_bias = wide_bias->array();
    if (mask) arrays.mask = mask->array();
    if (lengths) arrays.lengths = lengths->array();
    if (long_lengths) arrays.long_lengths = long_lengths->array();
    arrays.causal = causal;
    return arrays;
  }

 private:
  void add_causal(Random& random, const Extents& extents, std::size_t axis) {
    const auto columns = static_cast<std::int64_t>(extents[axis]);
    causal = Causal{.offset = static_cast<std::int64_t>(random.below(2 * extents[axis] + 3)) -
                              columns - 1};
    const std::size_t other = random.below(extents.size());
    if (other == axis) return;  // the default
    causal->axis = static_cast<int>(other);
    if (random.one_in(2)) *causal->axis -= static_cast<int>(extents.size());
  }

  /// For each row, the number of columns that lengths and the causal limit leave.
  std::vector<std::int64_t> column_limits(const Extents& extents, int axis) const {
    const Extents rows = without_axis(extents, axis);
    std::vector<std::int64_t> limits(product(rows), std::numeric_limits<std::int64_t>::max());
    if (lengths) limits = lengths->template broadcast<std::int64_t>(rows);
    if (long_lengths) limits = long_lengths->template broadcast<std::int64_t>(rows);
    if (!causal) return limits;
    const std::size_t a = axis_index(extents, axis);
    std::size_t counted = a == extents.size() - 1 ? extents.size() - 2 : extents.size() - 1;
    if (causal->axis) counted = axis_index(extents, *causal->axis);
    Placement index{rows, Extents(rows.size(), 0)};  // whose addresses are the index of each row
    index.strides[counted > a ? counted - 1 : counted] = 1;
    const std::vector<std::size_t> indices = index.addresses();
    for (std::size_t row = 0; row < limits.size(); ++row)
      limits[row] =
          std::min(limits[row], static_cast<std::int64_t>(indices[row]) + causal->offset + 1);
    return limits;
  }
};

template <class T>
::testing::AssertionResult is_true_max(const Rows<T>& v, const std::vector<T>& got) {
  const std::vector<T> expected = true_max(v, 1.0);
  for (std::size_t row = 0; row < v.count; ++row)
    if (got[row] != expected[row] && !(std::isnan(got[row]) && std::isnan(expected[row])))
      return ::testing::AssertionFailure()
             << "max of row " << row << " is " << got[row] << " instead of " << expected[row];
  return ::testing::AssertionSuccess();
}

/// One call with random arguments.
template <class C>
class RandomCase {
 public:
  using T = typename C::value;
  using X = typename C::x_value;
  using Y = typename C::y_value;
  using Exec = typename C::exec;

  explicit RandomCase(std::uint64_t seed) : RandomCase(Random(seed)) {}

  /// Makes the call, and checks all memory. Returns whether the algorithm serves the case.
  bool expect_right() {
    const bool served = is_served(m_case.options.algorithm, [&] {
      if (m_case.function == Function::softmax)
        call<Function::softmax>();
      else if (m_case.function == Function::log_softmax)
        call<Function::log_softmax>();
      else
        call<Function::logsumexp>();
    });
    Exec{}.fence();
    EXPECT_TRUE(m_operands.are_unchanged()) << "an operand that is read was written";
    EXPECT_TRUE(m_in_place || m_x.is_unchanged()) << "x was written";
    EXPECT_TRUE(served || y_is_unchanged()) << "y was written by a call that failed";
    EXPECT_TRUE((served && m_has_lse) || m_lse.is_unchanged()) << "lse was written";
    EXPECT_TRUE((served && m_has_max) || m_max.is_unchanged()) << "max was written";
    if (served) expect_results_right();
    return served;
  }

  friend std::ostream& operator<<(std::ostream& out, const RandomCase& c) {
    const auto yes = [&](bool has, const char* name) {
      if (has) out << ", " << name;
    };
    out << c.m_case << ", strides of x";
    for (const std::size_t stride : c.m_x_placement.strides) out << ' ' << stride;
    out << ", strides of y";
    for (const std::size_t stride : c.m_y_placement.strides) out << ' ' << stride;
    yes(c.m_in_place, "in place");
    yes(c.m_case.options.reproducible, "reproducible");
    yes(c.m_case.options.empty_rows == EmptyRows::zero, "empty rows give 0");
    yes(c.m_operands.bias || c.m_operands.wide_bias, "bias");
    yes(c.m_operands.mask.has_value(), "mask");
    yes(c.m_operands.lengths || c.m_operands.long_lengths, "lengths");
    yes(c.m_operands.causal.has_value(), "causal");
    yes(c.m_has_lse, "lse");
    yes(c.m_has_max, "max");
    return out;
  }

 private:
  explicit RandomCase(Random random)
      : m_case(random_call(random)),
        m_axis(axis_index(m_case.extents, m_case.options.axis)),
        m_x_placement(random_x_placement(random, m_case.extents)),
        m_y_placement(random_placement(random, m_case.y_extents())),
        m_in_place(may_be_in_place() && random.one_in(4)),
        m_has_lse(m_case.function != Function::logsumexp && random.one_in(3)),
        m_has_max(m_case.function != Function::logsumexp && random.one_in(3)),
        m_lse_placement(placement_beside(random, m_x_placement, m_axis)),
        m_max_placement(placement_beside(random, m_x_placement, m_axis)),
        m_x(m_x_placement),
        m_y(m_y_placement),
        m_lse(m_lse_placement),
        m_max(m_max_placement),
        m_operands(random, m_case.extents, m_axis) {
    m_case.x_offset = m_x_placement.offset;
    m_case.y_offset = m_y_placement.offset;
    const std::size_t columns = m_case.extents[m_axis];
    const std::size_t count = product(without_axis(m_case.extents, m_case.options.axis));
    const Rows<T> rows = random_values<X, T>(random, count, columns);
    m_x.assign(rows_to_tensor(rows.values, m_case.extents, m_case.options.axis));
    // as x holds them: rounded, and one of the values that a stride of 0 puts at the same address
    m_rows = {
        .count = count,
        .columns = columns,
        .values = tensor_to_rows(m_x.template read<T>(), m_case.extents, m_case.options.axis)};
  }

  static Case random_call(Random& random) {
    const std::size_t rank = random.element_of(std::array{1, 2, 2, 2, 2, 3, 3, 3, 4, 4});
    const std::size_t axis = random.one_in(2) ? rank - 1 : random.below(rank);
    return {.function = random.element_of(all_functions),
            .extents = random_extents(random, axis, rank),
            .options = random_options(random, axis, rank)};
  }

  /// x may repeat elements.
  static Placement random_x_placement(Random& random, const Extents& extents) {
    Placement placement = random_placement(random, extents);
    if (random.one_in(20)) placement.strides[random.below(extents.size())] = 0;
    return placement;
  }

  bool may_be_in_place() const {
    const auto repeats = [](std::size_t stride) { return stride == 0; };
    return std::is_same_v<X, Y> && m_case.function != Function::logsumexp &&
           std::none_of(m_x_placement.strides.begin(), m_x_placement.strides.end(), repeats);
  }

  template <Function function>
  void call() {
    const auto x = array_at<const X>(m_x.data(), m_x_placement);
    auto y = array_at<Y>(m_y.data(), m_y_placement);
    if constexpr (std::is_same_v<X, Y>)
      if (m_in_place) y = array_at<Y>(m_x.data(), m_x_placement);
    KokkosSoftmax::Impl::ArraysBeside<const X, Y> beside;
    if (m_has_lse) beside.lse = array_at<T>(m_lse.data(), m_lse_placement);
    if (m_has_max) beside.max = array_at<T>(m_max.data(), m_max_placement);
    const auto inputs = m_operands.arrays();
    const Options& options = m_case.options;
    if (inputs.any())
      KokkosSoftmax::Impl::check_and_launch<function>(Exec{}, x, "y", y, options, beside, inputs);
    else
      KokkosSoftmax::Impl::check_and_launch<function>(Exec{}, x, "y", y, options, beside);
  }

  bool y_is_unchanged() const { return m_in_place ? m_x.is_unchanged() : m_y.is_unchanged(); }

  void expect_results_right() const {
    const Inputs<T> inputs = m_operands.as_rows(m_case.extents, m_case.options.axis);
    const Rows<T> v = values_of(m_rows, inputs, m_case.options.scale);
    const Expected expected = expected_of(v, inputs, m_case.options.empty_rows);
    EXPECT_TRUE(m_in_place ? check_output(m_case, v, expected, m_x)
                           : check_output(m_case, v, expected, m_y));
    if (m_has_lse) {
      const long double at_least = sizeof(X) == 2 ? tolerance_before_rounding : 0;
      EXPECT_TRUE(is_accurate(Function::logsumexp, v, beside_y(expected), m_lse.read(), at_least))
          << "lse beside y";
      EXPECT_TRUE(m_lse.gaps_are_unchanged()) << "something beside lse's elements was written";
    }
    if (m_has_max) {
      EXPECT_TRUE(is_true_max(v, m_max.read()));
      EXPECT_TRUE(m_max.gaps_are_unchanged()) << "something beside max's elements was written";
    }
  }

  Case m_case;
  std::size_t m_axis;
  Placement m_x_placement;
  Placement m_y_placement;
  bool m_in_place;
  bool m_has_lse;
  bool m_has_max;
  Placement m_lse_placement;
  Placement m_max_placement;
  Field<X, Exec> m_x;
  Field<Y, Exec> m_y;
  Field<T, Exec> m_lse;
  Field<T, Exec> m_max;
  RandomOperands<X, T, Exec> m_operands;
  Rows<T> m_rows;
};

#ifdef KOKKOSSOFTMAX_TEST_HALF_TYPES
using RandomConfigs =
    Concatenated<OverSpaces<EnabledSpaces>::values,
                 decltype(half_configs<Kokkos::LayoutRight>(EnabledSpaces{}))>::type::types;
#else
using RandomConfigs = EnabledValueConfigs;
#endif

template <class C>
class RandomCases : public ::testing::Test {
 protected:
  /// Returns whether the algorithm serves the case.
  static bool expect_right(std::uint64_t seed) {
    try {
      RandomCase<C> random_case(seed);
      std::ostringstream text;
      text << "--seed=" << seed << " --cases=1: " << random_case;
      SCOPED_TRACE(text.str());
      return random_case.expect_right();
    } catch (const std::exception& error) {
      ADD_FAILURE() << "--seed=" << seed << " --cases=1: " << error.what();
      return false;
    }
  }
};
TYPED_TEST_SUITE(RandomCases, RandomConfigs, ConfigName);

TYPED_TEST(RandomCases, AreRight) {
  const RandomCasesToRun& run = random_cases_to_run;
  std::uint64_t cases = 0, served = 0;
  for (; cases < run.cases && !::testing::Test::HasFailure(); ++cases)
    served += TestFixture::expect_right(run.seed + cases);
  std::cout << "--seed=" << run.seed << " --cases=" << cases << ": " << served
            << " computed, the others refused by a forced algorithm\n";
}

}  // namespace
}  // namespace KokkosSoftmax::Test
