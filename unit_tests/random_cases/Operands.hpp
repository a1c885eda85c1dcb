// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_RANDOMCASES_OPERANDS_HPP
#define KOKKOSSOFTMAX_TEST_RANDOMCASES_OPERANDS_HPP

/// \file
/// Random arrays that a call reads besides x.

#include <array>
#include <cmath>
#include <optional>
#include <random_cases/Arrays.hpp>
#include <support/Inputs.hpp>
#include <tuple>

namespace KokkosSoftmax::Test {

/// An operand of fewer axes than `to`, or with axes of extent 1, or with strides of 0.
inline Placement random_operand_placement(Random& random, const Extents& to,
                                          RowPairs pairs = RowPairs::by_chance) {
  Extents extents(to.begin() + (random.one_in(3) ? random.below(to.size() + 1) : 0), to.end());
  for (std::size_t& extent : extents)
    if (random.one_in(4)) extent = 1;
  Placement placement = random_placement(random, extents, pairs);
  for (std::size_t& stride : placement.strides)
    if (random.one_in(12)) stride = 0;
  return placement;
}

/// An array that a call reads besides x. All of its memory holds random numbers, also the gaps and
/// the guard zones: a kernel that takes the wrong ones gives wrong results.
template <class B, class Exec>
class RandomOperand {
 public:
  template <class Make>
  RandomOperand(Placement placement, const Make& make)
      : m_placement(std::move(placement)),
        m_image(2 * guard + m_placement.offset + m_placement.span()),
        m_memory(m_image.size() * sizeof(B)) {
    for (B& value : m_image) value = make();
    m_memory.assign(m_image.data());
  }

  /// Other memory of the same placement, with the same numbers in another order.
  RandomOperand elsewhere() const {
    std::size_t end = m_image.size();
    return {m_placement, [&] { return m_image[--end]; }};
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
  std::optional<Causal> causal;  // along an axis of the case
  Optional<T> row_bias;
  Optional<X> weights;
  Optional<T> wide_weights;
  bool scale_biases;

  RandomOperands(Random& random, const RandomShape& shape) {
    const Extents& extents = shape.extents;
    const std::size_t axis = shape.axis();
    const auto place = [&](const Extents& to) {
      return random_operand_placement(random, to, shape.pairs);
    };
    const auto number = [&] { return 2 * random.normal(); };
    if (random.one_in(4)) bias.emplace(place(extents), [&] { return static_cast<X>(number()); });
    if (!std::is_same_v<X, T> && !bias && random.one_in(4))
      wide_bias.emplace(place(extents), [&] { return static_cast<T>(number()); });
    const std::size_t density = random.element_of(std::array<std::size_t, 4>{2, 3, 10, 1000});
    if (random.one_in(4))
      mask.emplace(place(extents), [&]() -> unsigned char {
        return random.one_in(density) ? 0 : static_cast<unsigned char>(random.up_to(255));
      });
    const Extents rows = without_axis(extents, static_cast<int>(axis));
    const auto length = [&] {
      return static_cast<std::int32_t>(random.below(extents[axis] + extents[axis] / 4 + 3)) - 1;
    };
    if (random.one_in(6))
      lengths.emplace(place(rows), length);
    else if (random.one_in(6))
      long_lengths.emplace(place(rows), length);
    if (extents.size() > 1 && random.one_in(6)) add_causal(random, shape);
    if (random.one_in(6)) row_bias.emplace(place(rows), number);
    scale_biases = random.one_in(4);
  }

  /// Adds weights, some of which are 0: any numbers, numbers of any magnitude, numbers near 1 and
  /// -1, or 1 and -1.
  void add_weights(Random& random, const Extents& extents) {
    const std::size_t kind = random.below(4);
    const double decades = sizeof(X) == 2 ? 4 : 30;
    const double deviation = random.element_of(std::array{0.0, 1e-6, 1e-2});
    const auto weight = [&] {
      if (random.one_in(6)) return 0.0;
      if (kind == 0) return random.normal();
      const double sign = random.one_in(4) ? -1 : 1;
      if (kind == 1) return sign * std::pow(10, decades * (2 * random.uniform() - 1));
      return sign * (1 + deviation * random.normal());
    };
    const Placement placement = random_operand_placement(random, extents);
    if (std::is_same_v<X, T> || random.one_in(2))
      weights.emplace(placement, [&] { return static_cast<X>(weight()); });
    else
      wide_weights.emplace(placement, [&] { return static_cast<T>(weight()); });
  }
  /// Whether complete() gives operands of the types for which plans are compiled.
  bool may_be_completed() const { return !wide_bias && !wide_weights; }
  /// Adds the operands that the case lacks, except weights, with values that change nothing.
  void complete(const RandomShape& shape) {
    const std::size_t rank = shape.extents.size();
    const Placement of_x{Extents(rank, 1), Extents(rank, 1)};
    const Placement of_rows{Extents(rank - 1, 1), Extents(rank - 1, 1)};
    const auto columns = static_cast<std::int32_t>(shape.columns());
    if (!bias) bias.emplace(of_x, [] { return static_cast<X>(0.0); });
    if (!mask) mask.emplace(of_x, []() -> unsigned char { return 1; });
    if (!lengths && !long_lengths) lengths.emplace(of_rows, [&] { return columns; });
    if (!row_bias) row_bias.emplace(of_rows, [] { return T(0); });
    if (!causal) causal = Causal{.offset = columns, .axis = shape.axis() == 0 ? 1 : 0};
  }
  bool have_weights() const { return weights || wide_weights; }
  /// Whether the numbers of columns have a meaning.
  bool count_columns() const { return lengths || long_lengths || causal; }

  /// The weights as rows.
  std::vector<T> weights_as_rows(const Extents& extents, int axis) const {
    return tensor_to_rows(weights ? weights->template broadcast<T>(extents)
                                  : wide_weights->template broadcast<T>(extents),
                          extents, axis);
  }

  /// The same operands as rows, with everything that masks in the mask.
  Inputs<T> as_rows(const Extents& extents, int axis) const {
    Inputs<T> inputs;
    const auto to_rows = [&](const auto& operand) {
      return tensor_to_rows(operand.template broadcast<T>(extents), extents, axis);
    };
    if (bias) inputs.bias = to_rows(*bias);
    if (wide_bias) inputs.bias = to_rows(*wide_bias);
    if (row_bias) inputs.row_bias = row_bias->template broadcast<T>(without_axis(extents, axis));
    inputs.scale_biases = scale_biases;
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
    return std::apply([&](const auto&... operands) { return (is_unchanged(operands) && ...); },
                      all_arrays(*this));
  }

  /// The same operands with other values in other memory.
  RandomOperands elsewhere() const {
    RandomOperands others = *this;
    const auto replace = [](auto& operand) {
      if (operand) operand = operand->elsewhere();
    };
    std::apply([&](auto&... operands) { (replace(operands), ...); }, all_arrays(others));
    if (others.causal) ++others.causal->offset;
    return others;
  }

  friend std::ostream& operator<<(std::ostream& out, const RandomOperands& operands) {
    if (operands.bias || operands.wide_bias) out << ", bias";
    if (operands.mask) out << ", mask";
    if (operands.lengths || operands.long_lengths) out << ", lengths";
    if (operands.causal) out << ", causal";
    if (operands.row_bias) out << ", row_bias";
    if (operands.scale_biases) out << ", scale_biases";
    if (operands.have_weights()) out << ", weights";
    return out;
  }

  /// The arrays as the call gets them.
  auto arrays(const RandomShape& shape) const {
    KokkosSoftmax::Impl::InputArrays<const X, T> arrays;
    if (bias) arrays.bias = shape.given(bias->array());
    if (wide_bias) arrays.wide_bias = shape.given(wide_bias->array());
    if (mask) arrays.mask = shape.given(mask->array());
    if (lengths) arrays.lengths = shape.given_rows(lengths->array());
    if (long_lengths) arrays.long_lengths = shape.given_rows(long_lengths->array());
    if (causal) arrays.causal = given_causal(shape.axes());
    if (row_bias) arrays.row_bias = shape.given_rows(row_bias->array());
    if (weights) arrays.weights = shape.given(weights->array());
    if (wide_weights) arrays.wide_weights = shape.given(wide_weights->array());
    arrays.scale_biases = scale_biases;
    return arrays;
  }

 private:
  template <class Self>
  static auto all_arrays(Self& self) {
    return std::tie(self.bias, self.wide_bias, self.mask, self.lengths, self.long_lengths,
                    self.row_bias, self.weights, self.wide_weights);
  }

  /// Rows are counted along one axis of the call, and so along an axis of the case without parts.
  void add_causal(Random& random, const RandomShape& shape) {
    const auto columns = static_cast<std::int64_t>(shape.columns());
    const auto offset = static_cast<std::int64_t>(random.below(2 * shape.columns() + 3));
    const std::size_t counted = random.below(shape.extents.size());
    m_causal_axis = random.element_of(std::array<CausalAxis, 3>{
        CausalAxis::by_default, CausalAxis::from_first, CausalAxis::from_last});
    if (counted == shape.axis() || shape.axes().is_divided(counted)) return;
    causal = Causal{.offset = offset - columns - 1, .axis = static_cast<int>(counted)};
  }

  Causal given_causal(const GivenAxes& axes) const {
    Causal given = *causal;
    given.axis = axes.place_of(static_cast<std::size_t>(*causal->axis));
    if (m_causal_axis == CausalAxis::from_last) *given.axis -= axes.rank();
    if (m_causal_axis == CausalAxis::by_default && *given.axis == axes.last_of_rows())
      given.axis.reset();
    return given;
  }

  /// For each row, the number of columns that lengths and the causal limit leave.
  std::vector<std::int64_t> column_limits(const Extents& extents, int axis) const {
    const Extents rows = without_axis(extents, axis);
    std::vector<std::int64_t> limits(product(rows), std::numeric_limits<std::int64_t>::max());
    if (lengths) limits = lengths->template broadcast<std::int64_t>(rows);
    if (long_lengths) limits = long_lengths->template broadcast<std::int64_t>(rows);
    if (!causal) return limits;
    const std::size_t a = axis_index(extents, axis);
    const auto counted = static_cast<std::size_t>(*causal->axis);
    Placement index{rows, Extents(rows.size(), 0)};  // whose addresses are the index of each row
    index.strides[counted > a ? counted - 1 : counted] = 1;
    const std::vector<std::size_t> indices = index.addresses();
    for (std::size_t row = 0; row < limits.size(); ++row)
      limits[row] =
          std::min(limits[row], static_cast<std::int64_t>(indices[row]) + causal->offset + 1);
    return limits;
  }

  enum class CausalAxis { by_default, from_first, from_last };
  CausalAxis m_causal_axis = CausalAxis::by_default;  // how it is given
};

}  // namespace KokkosSoftmax::Test

#endif
