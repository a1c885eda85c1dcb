// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// softmax_backward and log_softmax_backward with random shapes, layouts, values and options, all at
// once, see Test_RandomCases.cpp.

#include <random_cases/GivenToC.hpp>
#include <random_cases/Outputs.hpp>
#include <random_cases/Plans.hpp>
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
        m_y(random_input_placement(random, m_shape.extents, m_shape.pairs)),
        m_dy(random_input_placement(random, m_shape.extents, m_shape.pairs)),
        m_dx(random_placement(random, m_shape.extents, m_shape.pairs)) {
    if (random.one_in(4) && !repeats_elements(m_y.placement())) m_written = &m_y;
    if (random.one_in(4) && !repeats_elements(m_dy.placement())) m_written = &m_dy;
    m_shape.follow(m_y.placement());
    const std::size_t count = m_shape.count(), columns = m_shape.columns();
    m_shape.assign(m_y, random_outputs<X, T>(random, m_function, count, columns));
    m_shape.assign(m_dy, random_values<X, T>(random, count, columns));
    m_y_rows = m_shape.template rows_of<T>(m_y);
    m_dy_rows = m_shape.template rows_of<T>(m_dy);
    m_route = random_route<Exec>(random, m_shape.axes().rank() <= max_plan_rank);
  }
  RandomBackwardCase(const RandomBackwardCase&) = delete;
  RandomBackwardCase& operator=(const RandomBackwardCase&) = delete;

  Route route() const { return m_route; }

  void call(Route route) const {
    if (route == Route::c_interface) return call_c_interface();
    KokkosSoftmax::Impl::with_operation(m_function, [&](auto function) {
      if (route == Route::plan)
        call_plan<decltype(function)::value>();
      else
        call_function<decltype(function)::value>();
    });
  }

  std::vector<T> results() const { return m_written->template read<T>(); }

  void restore() {
    if (m_written == &m_dx) return;
    EXPECT_TRUE(m_written->gaps_are_unchanged()) << "something beside dx's elements was written";
    m_shape.assign(*m_written, m_written == &m_y ? m_y_rows : m_dy_rows);
  }

  /// Makes the call, and checks all memory. Returns whether the algorithm serves the case.
  bool expect_right() {
    const Options& options = m_shape.options;
    const bool served = is_served_by_route<Exec>(*this, options);
    const auto is_unchanged = [&](const Field<X, Exec>& array) {
      return (served && &array == m_written) || array.is_unchanged();
    };
    EXPECT_TRUE(is_unchanged(m_y)) << "y was written";
    EXPECT_TRUE(is_unchanged(m_dy)) << "dy was written";
    EXPECT_TRUE(is_unchanged(m_dx)) << "dx was written";
    if (!served) return false;
    EXPECT_TRUE(are_near<X>(
        m_shape.template rows_of<T>(*m_written).values,
        reference_backward(m_function, m_y_rows, m_dy_rows, options.scale, sizeof(X) == 2)));
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
  using Memory = Field<X, Exec>;

  template <BackwardFunction function>
  void call_function() const {
    KokkosSoftmax::Impl::check_and_launch_backward<function>(
        Exec{}, m_shape.template given<const X>(m_y), m_shape.template given<const X>(m_dy),
        m_shape.template given<X>(*m_written), m_shape.call_options());
  }

  /// Makes a plan for other memory, and executes it there and then for the case.
  template <BackwardFunction function>
  void call_plan() const {
    const Memory y(m_y.placement()), dy(m_dy.placement()), dx(m_dx.placement());
    const Memory& written = m_written == &m_y ? y : m_written == &m_dy ? dy : dx;
    with_rank<1, max_plan_rank>(m_shape.axes().rank(), [&](auto rank) {
      const auto made_with = views<rank>(y, dy, written);
      const auto plan = std::apply(
          [&](const auto&... arrays) {
            return plan_of<function>(Exec{}, arrays..., m_shape.call_options());
          },
          made_with);
      execute_with_each(plan, made_with, views<rank>(m_y, m_dy, *m_written));
    });
    Exec{}.fence();  // before the other memory is freed
  }
  template <int rank>
  auto views(const Memory& y, const Memory& dy, const Memory& written) const {
    return std::tuple(view_of<rank, Exec>(m_shape.template given<const X>(y)),
                      view_of<rank, Exec>(m_shape.template given<const X>(dy)),
                      view_of<rank, Exec>(m_shape.template given<X>(written)));
  }

  void call_c_interface() const {
    const int operation = m_function == BackwardFunction::softmax_backward
                              ? KOKKOSSOFTMAX_SOFTMAX
                              : KOKKOSSOFTMAX_LOG_SOFTMAX;
    GivenTensors tensors;
    const GivenOptions options(m_shape.call_options());
    throw_if_failed(kokkossoftmax_backward(
        operation, space_of<Exec>, nullptr, tensors.add(m_shape.template given<X>(m_y)),
        tensors.add(m_shape.template given<X>(m_dy)),
        tensors.add(m_shape.template given<X>(*m_written)), &options.c));
  }

  BackwardFunction m_function;
  RandomShape m_shape;
  Field<X, Exec> m_y;
  Field<X, Exec> m_dy;
  Field<X, Exec> m_dx;
  Field<X, Exec>* m_written = &m_dx;  // what the call gets as dx
  Rows<T> m_y_rows;
  Rows<T> m_dy_rows;
  Route m_route;
};

template <class C>
class RandomBackwardCases : public ::testing::Test {};
TYPED_TEST_SUITE(RandomBackwardCases, RandomSameTypeConfigs, ConfigName);

TYPED_TEST(RandomBackwardCases, AreRight) {
  expect_random_cases_right<RandomBackwardCase<TypeParam>>();
}

}  // namespace
}  // namespace KokkosSoftmax::Test
