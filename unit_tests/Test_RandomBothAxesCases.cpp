// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// logsumexp_both_axes with random extents, strides, values and scales, all at once, see
// Test_RandomCases.cpp.

#include <random_cases/GivenToC.hpp>
#include <random_cases/Run.hpp>
#include <random_cases/Values.hpp>
#include <support/BothAxes.hpp>

namespace KokkosSoftmax::Test {
namespace {

/// Extents of a matrix with few thousand elements, except that one of them may be larger.
Extents random_matrix(Random& random) {
  const std::size_t longer = random_columns(random);
  const std::size_t most = (random.one_in(20) ? 30000 : 2000) / longer;
  Extents extents{random.up_to(std::max<std::size_t>(most, 1)), longer};
  if (random.one_in(2)) std::swap(extents[0], extents[1]);
  if (random.one_in(40)) extents[random.below(2)] = 0;
  return extents;
}

/// One call with random arguments.
template <class C>
class RandomBothAxesCase {
 public:
  using T = typename C::value;
  using X = typename C::x_value;
  using Exec = typename C::exec;

  explicit RandomBothAxesCase(Random random)
      : m_x(random_input_placement(random, random_matrix(random))),
        m_row_lse(random_placement(random, {m_x.placement().extents[0]})),
        m_column_lse(random_placement(random, {m_x.placement().extents[1]})),
        m_scale(random_options(random, 0).scale),
        m_in_panels(random.one_in(3) && may_be_in_panels()) {
    const std::size_t rows = m_row_lse.placement().extents[0];
    const std::size_t columns = m_column_lse.placement().extents[0];
    m_x.assign(random.one_in(2) ? random_values<X, T>(random, rows, columns).values
                                : transposed(random_values<X, T>(random, columns, rows)).values);
    m_rows = {.count = rows, .columns = columns, .values = m_x.template read<T>()};
    m_route = random_route<Exec>(random, false);
    if (m_in_panels) m_route = Route::function;
  }

  Route route() const { return m_route; }

  void call(Route route) const {
    if (route == Route::c_interface)
      call_c_interface();
    else if (m_in_panels)
      call_in_panels();
    else
      KokkosSoftmax::Impl::check_and_launch_both_axes(Exec{}, array_of<const X>(m_x),
                                                      array_of<T>(m_row_lse),
                                                      array_of<T>(m_column_lse), m_scale);
  }

  std::vector<T> results() const { return joined({m_row_lse.read(), m_column_lse.read()}); }

  void restore() {}

  /// Makes the call, and checks all memory.
  bool expect_right() {
    is_served_by_route<Exec>(*this, Options{});
    EXPECT_TRUE(m_x.is_unchanged()) << "x was written";
    const BothAxesSample<T> sample(m_rows, m_scale);
    EXPECT_TRUE(are_right(sample, m_row_lse.read(), m_column_lse.read()));
    EXPECT_TRUE(m_row_lse.gaps_are_unchanged() && m_column_lse.gaps_are_unchanged())
        << "something beside the results was written";
    return true;
  }

  friend std::ostream& operator<<(std::ostream& out, const RandomBothAxesCase& c) {
    out << "logsumexp_both_axes of " << c.m_rows.count << " x " << c.m_rows.columns << ", scale "
        << c.m_scale << (c.m_in_panels ? ", in panels" : "");
    describe(out, "x", c.m_x.placement());
    describe(out, "row_lse", c.m_row_lse.placement());
    describe(out, "column_lse", c.m_column_lse.placement());
    return out;
  }

 private:
  /// On GPUs, the call itself takes these kernels. They require a row and a column.
  bool may_be_in_panels() const {
    return is_host_space<Exec> && product(m_x.placement().extents) > 0;
  }

  /// The kernels for GPUs, on a host with one lane.
  void call_in_panels() const {
    if constexpr (is_host_space<Exec>) {
      using namespace KokkosSoftmax::Impl;
      using OneLane = Shape<1, 1, 8, 1, AccessMode::guarded_vectors, 2, 2>;
      const auto problem = checked_both_axes(array_of<const X>(m_x), array_of<T>(m_row_lse),
                                             array_of<T>(m_column_lse), m_scale);
      launch_both_axes_in_panels<Exec, ValueTypes<X>, OneLane>(Exec{}, problem, m_scale);
    }
  }

  void call_c_interface() const {
    GivenTensors tensors;
    const auto options = c_options({.scale = m_scale});
    throw_if_failed(kokkossoftmax_logsumexp_both_axes(
        space_of<Exec>, nullptr, tensors.add(array_of<const X>(m_x)),
        tensors.add(array_of<T>(m_row_lse)), tensors.add(array_of<T>(m_column_lse)), &options));
  }

  Field<X, Exec> m_x;
  Field<T, Exec> m_row_lse;
  Field<T, Exec> m_column_lse;
  double m_scale;
  bool m_in_panels;
  Rows<T> m_rows;
  Route m_route;
};

template <class C>
class RandomBothAxesCases : public ::testing::Test {};
TYPED_TEST_SUITE(RandomBothAxesCases, RandomSameTypeConfigs, ConfigName);

TYPED_TEST(RandomBothAxesCases, AreRight) {
  expect_random_cases_right<RandomBothAxesCase<TypeParam>>();
}

}  // namespace
}  // namespace KokkosSoftmax::Test
