// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests kokkossoftmax_cross_entropy, kokkossoftmax_cross_entropy_backward and
// kokkossoftmax_logsumexp_backward: results, and errors, which give a status and a message and
// write nothing.

#include <cstring>
#include <limits>
#include <support/CInterface.hpp>
#include <support/Inputs.hpp>
#include <support/Loss.hpp>
#include <support/Recorder.hpp>

namespace KokkosSoftmax::Test {
namespace {

/// The three functions.
enum class LossFunction { loss, loss_gradient, lse_gradient };
constexpr LossFunction loss_functions[] = {LossFunction::loss, LossFunction::loss_gradient,
                                           LossFunction::lse_gradient};

kokkossoftmax_cross_entropy_options c_loss_options(const Labels& labels, int axis, double scale) {
  kokkossoftmax_cross_entropy_options c;
  EXPECT_EQ(kokkossoftmax_cross_entropy_options_init(&c), KOKKOSSOFTMAX_SUCCESS);
  c.axis = axis;
  c.scale = scale;
  c.label_smoothing = labels.smoothing;
  c.ignore_index = labels.ignored;
  return c;
}

template <class C>
class CCrossEntropy : public ::testing::Test {
 protected:
  using T = typename C::value;
  using X = typename C::x_value;
  using Exec = typename C::exec;
  static constexpr int space = space_of<Exec>;

  /// The arguments of the three functions: memory, tensors and options.
  template <class Label = std::int64_t>
  struct Call {
    /// For x with these extents and all arrays with the placements that `place_with` gives.
    Call(const Extents& extents, int axis, Placement (*place_with)(const Extents&))
        : x_place(place_with(extents)),
          row_place(place_with(without_axis(extents, axis))),
          options(c_loss_options({}, axis, 1)),
          lse_options(c_options({.axis = axis})) {}

    int call(LossFunction function, int in_space = space) const {
      if (function == LossFunction::loss)
        return kokkossoftmax_cross_entropy(in_space, nullptr, &x.c, &labels.c, &loss.c, &lse.c,
                                           &options);
      if (function == LossFunction::loss_gradient)
        return kokkossoftmax_cross_entropy_backward(in_space, nullptr, &x.c, &labels.c, &lse.c,
                                                    &derivative.c, &dx.c, &options);
      return kokkossoftmax_logsumexp_backward(in_space, nullptr, &x.c, &lse.c, &derivative.c, &dx.c,
                                              &lse_options, operands);
    }
    ::testing::AssertionResult fails(LossFunction function, int status,
                                     std::initializer_list<std::string> parts,
                                     int in_space = space) {
      const auto result = fails_with(status, parts, call(function, in_space));
      Exec{}.fence();
      return both(result, is_unchanged(), "memory was written");
    }
    bool is_unchanged() const {
      return x_field.is_unchanged() && label_field.is_unchanged() && loss_field.is_unchanged() &&
             lse_field.is_unchanged() && derivative_field.is_unchanged() && dx_field.is_unchanged();
    }

    Placement x_place, row_place;
    Field<X, Exec> x_field{x_place}, dx_field{x_place};
    Field<Label, Exec> label_field{row_place};
    Field<T, Exec> loss_field{row_place}, lse_field{row_place}, derivative_field{row_place};
    Tensor<X> x{x_field.data(), x_place}, dx{dx_field.data(), x_place};
    Tensor<Label> labels{label_field.data(), row_place};
    Tensor<T> loss{loss_field.data(), row_place}, lse{lse_field.data(), row_place},
        derivative{derivative_field.data(), row_place};
    kokkossoftmax_cross_entropy_options options;
    kokkossoftmax_options lse_options;
    const kokkossoftmax_operands* operands = nullptr;
  };

  static ::testing::AssertionResult succeeds_and_ends(int status) {
    const auto result = succeeds(status);
    return result ? succeeds(kokkossoftmax_fence(space, nullptr)) : result;
  }

  /// Calls the three functions and checks their results.
  template <class Label>
  static void check(const Extents& extents, int axis, double smoothing,
                    Placement (*place_with)(const Extents&)) {
    constexpr double scale = -0.5;
    const std::size_t columns = extents[axis_index(extents, axis)];
    const std::size_t count = product(extents) / columns;
    const Rows<T> x = normal_sample<X>(count, columns).rows, v = scaled_rows(x, scale);
    const Labels labels = random_labels(count, columns, smoothing, 1);
    const RowNumbers<T> numbers = row_numbers(v);
    Call<Label> call(extents, axis, place_with);
    call.options = c_loss_options(labels, axis, scale);
    call.lse_options.scale = scale;
    call.x_field.assign(rows_to_tensor(x.values, extents, axis));
    call.label_field.assign(std::vector<Label>(labels.of_row.begin(), labels.of_row.end()));
    call.derivative_field.assign(numbers.derivative);

    EXPECT_TRUE(succeeds_and_ends(call.call(LossFunction::loss)));
    EXPECT_TRUE(are_near<T>(call.loss_field.read(), reference_loss(v, labels)));
    EXPECT_TRUE(is_accurate(Function::logsumexp, v, reference(v), call.lse_field.read()));
    EXPECT_TRUE(call.loss_field.gaps_are_unchanged() && call.lse_field.gaps_are_unchanged());
    call.lse_field.assign(numbers.lse);
    for (const bool has_labels : {true, false}) {
      EXPECT_TRUE(succeeds_and_ends(
          call.call(has_labels ? LossFunction::loss_gradient : LossFunction::lse_gradient)));
      EXPECT_TRUE(are_near<X>(tensor_to_rows(call.dx_field.template read<T>(), extents, axis),
                              reference_gradient(v, scale, numbers.lse, numbers.derivative,
                                                 has_labels ? &labels : nullptr)));
      EXPECT_TRUE(call.dx_field.gaps_are_unchanged() && call.x_field.is_unchanged());
    }
  }

  /// Changes calls that are right, on a 5 x 7 matrix, and checks that they fail.
  template <class Change>
  static void are_invalid(std::initializer_list<LossFunction> functions, const Change& change,
                          std::initializer_list<std::string> parts) {
    for (const LossFunction function : functions) {
      Call<> call({5, 7}, 1, &place_right);
      change(call);
      EXPECT_TRUE(call.fails(function, KOKKOSSOFTMAX_INVALID_ARGUMENT, parts));
    }
  }
};

#ifdef KOKKOSSOFTMAX_TEST_HALF_TYPES
using CCrossEntropyConfigs =
    Concatenated<OverSpaces<DefaultSpaces>::values,
                 decltype(half_configs<Kokkos::LayoutRight>(DefaultSpaces{}))>::type::types;
#else
using CCrossEntropyConfigs = OverSpaces<DefaultSpaces>::values::types;
#endif
TYPED_TEST_SUITE(CCrossEntropy, decltype(of_same_types(CCrossEntropyConfigs{}))::types, ConfigName);

constexpr auto of_loss = LossFunction::loss, of_loss_gradient = LossFunction::loss_gradient,
               of_lse_gradient = LossFunction::lse_gradient;

TYPED_TEST(CCrossEntropy, ContiguousAndStrided) {
  for (const Extents& extents : {Extents{33}, Extents{5, 1025}, Extents{3, 7, 5, 29}})
    for (int axis = 0; axis < static_cast<int>(extents.size()); ++axis)
      for (const auto place_with : {&place_right, &place_left, &place_strided}) {
        TestFixture::template check<std::int32_t>(extents, axis, 0, place_with);
        TestFixture::template check<std::int64_t>(extents, axis, 0.125, place_with);
      }
}

// Without options, strides and lse; dx is x.
TYPED_TEST(CCrossEntropy, Defaults) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  const Rows<T> x = normal_sample<X>(12, 65).rows;
  const Labels labels = random_labels(12, 65, 0, -100);
  const RowNumbers<T> numbers = row_numbers(x);
  typename TestFixture::template Call<> call({4, 3, 65}, 2, &place_right);
  for (auto* tensor :
       {&call.x.c, &call.labels.c, &call.loss.c, &call.lse.c, &call.derivative.c, &call.dx.c})
    tensor->strides = nullptr;
  call.label_field.assign(labels.of_row);
  call.lse_field.assign(numbers.lse);
  call.derivative_field.assign(numbers.derivative);
  const auto expect_gradient = [&](int status, const Labels* given) {
    EXPECT_TRUE(TestFixture::succeeds_and_ends(status));
    EXPECT_TRUE(are_near<X>(call.x_field.template read<T>(),
                            reference_gradient(x, 1.0, numbers.lse, numbers.derivative, given)));
  };

  call.x_field.assign(x.values);
  EXPECT_TRUE(TestFixture::succeeds_and_ends(kokkossoftmax_cross_entropy(
      TestFixture::space, nullptr, &call.x.c, &call.labels.c, &call.loss.c, nullptr, nullptr)));
  EXPECT_TRUE(are_near<T>(call.loss_field.read(), reference_loss(x, labels)));
  expect_gradient(
      kokkossoftmax_cross_entropy_backward(TestFixture::space, nullptr, &call.x.c, &call.labels.c,
                                           &call.lse.c, &call.derivative.c, &call.x.c, nullptr),
      &labels);
  call.x_field.assign(x.values);
  expect_gradient(
      kokkossoftmax_logsumexp_backward(TestFixture::space, nullptr, &call.x.c, &call.lse.c,
                                       &call.derivative.c, &call.x.c, nullptr, nullptr),
      nullptr);
  EXPECT_TRUE(call.lse_field.is_unchanged() && call.label_field.is_unchanged());
}

// The operands of logsumexp: x is NaN at masked entries.
TYPED_TEST(CCrossEntropy, Operands) {
  using X = typename TypeParam::x_value;
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  constexpr std::size_t count = 9, columns = 70;
  Rows<T> x = normal_sample<X>(count, columns).rows;
  Inputs<T> inputs;
  inputs.offset = 40;
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    inputs.bias.push_back(static_cast<T>(i % 64) / T(16));
    inputs.mask.push_back(i % 5 != 0);
  }
  for (std::size_t r = 0; r < count; ++r)
    inputs.lengths.push_back(static_cast<std::int64_t>(7 * r));
  const Rows<T> v = values_of(x, inputs, 0.5);
  const RowNumbers<T> numbers = row_numbers(v);
  for (std::size_t i = 0; i < x.values.size(); ++i)
    if (inputs.is_masked(i / columns, i % columns, columns))
      x.values[i] = std::numeric_limits<T>::quiet_NaN();

  typename TestFixture::template Call<> call({count, columns}, 1, &place_right);
  Field<X, Exec> bias(call.x_place);
  Field<unsigned char, Exec> mask(call.x_place);
  Field<std::int64_t, Exec> lengths(call.row_place);
  call.x_field.assign(x.values);
  call.lse_field.assign(numbers.lse);
  call.derivative_field.assign(numbers.derivative);
  bias.assign(inputs.bias);
  mask.assign(std::vector<unsigned char>(inputs.mask.begin(), inputs.mask.end()));
  lengths.assign(inputs.lengths);
  const Tensor<X> tbias(bias.data(), call.x_place);
  const Tensor<unsigned char> tmask(mask.data(), call.x_place);
  const Tensor<std::int64_t> tlengths(lengths.data(), call.row_place);
  const kokkossoftmax_causal causal{.offset = 40, .has_axis = 0, .axis = 0};
  kokkossoftmax_operands operands{};
  operands.size = sizeof(operands);
  operands.bias = &tbias.c;
  operands.mask = &tmask.c;
  operands.lengths = &tlengths.c;
  operands.causal = &causal;
  call.operands = &operands;
  call.lse_options.scale = 0.5;
  EXPECT_TRUE(TestFixture::succeeds_and_ends(call.call(of_lse_gradient)));
  EXPECT_TRUE(are_near<X>(call.dx_field.template read<T>(),
                          reference_gradient(v, 0.5, numbers.lse, numbers.derivative, nullptr)));

  const auto fails = [&](std::initializer_list<std::string> parts) {
    return fails_with(KOKKOSSOFTMAX_INVALID_ARGUMENT, parts, call.call(of_lse_gradient));
  };
  operands.lse = &call.lse.c;
  EXPECT_TRUE(fails({"logsumexp_backward: operands.lse is given", "set it to NULL"}));
  operands.lse = nullptr;
  operands.weights = &tbias.c;
  EXPECT_TRUE(fails({"logsumexp_backward: operands.weights is given", "set it to NULL"}));
  operands.weights = nullptr;
  operands.sign = &call.lse.c;
  EXPECT_TRUE(fails({"logsumexp_backward: operands.sign is given", "set it to NULL"}));
  operands.sign = nullptr;
  operands.lengths = &tbias.c;
  EXPECT_TRUE(fails({"logsumexp_backward: lengths has type"}));
  operands.lengths = nullptr;
  operands.bias = &call.dx.c;
  EXPECT_TRUE(fails({"logsumexp_backward: bias at", "and dx at", "overlap"}));
}

TYPED_TEST(CCrossEntropy, OneKernel) {
  using Exec = typename TypeParam::exec;
  constexpr const char* names[] = {"cross_entropy", "cross_entropy_backward", "logsumexp_backward"};
  typename TestFixture::template Call<> call({129, 3}, 0, &place_right);
  call.label_field.assign(std::vector<std::int64_t>(3, 1));
  for (const LossFunction function : loss_functions) {
    const Events events = record([&] { EXPECT_TRUE(succeeds(call.call(function))); });
    Exec{}.fence();
    ASSERT_EQ(events.kernels.size(), 1u);
    EXPECT_EQ(events.kernels[0].label.find(std::string("KokkosSoftmax::") +
                                           names[static_cast<int>(function)] + "["),
              0u)
        << events.kernels[0].label;
    EXPECT_EQ(events.fences, std::vector<std::string>{});
  }
}

// lse is -inf, and no label is a column.
TYPED_TEST(CCrossEntropy, EmptyTensors) {
  using T = typename TypeParam::value;
  typename TestFixture::template Call<> no_rows({0, 7}, 1, &place_right),
      no_columns({5, 0}, 1, &place_right);
  no_columns.label_field.assign(std::vector<std::int64_t>{0, -100, 0, -100, 1});
  for (const LossFunction function : loss_functions) {
    EXPECT_TRUE(TestFixture::succeeds_and_ends(no_rows.call(function)));
    EXPECT_TRUE(TestFixture::succeeds_and_ends(no_columns.call(function)));
  }
  const auto loss = no_columns.loss_field.read(), lse = no_columns.lse_field.read();
  for (std::size_t r = 0; r < 5; ++r) {
    EXPECT_EQ(lse[r], -std::numeric_limits<T>::infinity());
    EXPECT_EQ(std::isnan(loss[r]), r % 2 == 0);
  }
}

// Arguments that are checked for Views as well give the same messages.
TYPED_TEST(CCrossEntropy, SharedErrors) {
  const std::int64_t narrow[] = {5, 6}, six[] = {6};
  TestFixture::are_invalid({of_loss, of_loss_gradient}, [](auto& c) { c.options.axis = 2; },
                           {"KokkosSoftmax::cross_entropy", ": axis = 2", "x has rank 2"});
  TestFixture::are_invalid({of_lse_gradient}, [](auto& c) { c.lse_options.axis = -3; },
                           {"KokkosSoftmax::logsumexp_backward: axis = -3"});
  TestFixture::are_invalid(
      {of_loss, of_loss_gradient},
      [](auto& c) { c.options.scale = std::numeric_limits<double>::infinity(); },
      {"scale", "finite"});
  TestFixture::are_invalid({of_loss, of_loss_gradient},
                           [](auto& c) { c.options.label_smoothing = -0.5; },
                           {"label_smoothing = -0.5", "[0, 1]"});
  TestFixture::are_invalid({of_loss},
                           [](auto& c) { c.options.algorithm = KOKKOSSOFTMAX_ALGORITHM_SPLIT; },
                           {"KokkosSoftmax::cross_entropy: algorithm = split"});
  TestFixture::are_invalid({of_loss_gradient},
                           [](auto& c) { c.options.algorithm = KOKKOSSOFTMAX_ALGORITHM_ONLINE; },
                           {"KokkosSoftmax::cross_entropy_backward: algorithm = online"});
  TestFixture::are_invalid({of_loss, of_loss_gradient}, [&](auto& c) { c.labels.c.extents = six; },
                           {"the extents (6) of labels", "x (5, 7)"});
  TestFixture::are_invalid({of_loss}, [&](auto& c) { c.loss.c.extents = six; },
                           {"the extents (6) of loss", "x (5, 7)"});
  TestFixture::are_invalid({of_loss, of_loss_gradient, of_lse_gradient},
                           [&](auto& c) { c.lse.c.extents = six; },
                           {"the extents (6) of lse", "x (5, 7)"});
  TestFixture::are_invalid({of_loss_gradient}, [&](auto& c) { c.derivative.c.extents = six; },
                           {"the extents (6) of dloss", "x (5, 7)"});
  TestFixture::are_invalid({of_lse_gradient}, [&](auto& c) { c.derivative.c.extents = six; },
                           {"the extents (6) of dlse", "x (5, 7)"});
  TestFixture::are_invalid({of_loss_gradient, of_lse_gradient},
                           [&](auto& c) { c.dx.c.extents = narrow; },
                           {"the extents (5, 6) of dx", "x (5, 7)"});
  TestFixture::are_invalid({of_loss}, [](auto& c) { c.lse.c.data = c.loss.c.data; },
                           {"loss at", "and lse at", "overlap"});
  TestFixture::are_invalid({of_loss_gradient, of_lse_gradient},
                           [](auto& c) { c.dx.c.data = c.x_field.data() + 1; },
                           {"x at", "and dx at", "overlap"});
}

TYPED_TEST(CCrossEntropy, TensorErrors) {
  const std::int64_t negative[] = {-1}, backwards[] = {-1}, broadcast[] = {0}, columns[] = {0, 1};
  const auto every = {of_loss, of_loss_gradient, of_lse_gradient};
  TestFixture::are_invalid(every, [](auto& c) { c.x.c.data = nullptr; }, {": x.data is NULL"});
  TestFixture::are_invalid(every, [](auto& c) { c.x.c.rank = 0; }, {": x has rank 0", "1 to 8"});
  TestFixture::are_invalid(every, [](auto& c) { c.lse.c.rank = 9; },
                           {": lse has rank 9", "0 to 8"});
  TestFixture::are_invalid({of_loss, of_loss_gradient}, [](auto& c) { c.labels.c.data = nullptr; },
                           {": labels.data is NULL"});
  TestFixture::are_invalid({of_loss, of_loss_gradient},
                           [&](auto& c) { c.labels.c.extents = negative; },
                           {": labels.extents[0] = -1"});
  TestFixture::are_invalid({of_loss_gradient, of_lse_gradient},
                           [&](auto& c) { c.derivative.c.strides = backwards; },
                           {".strides[0] = -1"});
  TestFixture::are_invalid({of_loss}, [&](auto& c) { c.loss.c.strides = broadcast; },
                           {": loss.strides[0] = 0"});
  TestFixture::are_invalid({of_loss}, [&](auto& c) { c.lse.c.strides = broadcast; },
                           {": lse.strides[0] = 0"});
  TestFixture::are_invalid({of_loss_gradient, of_lse_gradient},
                           [&](auto& c) { c.dx.c.strides = columns; }, {": dx.strides[0] = 0"});
  const auto shift = [](kokkossoftmax_tensor& tensor) {
    tensor.data = static_cast<char*>(tensor.data) + 1;
  };
  TestFixture::are_invalid(every, [&](auto& c) { shift(c.x.c); }, {": x.data", "multiple of "});
  TestFixture::are_invalid(every, [&](auto& c) { shift(c.lse.c); }, {": lse.data", "multiple of "});
  TestFixture::are_invalid({of_loss, of_loss_gradient}, [&](auto& c) { shift(c.labels.c); },
                           {": labels.data", "multiple of 8"});
  TestFixture::are_invalid({of_loss}, [&](auto& c) { shift(c.loss.c); }, {": loss.data"});
}

// x and dx have one type, the numbers of rows have that of the computation, and labels are
// integers.
TYPED_TEST(CCrossEntropy, Types) {
  using T = typename TypeParam::value;
  constexpr int type = type_of<typename TypeParam::x_value>;
  constexpr int other = type == KOKKOSSOFTMAX_FLOAT ? KOKKOSSOFTMAX_DOUBLE : KOKKOSSOFTMAX_FLOAT;
  const int other_number = std::is_same_v<T, float> ? KOKKOSSOFTMAX_DOUBLE : KOKKOSSOFTMAX_FLOAT;
  typename TestFixture::template Call<> call({5, 7}, 1, &place_right);
  call.x.c.type = KOKKOSSOFTMAX_INT32;
  EXPECT_TRUE(call.fails(of_loss, KOKKOSSOFTMAX_UNSUPPORTED,
                         {"KokkosSoftmax::cross_entropy: x of type = 5, int32, has no kernels",
                          "kernels for arrays of "}));
  for (const LossFunction function : {of_loss_gradient, of_lse_gradient})
    EXPECT_TRUE(call.fails(function, KOKKOSSOFTMAX_UNSUPPORTED,
                           {"_backward: x of type = 5, int32, dx of type = ", "have no kernels"}));
  call.x.c.type = type;
  call.dx.c.type = other;
  for (const LossFunction function : {of_loss_gradient, of_lse_gradient})
    EXPECT_TRUE(call.fails(function, KOKKOSSOFTMAX_UNSUPPORTED, {"arrays that are all of"}));

  TestFixture::are_invalid({of_loss, of_loss_gradient},
                           [](auto& c) { c.labels.c.type = KOKKOSSOFTMAX_BOOL; },
                           {": labels has type = 4, bool", "int32 or int64"});
  TestFixture::are_invalid({of_loss}, [&](auto& c) { c.loss.c.type = other_number; },
                           {": loss has type", "it is computed in"});
  TestFixture::are_invalid({of_loss, of_loss_gradient, of_lse_gradient},
                           [&](auto& c) { c.lse.c.type = other_number; }, {": lse has type"});
  TestFixture::are_invalid({of_loss_gradient}, [&](auto& c) { c.derivative.c.type = other_number; },
                           {": dloss has type"});
  TestFixture::are_invalid({of_lse_gradient}, [&](auto& c) { c.derivative.c.type = other_number; },
                           {": dlse has type"});
}

TYPED_TEST(CCrossEntropy, NullAndUnknownArguments) {
  constexpr int invalid = KOKKOSSOFTMAX_INVALID_ARGUMENT;
  typename TestFixture::template Call<> call({5, 7}, 1, &place_right);
  const auto loss = [&](auto... tensors) {
    return kokkossoftmax_cross_entropy(TestFixture::space, nullptr, tensors..., nullptr, nullptr);
  };
  const auto loss_gradient = [&](auto... tensors) {
    return kokkossoftmax_cross_entropy_backward(TestFixture::space, nullptr, tensors..., nullptr);
  };
  const auto lse_gradient = [&](auto... tensors) {
    return kokkossoftmax_logsumexp_backward(TestFixture::space, nullptr, tensors..., nullptr,
                                            nullptr);
  };
  const auto *x = &call.x.c, *labels = &call.labels.c, *rows = &call.lse.c, *dx = &call.dx.c;
  EXPECT_TRUE(fails_with(invalid, {"cross_entropy: x is NULL"}, loss(nullptr, labels, rows)));
  EXPECT_TRUE(fails_with(invalid, {"cross_entropy: labels is NULL"}, loss(x, nullptr, rows)));
  EXPECT_TRUE(fails_with(invalid, {"cross_entropy: loss is NULL"}, loss(x, labels, nullptr)));
  EXPECT_TRUE(fails_with(invalid, {"cross_entropy_backward: labels is NULL"},
                         loss_gradient(x, nullptr, rows, rows, dx)));
  EXPECT_TRUE(fails_with(invalid, {"cross_entropy_backward: lse is NULL"},
                         loss_gradient(x, labels, nullptr, rows, dx)));
  EXPECT_TRUE(fails_with(invalid, {"cross_entropy_backward: dloss is NULL"},
                         loss_gradient(x, labels, rows, nullptr, dx)));
  EXPECT_TRUE(fails_with(invalid, {"logsumexp_backward: x is NULL"},
                         lse_gradient(nullptr, rows, rows, dx)));
  EXPECT_TRUE(fails_with(invalid, {"logsumexp_backward: dlse is NULL"},
                         lse_gradient(x, rows, nullptr, dx)));
  EXPECT_TRUE(fails_with(invalid, {"logsumexp_backward: dx is NULL"},
                         lse_gradient(x, rows, rows, nullptr)));
  for (const LossFunction function : loss_functions)
    EXPECT_TRUE(call.fails(function, invalid, {"kokkossoftmax_", ": space = 2"}, 2));
}

TYPED_TEST(CCrossEntropy, Options) {
  kokkossoftmax_cross_entropy_options options;
  std::memset(&options, 0xab, sizeof(options));
  EXPECT_TRUE(succeeds(kokkossoftmax_cross_entropy_options_init(&options)));
  const CrossEntropyOptions cpp;
  EXPECT_EQ(options.size, sizeof(options));
  EXPECT_EQ(options.scale, cpp.scale);
  EXPECT_EQ(options.label_smoothing, cpp.label_smoothing);
  EXPECT_EQ(options.ignore_index, cpp.ignore_index);
  EXPECT_EQ(options.axis, cpp.axis);
  EXPECT_EQ(options.algorithm, KOKKOSSOFTMAX_ALGORITHM_AUTOMATIC);
  EXPECT_EQ(options.reproducible, 0);
  EXPECT_EQ(options.reserved, 0);

  constexpr int invalid = KOKKOSSOFTMAX_INVALID_ARGUMENT;
  EXPECT_TRUE(fails_with(invalid, {"kokkossoftmax_cross_entropy_options_init: options is NULL"},
                         kokkossoftmax_cross_entropy_options_init(nullptr)));
  EXPECT_TRUE(fails_with(invalid, {"kokkossoftmax_cross_entropy_options_init_sized: size = 8"},
                         kokkossoftmax_cross_entropy_options_init_sized(&options, 8)));
  TestFixture::are_invalid(
      {of_loss, of_loss_gradient}, [](auto& c) { c.options.size = 8; },
      {": options.size = 8", "call kokkossoftmax_cross_entropy_options_init()"});
  TestFixture::are_invalid({of_loss, of_loss_gradient}, [](auto& c) { c.options.reserved = 1; },
                           {": options.reserved = 1"});
  TestFixture::are_invalid({of_loss, of_loss_gradient}, [](auto& c) { c.options.algorithm = 99; },
                           {": options.algorithm = 99", "initialized"});
}

}  // namespace
}  // namespace KokkosSoftmax::Test
