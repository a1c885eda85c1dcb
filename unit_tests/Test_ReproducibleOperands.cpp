// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options::reproducible of calls that read more than x: functions with biases, a mask and lengths,
// logsumexp with weights, and cross_entropy. The bits of a row depend only on the row and on what
// is read for it.

#include <optional>
#include <support/Surroundings.hpp>

namespace KokkosSoftmax::Test {
namespace {

using Right = Kokkos::LayoutRight;

template <class C>
class ReproducibleOperands : public ::testing::Test {
 protected:
  using T = typename C::value;
  using X = typename C::x_value;
  using Exec = typename C::exec;

  /// A row with what is read for it, among others, as matrices whose rows lie along an axis.
  struct Arguments {
    std::size_t columns;
    int axis;
    Surroundings s;
    Extents extents;
    Field<X, Exec> x, bias, weights, y;
    Field<unsigned char, Exec> mask;
    Field<std::int64_t, Exec> lengths;  // also the labels of cross_entropy
    Field<T, Exec> row_bias, lse, beside;

    Arguments(std::size_t columns_, int axis_, const Surroundings& s_)
        : columns(columns_),
          axis(axis_),
          s(s_),
          extents(axis == 0 ? Extents{columns, s.count} : Extents{s.count, columns}),
          x(place<Right>(extents, s.x_offset)),
          bias(place<Right>(extents, s.y_offset)),
          weights(place<Right>(extents)),
          y(place<Right>(extents, s.y_offset)),
          mask(place<Right>(extents, s.x_offset)),
          lengths(place<Right>(Extents{s.count})),
          row_bias(place<Right>(Extents{s.count})),
          lse(place<Right>(Extents{s.count}, s.y_offset)),
          beside(place<Right>(Extents{s.count}, s.x_offset)) {
      x.assign(tensor_of(0));
      bias.assign(tensor_of(1));
      weights.assign(tensor_of(2));
      std::vector<unsigned char> bits;
      for (const T value : tensor_of(2)) bits.push_back(value > T(-2));
      mask.assign(bits);
      const auto n = static_cast<std::int64_t>(columns);
      lengths.assign(numbers_of<std::int64_t>(n - n / 4 - 1, n / 2));
      row_bias.assign(numbers_of<T>(T(0.75), T(-2)));
    }

    Options options() const { return {.axis = axis, .scale = 0.5, .reproducible = true}; }

    /// The results of the row. The caller must have fenced.
    std::vector<T> results_of_entries() const {
      const auto rows = tensor_to_rows(y.template read<T>(), extents, axis);
      const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(s.place * columns);
      return {begin, begin + static_cast<std::ptrdiff_t>(columns)};
    }
    std::vector<T> results_of_rows() const { return {lse.read()[s.place], beside.read()[s.place]}; }

    /// One of three rows, among others.
    std::vector<T> tensor_of(std::size_t row) const {
      const auto sample = normal_rows<X>(3, columns).values;
      const auto begin = sample.begin() + static_cast<std::ptrdiff_t>(row * columns);
      const Rows<T> one{.count = 1,
                        .columns = columns,
                        .values = {begin, begin + static_cast<std::ptrdiff_t>(columns)}};
      return rows_to_tensor(surrounded(one, s).values, extents, axis);
    }
    /// A number for the row, and another one for the others.
    template <class Number>
    std::vector<Number> numbers_of(Number of_row, Number of_others) const {
      std::vector<Number> numbers(s.count, of_others);
      numbers[s.place] = of_row;
      return numbers;
    }
  };

  /// Whether call(exec, arguments) gives the same bits in all surroundings.
  template <class Call>
  static void expect_same_bits(const Call& call) {
    const auto instances = instances_in_turn<Exec>();
    for (const int axis : {0, 1})
      for (const std::size_t columns : {5, 128, 1025, 12671}) {
        std::optional<std::vector<T>> first;
        std::size_t calls = 0;
        for (const Surroundings& s : all_surroundings) {
          if (!s.are_for(columns)) continue;
          const std::vector<T> got =
              call(instances[calls++ % instances.size()], Arguments(columns, axis, s));
          if (!first) first = got;
          EXPECT_TRUE(same_bits(got, *first))
              << columns << " columns along axis " << axis << ", row " << s.place << " of "
              << s.count << ", offsets " << s.x_offset << " and " << s.y_offset;
        }
      }
  }

  template <class Call>
  static void expect_same_bits_of_entries(const Call& call) {
    expect_same_bits([&](const Exec& exec, const Arguments& a) {
      call(exec, a, a.x.template view<Right, 2, const X>(), a.y.template view<Right, 2>(),
           operands_of(a));
      exec.fence();
      return a.results_of_entries();
    });
  }

  static auto operands_of(const Arguments& a) {
    return Operands{.bias = a.bias.template view<Right, 2, const X>(),
                    .mask = a.mask.template view<Right, 2, const unsigned char>(),
                    .lengths = a.lengths.template view<Right, 1, const std::int64_t>(),
                    .row_bias = a.row_bias.template view<Right, 1, const T>()};
  }
};
TYPED_TEST_SUITE(ReproducibleOperands, SameTypeConfigs, ConfigName);

TYPED_TEST(ReproducibleOperands, Softmax) {
  TestFixture::expect_same_bits_of_entries(
      [](const auto& exec, const auto& a, const auto& x, const auto& y, const auto& operands) {
        softmax(exec, x, y, a.options(), operands);
      });
}

TYPED_TEST(ReproducibleOperands, LogSoftmax) {
  TestFixture::expect_same_bits_of_entries(
      [](const auto& exec, const auto& a, const auto& x, const auto& y, const auto& operands) {
        log_softmax(exec, x, y, a.options(), operands);
      });
}

TYPED_TEST(ReproducibleOperands, LogSumExp) {
  using X = typename TypeParam::x_value;
  TestFixture::expect_same_bits([](const auto& exec, const auto& a) {
    logsumexp(exec, a.x.template view<Right, 2, const X>(), a.lse.template view<Right, 1>(),
              a.options(), TestFixture::operands_of(a));
    exec.fence();
    return a.results_of_rows();
  });
}

TYPED_TEST(ReproducibleOperands, WeightedLogSumExp) {
  using X = typename TypeParam::x_value;
  TestFixture::expect_same_bits([](const auto& exec, const auto& a) {
    logsumexp(exec, a.x.template view<Right, 2, const X>(), a.lse.template view<Right, 1>(),
              a.options(),
              Operands{.weights = a.weights.template view<Right, 2, const X>(),
                       .sign = a.beside.template view<Right, 1>()});
    exec.fence();
    return a.results_of_rows();
  });
}

TYPED_TEST(ReproducibleOperands, CrossEntropy) {
  using X = typename TypeParam::x_value;
  TestFixture::expect_same_bits([](const auto& exec, const auto& a) {
    const Options options = a.options();
    cross_entropy(exec, a.x.template view<Right, 2, const X>(),
                  a.lengths.template view<Right, 1, const std::int64_t>(),
                  a.lse.template view<Right, 1>(), a.beside.template view<Right, 1>(),
                  {.axis = options.axis,
                   .scale = options.scale,
                   .label_smoothing = 0.125,
                   .reproducible = options.reproducible});
    exec.fence();
    return a.results_of_rows();
  });
}

}  // namespace
}  // namespace KokkosSoftmax::Test
