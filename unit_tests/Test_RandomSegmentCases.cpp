// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// segment_softmax, segment_log_softmax and segment_logsumexp with random lengths, offsets, places,
// values and options, all at once, see Test_RandomCases.cpp.

#include <random_cases/Run.hpp>
#include <random_cases/Segments.hpp>
#include <random_cases/Values.hpp>

namespace KokkosSoftmax::Test {
namespace {

/// One call with random arguments.
template <class C>
class RandomSegmentCase {
 public:
  using T = typename C::value;
  using X = typename C::x_value;
  using Y = typename C::y_value;
  using Exec = typename C::exec;
  using Right = Kokkos::LayoutRight;

  explicit RandomSegmentCase(Random random)
      : m_function(random.element_of(all_functions)),
        m_segments(random),
        m_x(m_segments.random_entries(random)),
        m_y(m_segments.random_entries(random)),
        m_lse(m_segments.random_numbers(random)),
        m_in_place(std::is_same_v<X, Y> && !is_logsumexp() && random.one_in(4)),
        m_on_one_lane(random.one_in(3) && m_segments.template may_use_one_lane<X, Y>()) {
    const Options options = random_options(random, 0);
    m_options = {.scale = options.scale, .empty_rows = options.empty_rows};
    m_rows = m_segments.template rows<T>(
        [&](std::size_t length) { return rounded<X>(random_values<X, T>(random, 1, length)); });
    m_x.assign(m_rows.entries(entry_of_no_row<T>));
  }

  /// Makes the call, and checks all memory.
  bool expect_right() {
    if (m_on_one_lane)
      call_on_one_lane();
    else
      m_segments.with_offsets([&](const auto& offsets) { call(offsets); });
    Exec{}.fence();
    EXPECT_TRUE(m_segments.are_unchanged()) << "offsets was written";
    EXPECT_TRUE(m_in_place || m_x.is_unchanged()) << "x was written";
    if (is_logsumexp())
      expect_numbers_right();
    else if (m_in_place)
      expect_entries_right(m_x, entry_of_no_row<T>);
    else
      expect_entries_right(m_y, static_cast<T>(poison<Y>));
    return true;
  }

  friend std::ostream& operator<<(std::ostream& out, const RandomSegmentCase& c) {
    out << "segment_" << to_string(c.m_function) << " of " << c.m_segments << ", scale "
        << c.m_options.scale << ", x at " << c.m_x.placement().offset;
    if (c.m_options.empty_rows == EmptyRows::zero) out << ", empty rows give 0";
    if (c.m_on_one_lane) out << ", on one lane";
    if (c.m_in_place) return out << ", in place";
    return out << ", result at " << c.result_placement().offset;
  }

 private:
  bool is_logsumexp() const { return m_function == Function::logsumexp; }
  const Placement& result_placement() const {
    return is_logsumexp() ? m_lse.placement() : m_y.placement();
  }

  template <class Offsets>
  void call(const Offsets& offsets) const {
    const auto x = m_x.template view<Right, 1, const X>();
    if (is_logsumexp())
      return segment_logsumexp(Exec{}, x, offsets, m_lse.template view<Right, 1>(), m_options);
    if constexpr (std::is_same_v<X, Y>)
      if (m_in_place) return call(x, offsets, m_x.template view<Right, 1>());
    call(x, offsets, m_y.template view<Right, 1>());
  }
  template <class XView, class Offsets, class YView>
  void call(const XView& x, const Offsets& offsets, const YView& y) const {
    if (m_function == Function::softmax)
      segment_softmax(Exec{}, x, offsets, y, m_options);
    else
      segment_log_softmax(Exec{}, x, offsets, y, m_options);
  }

  void call_on_one_lane() const {
    if constexpr (is_host_space<Exec> && std::is_same_v<X, T> && std::is_same_v<Y, T>) {
      auto problem = m_segments.template problem<T>(m_x.placement());
      problem.x = m_x.data();
      problem.y = (m_in_place ? m_x : m_y).data();
      problem.of_rows = m_lse.data();
      const auto operation = m_function == Function::softmax       ? RaggedOperation::softmax
                             : m_function == Function::log_softmax ? RaggedOperation::log_softmax
                                                                   : RaggedOperation::logsumexp;
      launch_on_one_lane(Exec{}, operation, problem, m_options.scale, m_options.empty_rows);
    }
  }

  Expected expected_of(std::size_t row) const {
    return reference(m_rows.rows[row], m_options.scale, m_options.empty_rows);
  }

  template <class Entries>
  void expect_entries_right(const Entries& y, T other) const {
    EXPECT_TRUE(are_rows_right(
        m_rows, y.template read<T>(), other, [&](std::size_t r, const std::vector<T>& values) {
          return is_accurate(m_function, m_rows.rows[r], expected_of(r), values, 0, format_of<Y>());
        }));
    EXPECT_TRUE(y.gaps_are_unchanged()) << "something beside y's elements was written";
  }

  void expect_numbers_right() const {
    const std::vector<T> got = m_lse.read();
    for (std::size_t r = 0; r < got.size(); ++r) {
      const Expected expected = expected_of(r);
      const std::vector<T> lse{got[r]};
      auto result = is_accurate(m_function, m_rows.rows[r], expected, lse);
      if (result && std::is_same_v<X, T>)
        result = is_accurate_near_zero(m_rows.rows[r], expected, lse);
      EXPECT_TRUE(result) << "row " << r;
    }
    EXPECT_TRUE(m_lse.gaps_are_unchanged()) << "something beside lse's elements was written";
  }

  Function m_function;
  RandomSegments<Exec> m_segments;
  Field<X, Exec> m_x;
  Field<Y, Exec> m_y;
  Field<T, Exec> m_lse;
  bool m_in_place;
  bool m_on_one_lane;
  SegmentOptions m_options;
  RaggedRows<T> m_rows;
};

template <class C>
class RandomSegmentCases : public ::testing::Test {};
TYPED_TEST_SUITE(RandomSegmentCases, RandomConfigs, ConfigName);

TYPED_TEST(RandomSegmentCases, AreRight) {
  expect_random_cases_right<RandomSegmentCase<TypeParam>>();
}

}  // namespace
}  // namespace KokkosSoftmax::Test
