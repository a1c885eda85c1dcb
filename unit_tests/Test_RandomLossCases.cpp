// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cross_entropy, cross_entropy_backward and logsumexp_backward with random shapes, layouts, values,
// labels, options and operands, all at once, see Test_RandomCases.cpp.

#include <random_cases/GivenToC.hpp>
#include <random_cases/Labels.hpp>
#include <random_cases/Operands.hpp>
#include <random_cases/Run.hpp>
#include <random_cases/Values.hpp>

namespace KokkosSoftmax::Test {
namespace {

/// Labels and options for the C interface.
const kokkossoftmax_tensor* add_labels(GivenTensors& tensors,
                                       const KokkosSoftmax::Impl::LabelArrays& labels) {
  return std::visit([&](const auto& array) { return tensors.add(array); }, labels.index);
}
kokkossoftmax_cross_entropy_options given_loss_options(
    const Options& options, const KokkosSoftmax::Impl::LabelArrays& labels) {
  kokkossoftmax_cross_entropy_options c;
  throw_if_failed(kokkossoftmax_cross_entropy_options_init(&c));
  c.scale = options.scale;
  c.label_smoothing = labels.smoothing;
  c.ignore_index = labels.ignored;
  c.axis = options.axis;
  c.algorithm = static_cast<int>(options.algorithm);
  c.reproducible = options.reproducible;
  return c;
}

/// One call of cross_entropy with random arguments.
template <class C>
class RandomLossCase {
 public:
  using T = typename C::value;
  using X = typename C::x_value;
  using Exec = typename C::exec;

  explicit RandomLossCase(Random random)
      : m_shape(random, GivenAxes::Divided::all_but_reduced),
        m_x(random_input_placement(random, m_shape.extents, m_shape.pairs)),
        m_loss(random_placement(random, m_shape.row_extents())),
        m_lse(random_placement(random, m_shape.row_extents())),
        m_has_lse(random.one_in(2)),
        m_labels(random, m_shape.row_extents(), m_shape.columns()) {
    m_shape.follow(m_x.placement());
    m_shape.assign(m_x, random_values<X, T>(random, m_shape.count(), m_shape.columns()));
    m_route = random_route<Exec>(random, false);
  }

  Route route() const { return m_route; }

  void call(Route route) const {
    using KokkosSoftmax::Impl::LossOperation;
    const auto x = m_shape.template given<const X>(m_x);
    const auto labels = m_labels.arrays(m_shape);
    const auto loss = m_shape.template given_rows<T>(m_loss);
    const auto lse =
        m_has_lse ? std::optional(m_shape.template given_rows<T>(m_lse)) : std::nullopt;
    const Options options = m_shape.call_options();
    if (route == Route::function)
      return KokkosSoftmax::Impl::check_and_launch_loss<LossOperation::cross_entropy>(
          Exec{}, x, labels, loss, lse, options);
    GivenTensors tensors;
    const auto c = given_loss_options(options, labels);
    throw_if_failed(kokkossoftmax_cross_entropy(space_of<Exec>, nullptr, tensors.add(x),
                                                add_labels(tensors, labels), tensors.add(loss),
                                                tensors.add(lse), &c));
  }

  std::vector<T> results() const { return joined({m_loss.read(), m_lse.read()}); }

  void restore() {}

  /// Makes the call, and checks all memory. Returns whether the algorithm serves the case.
  bool expect_right() {
    const bool served = is_served_by_route<Exec>(*this, m_shape.options);
    EXPECT_TRUE(m_x.is_unchanged()) << "x was written";
    EXPECT_TRUE(m_labels.are_unchanged()) << "labels was written";
    EXPECT_TRUE(served || m_loss.is_unchanged()) << "loss was written";
    EXPECT_TRUE((served && m_has_lse) || m_lse.is_unchanged()) << "lse was written";
    if (served) expect_results_right();
    return served;
  }

  friend std::ostream& operator<<(std::ostream& out, const RandomLossCase& c) {
    out << "cross_entropy of " << c.m_shape;
    describe(out, "x", c.m_x.placement());
    describe(out, "loss", c.m_loss.placement());
    if (c.m_has_lse) describe(out, "lse", c.m_lse.placement());
    return out << c.m_labels;
  }

 private:
  void expect_results_right() const {
    const Rows<T> v = scaled_rows(m_shape.template rows_of<T>(m_x), m_shape.options.scale);
    EXPECT_TRUE(are_near<T>(m_loss.read(), reference_loss(v, m_labels.of_rows())));
    EXPECT_TRUE(m_loss.gaps_are_unchanged()) << "something beside loss's elements was written";
    if (!m_has_lse) return;
    EXPECT_TRUE(is_accurate(Function::logsumexp, v, beside_y(reference(v)), m_lse.read())) << "lse";
    EXPECT_TRUE(m_lse.gaps_are_unchanged()) << "something beside lse's elements was written";
  }

  RandomShape m_shape;
  Field<X, Exec> m_x;
  Field<T, Exec> m_loss;
  Field<T, Exec> m_lse;
  bool m_has_lse;
  RandomLabels<Exec> m_labels;
  Route m_route;
};

/// One call of cross_entropy_backward or logsumexp_backward with random arguments.
template <class C>
class RandomGradientCase {
 public:
  using T = typename C::value;
  using X = typename C::x_value;
  using Exec = typename C::exec;

  explicit RandomGradientCase(Random random)
      : m_of_loss(random.one_in(2)),
        m_shape(shape_for_gradients(random, m_of_loss)),
        m_x(random_input_placement(random, m_shape.extents, m_shape.pairs)),
        m_dx(random_placement(random, m_shape.extents, m_shape.pairs)),
        m_in_place(!repeats_elements(m_x.placement()) && random.one_in(4)),
        m_lse(random_placement(random, m_shape.row_extents())),
        m_derivative(random_input_placement(random, m_shape.row_extents())) {
    if (m_of_loss)
      m_labels.emplace(random, m_shape.row_extents(), m_shape.columns());
    else
      m_operands.emplace(random, m_shape);
    if (m_operands && m_operands->count_columns()) m_shape.count_columns();
    m_shape.follow(m_x.placement());
    m_shape.assign(m_x, random_values<X, T>(random, m_shape.count(), m_shape.columns()));
    m_derivative.assign(random_values<T, T>(random, m_shape.count(), 1).values);
    m_x_rows = m_shape.template rows_of<T>(m_x);
    m_v = values_of(m_x_rows, inputs(), m_shape.options.scale);
    const std::vector<long double> lse = reference(m_v).logsumexp;
    m_lse.assign(std::vector<T>(lse.begin(), lse.end()));
    m_route = random_route<Exec>(random, false);
  }

  Route route() const { return m_route; }

  void call(Route route) const {
    using enum KokkosSoftmax::Impl::GradientOperation;
    if (route == Route::c_interface)
      m_labels ? call_c_interface_with_labels() : call_c_interface_with_operands();
    else
      m_labels ? call_function<cross_entropy_backward>() : call_function<logsumexp_backward>();
  }

  std::vector<T> results() const { return dx().template read<T>(); }

  void restore() {
    if (!m_in_place) return;
    EXPECT_TRUE(m_x.gaps_are_unchanged()) << "something beside dx's elements was written";
    m_shape.assign(m_x, m_x_rows);
  }

  /// Makes the call, and checks all memory. Returns whether the algorithm serves the case.
  bool expect_right() {
    const bool served = is_served_by_route<Exec>(*this, m_shape.options);
    EXPECT_TRUE(m_in_place || m_x.is_unchanged()) << "x was written";
    EXPECT_TRUE(m_lse.is_unchanged()) << "lse was written";
    EXPECT_TRUE(m_derivative.is_unchanged()) << "dloss or dlse was written";
    EXPECT_TRUE(!m_labels || m_labels->are_unchanged()) << "labels was written";
    EXPECT_TRUE(!m_operands || m_operands->are_unchanged()) << "an operand was written";
    EXPECT_TRUE(served || dx().is_unchanged()) << "dx was written by a call that failed";
    if (served) expect_results_right();
    return served;
  }

  friend std::ostream& operator<<(std::ostream& out, const RandomGradientCase& c) {
    out << (c.m_labels ? "cross_entropy_backward" : "logsumexp_backward") << " of " << c.m_shape;
    describe(out, "x", c.m_x.placement());
    if (c.m_in_place)
      out << ", in place";
    else
      describe(out, "dx", c.m_dx.placement());
    describe(out, "lse", c.m_lse.placement());
    describe(out, c.m_labels ? "dloss" : "dlse", c.m_derivative.placement());
    return c.m_labels ? out << *c.m_labels : out << *c.m_operands;
  }

 private:
  /// There is one algorithm, and a call that forces another one is refused.
  static RandomShape shape_for_gradients(Random& random, bool of_loss) {
    using enum GivenAxes::Divided;
    RandomShape shape(random, of_loss ? all_but_reduced : all);
    if (!random.one_in(50)) shape.options.algorithm = Algorithm::automatic;
    return shape;
  }

  Inputs<T> inputs() const {
    return m_operands ? m_operands->as_rows(m_shape.extents, m_shape.options.axis) : Inputs<T>{};
  }
  const Field<X, Exec>& dx() const { return m_in_place ? m_x : m_dx; }

  template <KokkosSoftmax::Impl::GradientOperation operation>
  void call_function() const {
    const auto labels = m_labels ? std::optional(m_labels->arrays(m_shape)) : std::nullopt;
    const auto operands =
        m_operands ? m_operands->arrays(m_shape) : KokkosSoftmax::Impl::InputArrays<const X, T>{};
    const auto x = m_shape.template given<const X>(m_x);
    const Options options = m_shape.call_options();
    const auto axes = KokkosSoftmax::Impl::checked_axes(operation, "x", x, options);
    KokkosSoftmax::Impl::check_and_launch_gradient<operation>(
        Exec{}, x, m_shape.template given_rows<const T>(m_lse), "derivative",
        m_shape.template given_rows<const T>(m_derivative), labels ? &*labels : nullptr,
        KokkosSoftmax::Impl::broadcast_inputs(operation, x, axes, operands),
        m_shape.template given<X>(dx()), options);
  }

  /// The tensors of x and of dx, and those with a number per row.
  struct TensorsInC {
    explicit TensorsInC(const RandomGradientCase& c)
        : x(all.add(c.m_shape.template given<const X>(c.m_x))),
          lse(all.add(c.m_shape.template given_rows<const T>(c.m_lse))),
          derivative(all.add(c.m_shape.template given_rows<const T>(c.m_derivative))),
          dx(all.add(c.m_shape.template given<X>(c.dx()))) {}

    GivenTensors all;
    const kokkossoftmax_tensor *x, *lse, *derivative, *dx;
  };

  void call_c_interface_with_labels() const {
    TensorsInC tensors(*this);
    const auto labels = m_labels->arrays(m_shape);
    const auto options = given_loss_options(m_shape.call_options(), labels);
    throw_if_failed(kokkossoftmax_cross_entropy_backward(
        space_of<Exec>, nullptr, tensors.x, add_labels(tensors.all, labels), tensors.lse,
        tensors.derivative, tensors.dx, &options));
  }

  void call_c_interface_with_operands() const {
    TensorsInC tensors(*this);
    const GivenOptions options(m_shape.call_options());
    const GivenOperands operands(tensors.all, m_operands->arrays(m_shape));
    throw_if_failed(kokkossoftmax_logsumexp_backward(space_of<Exec>, nullptr, tensors.x,
                                                     tensors.lse, tensors.derivative, tensors.dx,
                                                     &options.c, &operands.c));
  }

  void expect_results_right() const {
    const auto labels = m_labels ? std::optional(m_labels->of_rows()) : std::nullopt;
    EXPECT_TRUE(are_near<X>(m_shape.template rows_of<T>(dx()).values,
                            reference_gradient(m_v, m_shape.options.scale, m_lse.read(),
                                               m_derivative.read(), labels ? &*labels : nullptr)));
    EXPECT_TRUE(dx().gaps_are_unchanged()) << "something beside dx's elements was written";
  }

  bool m_of_loss;  // whether it is one of cross_entropy_backward
  RandomShape m_shape;
  Field<X, Exec> m_x;
  Field<X, Exec> m_dx;
  bool m_in_place;
  Field<T, Exec> m_lse;
  Field<T, Exec> m_derivative;
  std::optional<RandomLabels<Exec>> m_labels;            // of cross_entropy_backward
  std::optional<RandomOperands<X, T, Exec>> m_operands;  // of logsumexp_backward
  Rows<T> m_x_rows;
  Rows<T> m_v;
  Route m_route;
};

template <class C>
class RandomLossCases : public ::testing::Test {};
TYPED_TEST_SUITE(RandomLossCases, RandomSameTypeConfigs, ConfigName);

TYPED_TEST(RandomLossCases, AreRight) { expect_random_cases_right<RandomLossCase<TypeParam>>(); }

template <class C>
class RandomGradientCases : public ::testing::Test {};
TYPED_TEST_SUITE(RandomGradientCases, RandomSameTypeConfigs, ConfigName);

TYPED_TEST(RandomGradientCases, AreRight) {
  expect_random_cases_right<RandomGradientCase<TypeParam>>();
}

}  // namespace
}  // namespace KokkosSoftmax::Test
