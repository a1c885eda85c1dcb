// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// softmax, log_softmax and logsumexp with random shapes, layouts, values, options and operands, all
// at once. The other tests vary few of them at a time. A case depends on its seed alone, so that a
// wrong one can be run again.

#include <random_cases/Operands.hpp>
#include <random_cases/Run.hpp>
#include <random_cases/Values.hpp>
#include <reference/Weighted.hpp>

namespace KokkosSoftmax::Test {
namespace {

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

  explicit RandomCase(Random random)
      : m_function(random.element_of(all_functions)),
        m_shape(random),
        m_x(random_input_placement(random, m_shape.extents)),
        m_y(random_placement(random, is_logsumexp() ? m_shape.row_extents() : m_shape.extents)),
        m_in_place(may_be_in_place() && random.one_in(4)),
        m_has_lse(!is_logsumexp() && random.one_in(3)),
        m_has_max(!is_logsumexp() && random.one_in(3)),
        m_lse(placement_beside(random, m_x.placement(), m_shape.axis())),
        m_max(placement_beside(random, m_x.placement(), m_shape.axis())),
        m_operands(random, m_shape),
        m_sign(m_y.placement()) {
    if (is_logsumexp() && random.one_in(4)) m_operands.add_weights(random, m_shape.extents);
    m_has_sign = m_operands.have_weights() && random.one_in(2);
    if (m_operands.count_columns()) m_shape.count_columns();
    m_shape.follow(m_x.placement());
    m_shape.assign(m_x, random_values<X, T>(random, m_shape.count(), m_shape.columns()));
    m_rows = m_shape.template rows_of<T>(m_x);
  }

  /// Makes the call, and checks all memory. Returns whether the algorithm serves the case.
  bool expect_right() {
    const bool served = is_served_unless_forced<Exec>(m_shape.options.algorithm, [&] {
      KokkosSoftmax::Impl::with_operation(
          m_function, [&](auto function) { call<decltype(function)::value>(); });
    });
    EXPECT_TRUE(m_operands.are_unchanged()) << "an operand that is read was written";
    EXPECT_TRUE(m_in_place || m_x.is_unchanged()) << "x was written";
    EXPECT_TRUE(served || y_is_unchanged()) << "y was written by a call that failed";
    EXPECT_TRUE((served && m_has_lse) || m_lse.is_unchanged()) << "lse was written";
    EXPECT_TRUE((served && m_has_max) || m_max.is_unchanged()) << "max was written";
    EXPECT_TRUE((served && m_has_sign) || m_sign.is_unchanged()) << "sign was written";
    if (served) expect_results_right();
    return served;
  }

  friend std::ostream& operator<<(std::ostream& out, const RandomCase& c) {
    out << to_string(c.m_function) << " of " << c.m_shape;
    describe(out, "x", c.m_x.placement());
    if (!c.m_in_place) describe(out, "y", c.m_y.placement());
    if (c.m_in_place) out << ", in place";
    if (c.m_shape.options.empty_rows == EmptyRows::zero) out << ", empty rows give 0";
    if (c.m_has_lse) out << ", lse";
    if (c.m_has_max) out << ", max";
    if (c.m_has_sign) out << ", sign";
    return out << c.m_operands;
  }

 private:
  bool is_logsumexp() const { return m_function == Function::logsumexp; }
  bool may_be_in_place() const {
    return std::is_same_v<X, Y> && !is_logsumexp() && !repeats_elements(m_x.placement());
  }

  template <Function function>
  void call() {
    const auto x = m_shape.template given<const X>(m_x);
    const auto y = given_y();
    KokkosSoftmax::Impl::ArraysBeside<const X, Y> beside;
    if (m_has_lse) beside.lse = m_shape.template given_rows<T>(m_lse);
    if (m_has_max) beside.max = m_shape.template given_rows<T>(m_max);
    const auto inputs = m_operands.arrays(m_shape);
    const Options options = m_shape.call_options();
    if constexpr (function == Function::logsumexp)
      if (m_operands.have_weights())
        return KokkosSoftmax::Impl::check_and_launch_weighted<function>(
            Exec{}, x, "y", y, options, inputs,
            m_has_sign ? m_shape.template given_rows<Y>(m_sign) : StridedArray<Y>{});
    if (inputs.any())
      KokkosSoftmax::Impl::check_and_launch<function>(Exec{}, x, "y", y, options, beside, inputs);
    else
      KokkosSoftmax::Impl::check_and_launch<function>(Exec{}, x, "y", y, options, beside);
  }

  StridedArray<Y> given_y() const {
    if constexpr (std::is_same_v<X, Y>)
      if (m_in_place) return m_shape.template given<Y>(m_x);
    return is_logsumexp() ? m_shape.template given_rows<Y>(m_y) : m_shape.template given<Y>(m_y);
  }
  bool y_is_unchanged() const { return m_in_place ? m_x.is_unchanged() : m_y.is_unchanged(); }

  void expect_results_right() const {
    const Inputs<T> inputs = m_operands.as_rows(m_shape.extents, m_shape.options.axis);
    const Rows<T> v = values_of(m_rows, inputs, m_shape.options.scale);
    if (m_operands.have_weights()) return expect_weighted_right(v);
    const Expected expected = expected_of(v, inputs, m_shape.options.empty_rows);
    const Case c{.function = m_function, .extents = m_shape.extents, .options = m_shape.options};
    EXPECT_TRUE(m_in_place ? check_output(c, v, expected, m_x) : check_output(c, v, expected, m_y));
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

  void expect_weighted_right(const Rows<T>& v) const {
    const ExpectedWeighted expected =
        reference_weighted(v, m_operands.weights_as_rows(m_shape.extents, m_shape.options.axis));
    const ExpectedNumbers lse = m_has_sign ? expected.lse : without_signs(expected);
    EXPECT_TRUE(are_near<Y>(m_y.template read<T>(), lse));
    EXPECT_TRUE(m_y.gaps_are_unchanged()) << "something beside y's elements was written";
    if (!m_has_sign) return;
    EXPECT_TRUE(are_signs(m_sign.template read<T>(), expected));
    EXPECT_TRUE(m_sign.gaps_are_unchanged()) << "something beside sign's elements was written";
  }

  Function m_function;
  RandomShape m_shape;
  Field<X, Exec> m_x;
  Field<Y, Exec> m_y;
  bool m_in_place;
  bool m_has_lse;
  bool m_has_max;
  Field<T, Exec> m_lse;
  Field<T, Exec> m_max;
  RandomOperands<X, T, Exec> m_operands;
  Field<Y, Exec> m_sign;
  bool m_has_sign = false;
  Rows<T> m_rows;
};

template <class C>
class RandomCases : public ::testing::Test {};
TYPED_TEST_SUITE(RandomCases, RandomConfigs, ConfigName);

TYPED_TEST(RandomCases, AreRight) { expect_random_cases_right<RandomCase<TypeParam>>(); }

}  // namespace
}  // namespace KokkosSoftmax::Test
