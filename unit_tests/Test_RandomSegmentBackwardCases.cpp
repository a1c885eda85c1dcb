// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// segment_softmax_backward, segment_log_softmax_backward and segment_logsumexp_backward with random
// lengths, offsets, places, values and scales, all at once, see Test_RandomCases.cpp.

#include <random_cases/Outputs.hpp>
#include <random_cases/Run.hpp>
#include <random_cases/Segments.hpp>
#include <reference/Loss.hpp>

namespace KokkosSoftmax::Test {
namespace {

/// One call of segment_softmax_backward or segment_log_softmax_backward with random arguments.
template <class C>
class RandomSegmentBackwardCase {
 public:
  using T = typename C::value;
  using X = typename C::x_value;
  using Exec = typename C::exec;
  using Right = Kokkos::LayoutRight;

  explicit RandomSegmentBackwardCase(Random random)
      : m_function(random.element_of(backward_functions)),
        m_segments(random),
        m_y(m_segments.random_entries(random)),
        m_dy(m_segments.random_entries(random)),
        m_dx(m_segments.random_entries(random)),
        m_scale(random_options(random, 0).scale),
        m_on_one_lane(random.one_in(3) && m_segments.template may_use_one_lane<X, X>()) {
    if (random.one_in(4)) m_written = &m_y;
    if (random.one_in(4)) m_written = &m_dy;
    m_y_rows = m_segments.template rows<T>([&](std::size_t length) {
      return rounded<X>(random_outputs<X, T>(random, m_function, 1, length));
    });
    m_dy_rows = m_segments.template rows<T>(
        [&](std::size_t length) { return rounded<X>(random_values<X, T>(random, 1, length)); });
    m_y.assign(m_y_rows.entries(entry_of_no_row<T>));
    m_dy.assign(m_dy_rows.entries(entry_of_no_row<T>));
  }
  RandomSegmentBackwardCase(const RandomSegmentBackwardCase&) = delete;
  RandomSegmentBackwardCase& operator=(const RandomSegmentBackwardCase&) = delete;

  /// Makes the call, and checks all memory.
  bool expect_right() {
    if (m_on_one_lane)
      call_on_one_lane();
    else
      m_segments.with_offsets([&](const auto& offsets) { call(offsets); });
    Exec{}.fence();
    EXPECT_TRUE(m_segments.are_unchanged()) << "offsets was written";
    EXPECT_TRUE(m_written == &m_y || m_y.is_unchanged()) << "y was written";
    EXPECT_TRUE(m_written == &m_dy || m_dy.is_unchanged()) << "dy was written";
    const T other = m_written == &m_dx ? static_cast<T>(poison<X>) : entry_of_no_row<T>;
    EXPECT_TRUE(are_rows_right(m_y_rows, m_written->template read<T>(), other,
                               [&](std::size_t r, const std::vector<T>& values) {
                                 return are_near<X>(values,
                                                    reference_backward(m_function, m_y_rows.rows[r],
                                                                       m_dy_rows.rows[r], m_scale,
                                                                       sizeof(X) == 2));
                               }));
    EXPECT_TRUE(m_written->gaps_are_unchanged()) << "something beside dx's elements was written";
    return true;
  }

  friend std::ostream& operator<<(std::ostream& out, const RandomSegmentBackwardCase& c) {
    out << "segment_" << to_string(c.m_function) << " of " << c.m_segments << ", scale "
        << c.m_scale << ", y at " << c.m_y.placement().offset << ", dy at "
        << c.m_dy.placement().offset;
    if (c.m_written == &c.m_dx) out << ", dx at " << c.m_dx.placement().offset;
    if (c.m_written == &c.m_y) out << ", dx is y";
    if (c.m_written == &c.m_dy) out << ", dx is dy";
    if (c.m_on_one_lane) out << ", on one lane";
    return out;
  }

 private:
  template <class Offsets>
  void call(const Offsets& offsets) const {
    const auto y = m_y.template view<Right, 1, const X>();
    const auto dy = m_dy.template view<Right, 1, const X>();
    const auto dx = m_written->template view<Right, 1>();
    if (m_function == BackwardFunction::softmax_backward)
      segment_softmax_backward(Exec{}, y, dy, offsets, dx, {.scale = m_scale});
    else
      segment_log_softmax_backward(Exec{}, y, dy, offsets, dx, {.scale = m_scale});
  }

  void call_on_one_lane() const {
    if constexpr (is_host_space<Exec> && std::is_same_v<X, T>) {
      auto problem = m_segments.template problem<T>(m_y.placement());
      problem.x = m_y.data();
      problem.second = m_dy.data();
      problem.y = m_written->data();
      launch_on_one_lane(Exec{},
                         m_function == BackwardFunction::softmax_backward
                             ? RaggedOperation::softmax_backward
                             : RaggedOperation::log_softmax_backward,
                         problem, m_scale);
    }
  }

  BackwardFunction m_function;
  RandomSegments<Exec> m_segments;
  Field<X, Exec> m_y;
  Field<X, Exec> m_dy;
  Field<X, Exec> m_dx;
  Field<X, Exec>* m_written = &m_dx;  // what the call gets as dx
  double m_scale;
  bool m_on_one_lane;
  RaggedRows<T> m_y_rows;
  RaggedRows<T> m_dy_rows;
};

/// One call of segment_logsumexp_backward with random arguments.
template <class C>
class RandomSegmentGradientCase {
 public:
  using T = typename C::value;
  using X = typename C::x_value;
  using Exec = typename C::exec;
  using Right = Kokkos::LayoutRight;

  explicit RandomSegmentGradientCase(Random random)
      : m_segments(random),
        m_x(m_segments.random_entries(random)),
        m_dx(m_segments.random_entries(random)),
        m_in_place(random.one_in(4)),
        m_lse(m_segments.random_numbers(random)),
        m_derivative(m_segments.random_numbers(random)),
        m_scale(random_options(random, 0).scale),
        m_on_one_lane(random.one_in(3) && m_segments.template may_use_one_lane<X, X>()) {
    const auto x = m_segments.template rows<T>(
        [&](std::size_t length) { return rounded<X>(random_values<X, T>(random, 1, length)); });
    m_x.assign(x.entries(entry_of_no_row<T>));
    std::vector<T> lse;
    for (const Rows<T>& row : x.rows) {
      m_v.push_back(scaled_rows(row, m_scale));
      lse.push_back(static_cast<T>(reference(m_v.back()).logsumexp.front()));
    }
    m_lse.assign(lse);
    m_derivative.assign(random_values<T, T>(random, lse.size(), 1).values);
    m_rows = x;
  }

  /// Makes the call, and checks all memory.
  bool expect_right() {
    if (m_on_one_lane)
      call_on_one_lane();
    else
      call();
    Exec{}.fence();
    EXPECT_TRUE(m_segments.are_unchanged()) << "offsets was written";
    EXPECT_TRUE(m_in_place || m_x.is_unchanged()) << "x was written";
    EXPECT_TRUE(m_lse.is_unchanged() && m_derivative.is_unchanged()) << "lse or dlse was written";
    expect_results_right();
    return true;
  }

  friend std::ostream& operator<<(std::ostream& out, const RandomSegmentGradientCase& c) {
    out << "segment_logsumexp_backward of " << c.m_segments << ", scale " << c.m_scale << ", x at "
        << c.m_x.placement().offset;
    if (c.m_on_one_lane) out << ", on one lane";
    if (c.m_in_place) return out << ", in place";
    return out << ", dx at " << c.m_dx.placement().offset;
  }

 private:
  const Field<X, Exec>& dx() const { return m_in_place ? m_x : m_dx; }

  void call() const {
    m_segments.with_offsets([&](const auto& offsets) {
      segment_logsumexp_backward(Exec{}, m_x.template view<Right, 1, const X>(),
                                 m_lse.template view<Right, 1, const T>(),
                                 m_derivative.template view<Right, 1, const T>(), offsets,
                                 dx().template view<Right, 1>(), {.scale = m_scale});
    });
  }
  void call_on_one_lane() const {
    if constexpr (is_host_space<Exec> && std::is_same_v<X, T>) {
      auto problem = m_segments.template problem<T>(m_x.placement());
      problem.x = m_x.data();
      problem.y = dx().data();
      problem.lse = m_lse.data();
      problem.derivative = m_derivative.data();
      launch_on_one_lane(Exec{}, RaggedOperation::logsumexp_backward, problem, m_scale);
    }
  }

  void expect_results_right() const {
    const std::vector<T> lse = m_lse.read(), derivative = m_derivative.read();
    const T other = m_in_place ? entry_of_no_row<T> : static_cast<T>(poison<X>);
    EXPECT_TRUE(are_rows_right(
        m_rows, dx().template read<T>(), other, [&](std::size_t r, const std::vector<T>& values) {
          return are_near<X>(
              values, reference_gradient<T>(m_v[r], m_scale, {lse[r]}, {derivative[r]}, nullptr));
        }));
    EXPECT_TRUE(dx().gaps_are_unchanged()) << "something beside dx's elements was written";
  }

  RandomSegments<Exec> m_segments;
  Field<X, Exec> m_x;
  Field<X, Exec> m_dx;
  bool m_in_place;
  Field<T, Exec> m_lse;
  Field<T, Exec> m_derivative;
  double m_scale;
  bool m_on_one_lane;
  RaggedRows<T> m_rows;
  std::vector<Rows<T>> m_v;
};

template <class C>
class RandomSegmentBackwardCases : public ::testing::Test {};
TYPED_TEST_SUITE(RandomSegmentBackwardCases, RandomSameTypeConfigs, ConfigName);

TYPED_TEST(RandomSegmentBackwardCases, AreRight) {
  expect_random_cases_right<RandomSegmentBackwardCase<TypeParam>>();
}

template <class C>
class RandomSegmentGradientCases : public ::testing::Test {};
TYPED_TEST_SUITE(RandomSegmentGradientCases, RandomSameTypeConfigs, ConfigName);

TYPED_TEST(RandomSegmentGradientCases, AreRight) {
  expect_random_cases_right<RandomSegmentGradientCase<TypeParam>>();
}

}  // namespace
}  // namespace KokkosSoftmax::Test
