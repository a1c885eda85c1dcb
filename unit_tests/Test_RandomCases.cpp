// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// softmax, log_softmax and logsumexp with random shapes, layouts, values, options and operands, all
// at once. The other tests vary few of them at a time. A case depends on its seed alone, so that a
// wrong one can be run again.

#include <random_cases/GivenToC.hpp>
#include <random_cases/Operands.hpp>
#include <random_cases/Plans.hpp>
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
        m_x(random_input_placement(random, m_shape.extents, m_shape.pairs)),
        m_y(random_placement(random, is_logsumexp() ? m_shape.row_extents() : m_shape.extents,
                             m_shape.pairs)),
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
    m_route = random_route<Exec>(random, may_have_plan());
    if (m_route == Route::plan && has_operands()) complete_operands();
  }

  Route route() const { return m_route; }

  void call(Route route) const {
    KokkosSoftmax::Impl::with_operation(m_function, [&](auto function) {
      if (route == Route::plan)
        call_plan<decltype(function)::value>();
      else if (route == Route::c_interface)
        call_c_interface();
      else
        call_function<decltype(function)::value>();
    });
  }

  std::vector<T> results() const {
    return joined({m_in_place ? m_x.template read<T>() : m_y.template read<T>(), m_lse.read(),
                   m_max.read(), m_sign.template read<T>()});
  }

  void restore() {
    if (!m_in_place) return;
    EXPECT_TRUE(m_x.gaps_are_unchanged()) << "something beside y's elements was written";
    m_shape.assign(m_x, m_rows);
  }

  /// Makes the call, and checks all memory. Returns whether the algorithm serves the case.
  bool expect_right() {
    const bool served = is_served_by_route<Exec>(*this, m_shape.options);
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

  bool has_operands() const { return m_has_lse || m_has_max || m_operands.arrays(m_shape).any(); }

  /// The types of a plan say which operands it has, and the ranks of all Views. Few of them are
  /// compiled: with operands, x has rank 2 or 3, and all operands are there that are written beside
  /// y, and all that are read if there is one.
  bool may_have_plan() const {
    const int rank = m_shape.axes().rank();
    if (!has_operands()) return rank <= max_plan_rank;
    const bool is_divided = static_cast<std::size_t>(rank) != m_shape.extents.size();
    return !is_divided && rank >= 2 && rank <= 3 && m_operands.may_be_completed();
  }
  void complete_operands() {
    if (m_operands.arrays(m_shape).any()) m_operands.complete(m_shape);
    m_has_lse = m_has_max = !is_logsumexp();
    m_has_sign = m_operands.have_weights();
  }

  /// The arrays that have other memory in the next execution of a plan.
  struct Memory {
    const Field<X, Exec>& x;
    const Field<Y, Exec>& y;
    const Field<T, Exec>& lse;
    const Field<T, Exec>& max;
    const Field<Y, Exec>& sign;
    const RandomOperands<X, T, Exec>& operands;
  };
  Memory memory() const { return {m_x, m_y, m_lse, m_max, m_sign, m_operands}; }

  StridedArray<Y> given_y(const Memory& memory) const {
    if constexpr (std::is_same_v<X, Y>)
      if (m_in_place) return m_shape.template given<Y>(memory.x);
    return is_logsumexp() ? m_shape.template given_rows<Y>(memory.y)
                          : m_shape.template given<Y>(memory.y);
  }

  template <Function function>
  void call_function() const {
    const auto x = m_shape.template given<const X>(m_x);
    const auto y = given_y(memory());
    KokkosSoftmax::Impl::ArraysBeside<const X, Y> beside;
    if (m_has_lse) beside.lse = m_shape.template given_rows<T>(m_lse);
    if (m_has_max) beside.max = m_shape.template given_rows<T>(m_max);
    const auto inputs = m_operands.arrays(m_shape);
    const Options options = m_shape.call_options();
    if constexpr (function == Function::logsumexp)
      if (m_operands.have_weights())
        return KokkosSoftmax::Impl::check_and_launch_weighted<function>(
            Exec{}, x, "y", y, options, inputs,
            m_has_sign ? std::optional(m_shape.template given_rows<Y>(m_sign)) : std::nullopt);
    if (inputs.any())
      KokkosSoftmax::Impl::check_and_launch<function>(Exec{}, x, "y", y, options, beside, inputs);
    else
      KokkosSoftmax::Impl::check_and_launch<function>(Exec{}, x, "y", y, options, beside);
  }

  /// Makes a plan for other memory, and executes it there and then for the case.
  template <Function function>
  void call_plan() const {
    const Field<X, Exec> x(m_x.placement());
    const Field<Y, Exec> y(m_y.placement()), sign(m_sign.placement());
    const Field<T, Exec> lse(m_lse.placement()), max(m_max.placement());
    const auto operands = m_operands.elsewhere();
    const Memory others{x, y, lse, max, sign, operands};
    const int x_rank = m_shape.axes().rank(), y_rank = given_y(others).rank;
    if (has_operands())
      with_rank<2, 3>(x_rank, [&](auto rank) { execute_with_operands<function, rank>(others); });
    else
      with_rank<1, max_plan_rank>(x_rank, [&](auto rank) {
        constexpr bool has_axes = function != Function::logsumexp;
        with_rank<has_axes ? rank : 0, has_axes ? rank : rank - 1>(y_rank, [&](auto rank_of_y) {
          execute<function>(others,
                            [&](const Memory& memory) { return views<rank, rank_of_y>(memory); });
        });
      });
    Exec{}.fence();  // before the other memory is freed
  }

  /// Executes a plan with the arguments that arguments_in(memory) gives.
  template <Function function, class ArgumentsIn>
  void execute(const Memory& others, const ArgumentsIn& arguments_in) const {
    const auto made_with = arguments_in(others);
    const auto plan = std::apply(
        [&](const auto& x, const auto& y, const auto&... operands) {
          return plan_of<function>(Exec{}, x, y, m_shape.call_options(), operands...);
        },
        made_with);
    execute_with_each(plan, made_with, arguments_in(memory()));
  }

  template <int rank, int rank_of_y>
  auto views(const Memory& memory) const {
    return std::tuple(view_of<rank, Exec>(m_shape.template given<const X>(memory.x)),
                      view_of<rank_of_y, Exec>(given_y(memory)));
  }

  template <Function function, int rank>
  void execute_with_operands(const Memory& others) const {
    using Inputs = KokkosSoftmax::Impl::InputArrays<const X, T>;
    if (m_operands.lengths)
      execute_with_inputs<function, rank>(others, &Inputs::lengths);
    else if (m_operands.long_lengths)
      execute_with_inputs<function, rank>(others, &Inputs::long_lengths);
    else if constexpr (function != Function::logsumexp)
      execute_with<function, rank>(
          others, [&](const Memory& memory) { return with_beside<rank>(memory, Operands{}); });
  }

  /// With all operands that are read. `lengths` says which member has the lengths.
  template <Function function, int rank, class Lengths>
  void execute_with_inputs(const Memory& others, Lengths lengths) const {
    const auto read_in = [&](const Memory& memory) {
      const auto inputs = memory.operands.arrays(m_shape);
      return operands_that_are_read<rank>(inputs, *(inputs.*lengths));
    };
    if constexpr (function != Function::logsumexp)
      execute_with<function, rank>(
          others, [&](const Memory& memory) { return with_beside<rank>(memory, read_in(memory)); });
    else if (m_operands.have_weights())
      execute_with<function, rank>(others, [&](const Memory& memory) {
        return with_weights<rank>(memory, read_in(memory));
      });
    else
      execute_with<function, rank>(others, read_in);
  }

  template <Function function, int rank, class OperandsIn>
  void execute_with(const Memory& others, const OperandsIn& operands_in) const {
    constexpr int rank_of_y = function == Function::logsumexp ? rank - 1 : rank;
    execute<function>(others, [&](const Memory& memory) {
      return std::tuple_cat(views<rank, rank_of_y>(memory), std::tuple(operands_in(memory)));
    });
  }

  /// Operands for plans, whose types say which of them there are: those that are read except
  /// weights, and the same with others.
  template <int rank, class Inputs, class Lengths>
  static auto operands_that_are_read(const Inputs& inputs, const Lengths& lengths) {
    return Operands{.bias = view_of<rank, Exec>(*inputs.bias),
                    .mask = view_of<rank, Exec>(*inputs.mask),
                    .lengths = view_of<rank - 1, Exec>(lengths),
                    .causal = *inputs.causal,
                    .row_bias = view_of<rank - 1, Exec>(*inputs.row_bias),
                    .scale_biases = inputs.scale_biases};
  }
  template <int rank, class Read>
  auto with_beside(const Memory& memory, const Read& read) const {
    return Operands{.lse = view_of<rank - 1, Exec>(m_shape.template given_rows<T>(memory.lse)),
                    .max = view_of<rank - 1, Exec>(m_shape.template given_rows<T>(memory.max)),
                    .bias = read.bias,
                    .mask = read.mask,
                    .lengths = read.lengths,
                    .causal = read.causal,
                    .row_bias = read.row_bias,
                    .scale_biases = read.scale_biases};
  }
  template <int rank, class Read>
  auto with_weights(const Memory& memory, const Read& read) const {
    return Operands{.bias = read.bias,
                    .mask = read.mask,
                    .lengths = read.lengths,
                    .causal = read.causal,
                    .row_bias = read.row_bias,
                    .weights = view_of<rank, Exec>(m_shape.given(memory.operands.weights->array())),
                    .sign = view_of<rank - 1, Exec>(m_shape.template given_rows<Y>(memory.sign)),
                    .scale_biases = read.scale_biases};
  }

  void call_c_interface() const {
    GivenTensors tensors;
    const GivenOptions options(m_shape.call_options());
    GivenOperands operands(tensors, m_operands.arrays(m_shape));
    if (m_has_lse) operands.c.lse = tensors.add(m_shape.template given_rows<T>(m_lse));
    if (m_has_max) operands.c.max = tensors.add(m_shape.template given_rows<T>(m_max));
    if (m_has_sign) operands.c.sign = tensors.add(m_shape.template given_rows<Y>(m_sign));
    throw_if_failed(kokkossoftmax_apply_with(static_cast<int>(m_function), space_of<Exec>, nullptr,
                                             tensors.add(m_shape.template given<const X>(m_x)),
                                             tensors.add(given_y(memory())), &options.c,
                                             &operands.c));
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
    const ExpectedWeighted expected = reference_weighted(
        v, m_operands.weights_as_rows(m_shape.extents, m_shape.options.axis), std::is_same_v<X, T>);
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
  Route m_route;
};

template <class C>
class RandomCases : public ::testing::Test {};
TYPED_TEST_SUITE(RandomCases, RandomConfigs, ConfigName);

TYPED_TEST(RandomCases, AreRight) { expect_random_cases_right<RandomCase<TypeParam>>(); }

}  // namespace
}  // namespace KokkosSoftmax::Test
