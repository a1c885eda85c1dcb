// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// softmax_backward and log_softmax_backward with random shapes, layouts, values and options, all at
// once, see Test_RandomCases.cpp.

#include <random_cases/Outputs.hpp>
#include <random_cases/Run.hpp>
#include <support/Backward.hpp>

namespace KokkosSoftmax::Test {
namespace {

/// One call with random arguments.
template <class C>
class RandomBackwardCase {
 public:
  using T = typename C::value;
  using X = typename C::x_value;
  using Exec = typename C::exec;

  explicit RandomBackwardCase(Random random)
      : m_function(random.element_of(backward_functions)),
        m_shape(random),
        m_y(random_input_placement(random, m_shape.extents)),
        m_dy(random_input_placement(random, m_shape.extents)),
        m_dx(random_placement(random, m_shape.extents)) {
    if (random.one_in(4) && !repeats_elements(m_y.placement())) m_written = &m_y;
    if (random.one_in(4) && !repeats_elements(m_dy.placement())) m_written = &m_dy;
    m_shape.follow(m_y.placement());
    const std::size_t count = m_shape.count(), columns = m_shape.columns();
    m_shape.assign(m_y, random_outputs<X, T>(random, m_function, count, columns));
    m_shape.assign(m_dy, random_values<X, T>(random, count, columns));
    m_y_rows = m_shape.template rows_of<T>(m_y);
    m_dy_rows = m_shape.template rows_of<T>(m_dy);
  }
  RandomBackwardCase(const RandomBackwardCase&) = delete;
  RandomBackwardCase& operator=(const RandomBackwardCase&) = delete;

  /// Makes the call, and checks all memory. Returns whether the algorithm serves the case.
  bool expect_right() {
    const Options& options = m_shape.options;
    const bool served = is_served_unless_forced<Exec>(options.algorithm, [&] {
      KokkosSoftmax::Impl::with_operation(m_function, [&](auto function) {
        KokkosSoftmax::Impl::check_and_launch_backward<decltype(function)::value>(
            Exec{}, m_shape.template given<const X>(m_y), m_shape.template given<const X>(m_dy),
            m_shape.template given<X>(*m_written), m_shape.call_options());
      });
    });
    const auto is_unchanged = [&](const Field<X, Exec>& array) {
      return (served && &array == m_written) || array.is_unchanged();
    };
    EXPECT_TRUE(is_unchanged(m_y)) << "y was written";
    EXPECT_TRUE(is_unchanged(m_dy)) << "dy was written";
    EXPECT_TRUE(is_unchanged(m_dx)) << "dx was written";
    if (!served) return false;
    EXPECT_TRUE(are_near<X>(m_shape.template rows_of<T>(*m_written).values,
                            reference_backward(m_function, m_y_rows, m_dy_rows, options.scale)));
    EXPECT_TRUE(m_written->gaps_are_unchanged()) << "something beside dx's elements was written";
    return true;
  }

  friend std::ostream& operator<<(std::ostream& out, const RandomBackwardCase& c) {
    out << to_string(c.m_function) << " of " << c.m_shape;
    describe(out, "y", c.m_y.placement());
    describe(out, "dy", c.m_dy.placement());
    if (c.m_written == &c.m_dx) describe(out, "dx", c.m_dx.placement());
    if (c.m_written == &c.m_y) out << ", dx is y";
    if (c.m_written == &c.m_dy) out << ", dx is dy";
    return out;
  }

 private:
  BackwardFunction m_function;
  RandomShape m_shape;
  Field<X, Exec> m_y;
  Field<X, Exec> m_dy;
  Field<X, Exec> m_dx;
  Field<X, Exec>* m_written = &m_dx;  // what the call gets as dx
  Rows<T> m_y_rows;
  Rows<T> m_dy_rows;
};

template <class C>
class RandomBackwardCases : public ::testing::Test {};
TYPED_TEST_SUITE(RandomBackwardCases, RandomSameTypeConfigs, ConfigName);

TYPED_TEST(RandomBackwardCases, AreRight) {
  expect_random_cases_right<RandomBackwardCase<TypeParam>>();
}

}  // namespace
}  // namespace KokkosSoftmax::Test
