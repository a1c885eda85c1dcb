// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests kokkossoftmax.h: results, and errors, which give a status and a message and write nothing.
// CInterface.c tests it in a process that does not use Kokkos itself.

#include <kokkossoftmax.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <support/CInterface.hpp>
#include <support/Recorder.hpp>
#include <thread>

namespace KokkosSoftmax::Test {
namespace {

int operation_of(Function function) {
  switch (function) {
    case Function::softmax:
      return KOKKOSSOFTMAX_SOFTMAX;
    case Function::log_softmax:
      return KOKKOSSOFTMAX_LOG_SOFTMAX;
    case Function::logsumexp:
      return KOKKOSSOFTMAX_LOGSUMEXP;
  }
  throw std::logic_error("no such function");
}

template <class C>
class CInterface : public ::testing::Test {
 protected:
  using T = typename C::value;
  using Exec = typename C::exec;
  static constexpr int space = space_of<Exec>;

  /// Calls the function on tensors with the given placements, and checks the result.
  static ::testing::AssertionResult check(const Case& c, const Placement& x_place,
                                          const Placement& y_place, void* stream = nullptr) {
    const auto& sample = normal_sample<T>(product(without_axis(c.extents, c.options.axis)),
                                          c.extents[axis_index(c.extents, c.options.axis)]);
    Field<T, Exec> x(x_place), y(y_place);
    x.assign(rows_to_tensor(sample.rows.values, c.extents, c.options.axis));
    const Tensor<T> tx(x.data(), x_place), ty(y.data(), y_place);
    const auto options = c_options(c.options);
    const auto result = succeeds(
        kokkossoftmax_apply(operation_of(c.function), space, stream, &tx.c, &ty.c, &options));
    if (!result) return result;
    if (const auto fenced = succeeds(kokkossoftmax_fence(space, stream)); !fenced) return fenced;
    return both(check_output(c, sample.rows, sample.expected, y), x.is_unchanged(),
                "x was written");
  }

  /// Memory and tensors of a call on a 5 x 7 matrix that must fail.
  struct Call {
    Field<T, Exec> x_field{place_right({5, 7})}, y_field{place_right({5, 7})};
    Tensor<T> x{x_field.data(), place_right({5, 7})}, y{y_field.data(), place_right({5, 7})};
    kokkossoftmax_options options = c_options({});

    ::testing::AssertionResult fails(int status, std::initializer_list<std::string> parts,
                                     int operation = KOKKOSSOFTMAX_SOFTMAX) {
      const auto result = fails_with(
          status, parts, kokkossoftmax_apply(operation, space, nullptr, &x.c, &y.c, &options));
      Exec{}.fence();
      return both(result, x_field.is_unchanged() && y_field.is_unchanged(), "memory was written");
    }
    ::testing::AssertionResult is_invalid(std::initializer_list<std::string> parts) {
      return fails(KOKKOSSOFTMAX_INVALID_ARGUMENT, parts);
    }
  };
};
TYPED_TEST_SUITE(CInterface, OverSpaces<DefaultSpaces>::values::types, ConfigName);

TYPED_TEST(CInterface, ContiguousAndStrided) {
  for (const Function function : all_functions)
    for (const Extents& extents : {Extents{33}, Extents{5, 1025}, Extents{3, 7, 129}})
      for (int axis = 0; axis < static_cast<int>(extents.size()); ++axis) {
        const Case c{.function = function, .extents = extents, .options = {.axis = axis}};
        const Extents y = c.y_extents();
        EXPECT_TRUE(TestFixture::check(c, place_right(extents), place_right(y)));
        EXPECT_TRUE(TestFixture::check(c, place_strided(extents), place_left(y)));
        EXPECT_TRUE(TestFixture::check(c, place_left(extents), place_strided(y)));
      }
}

TYPED_TEST(CInterface, Options) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  constexpr Algorithm algorithm = is_host_space<Exec> ? Algorithm::host : Algorithm::online;
  auto rows = normal_rows<T>(3, 129);
  std::fill_n(rows.values.begin() + 129, 129, -std::numeric_limits<T>::infinity());
  const Options all_changed{.axis = 0,
                            .scale = 0.25,
                            .empty_rows = EmptyRows::zero,
                            .algorithm = algorithm,
                            .reproducible = true};
  const Case c{.extents = {129, 3}, .options = all_changed};
  Field<T, Exec> x(place_right(c.extents)), y(place_right(c.extents));
  x.assign(rows_to_tensor(rows.values, c.extents, 0));
  const Tensor<T> tx(x.data(), place_right(c.extents)), ty(y.data(), place_right(c.extents));
  const auto options = c_options(all_changed);
  const Events events = record([&] {
    EXPECT_TRUE(succeeds(kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, TestFixture::space, nullptr,
                                             &tx.c, &ty.c, &options)));
  });
  Exec{}.fence();
  EXPECT_TRUE(check_output(c, rows, reference(rows, 0.25, EmptyRows::zero), y));
  ASSERT_EQ(events.kernels.size(), 1u);
  EXPECT_EQ(events.kernels[0].label,
            "KokkosSoftmax::softmax[" + std::string(to_string(algorithm)) + "]");
  EXPECT_EQ(events.fences, std::vector<std::string>{});
}

TYPED_TEST(CInterface, DefaultsWithoutOptionsAndStrides) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Case c{.extents = {4, 3, 65}};
  const auto& sample = normal_sample<T>(12, 65);
  Field<T, Exec> x(place_right(c.extents)), y(place_right(c.extents));
  x.assign(sample.rows.values);
  Tensor<T> tx(x.data(), place_right(c.extents)), ty(y.data(), place_right(c.extents));
  tx.c.strides = ty.c.strides = nullptr;
  EXPECT_TRUE(succeeds(kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, TestFixture::space, nullptr,
                                           &tx.c, &ty.c, nullptr)));
  EXPECT_TRUE(succeeds(kokkossoftmax_fence(TestFixture::space, nullptr)));
  EXPECT_TRUE(check_output(c, sample.rows, sample.expected, y));
}

TYPED_TEST(CInterface, InPlace) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  for (const Function function : {Function::softmax, Function::log_softmax})
    for (const int axis : {0, 1}) {
      const Case c{.function = function, .extents = {33, 33}, .options = {.axis = axis}};
      const auto& sample = normal_sample<T>(33, 33);
      Field<T, Exec> x(place_strided(c.extents));
      x.assign(rows_to_tensor(sample.rows.values, c.extents, axis));
      const Tensor<T> tensor(x.data(), place_strided(c.extents));
      const auto options = c_options(c.options);
      EXPECT_TRUE(succeeds(kokkossoftmax_apply(operation_of(function), TestFixture::space, nullptr,
                                               &tensor.c, &tensor.c, &options)));
      EXPECT_TRUE(succeeds(kokkossoftmax_fence(TestFixture::space, nullptr)));
      EXPECT_TRUE(check_output(c, sample.rows, sample.expected, x));
    }
}

TYPED_TEST(CInterface, EmptyTensors) {
  using T = typename TypeParam::value;
  const Tensor<T> no_rows(nullptr, place_right({0, 7})), no_columns(nullptr, place_right({5, 0}));
  for (const auto* tensor : {&no_rows.c, &no_columns.c})
    EXPECT_TRUE(succeeds(kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, TestFixture::space, nullptr,
                                             tensor, tensor, nullptr)));
}

/// Values in the memory of a space, as a tensor and as a View.
template <class T, class Exec>
class ReadOperand {
 public:
  using Device = Kokkos::Device<Exec, typename Exec::memory_space>;

  ReadOperand(const std::vector<T>& values, Placement placement)
      : m_placement(std::move(placement)),
        m_memory(values.size() * sizeof(T)),
        m_tensor(reinterpret_cast<T*>(m_memory.data()), m_placement) {
    m_memory.assign(values.data());
  }

  const kokkossoftmax_tensor* tensor() const { return &m_tensor.c; }

  template <int rank>
  auto view() const {
    using Data = typename Test::Impl::DataType<const T, rank>::type;
    return Kokkos::View<Data, Kokkos::LayoutStride, Device,
                        Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        reinterpret_cast<const T*>(m_memory.data()),
        Test::Impl::make_layout<Kokkos::LayoutStride>(m_placement));
  }

 private:
  Placement m_placement;
  Memory<Device> m_memory;
  Tensor<T> m_tensor;
};

/// Operands with a size and nothing else.
kokkossoftmax_operands no_operands() {
  kokkossoftmax_operands operands{};
  operands.size = sizeof(operands);
  return operands;
}

// Weights, signs, and the biases of rows.
TYPED_TEST(CInterface, Weights) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Extents extents{9, 65}, rows{9};
  Field<T, Exec> x(place_right(extents));
  x.assign(normal_rows<T>(9, 65).values);
  const Tensor<T> tx(x.data(), place_right(extents));
  const ReadOperand<T, Exec> weights(normal_rows<T>(1, 65).values, place_right({65}));
  const ReadOperand<T, Exec> row_bias(normal_rows<T>(1, 9).values, place_right(rows));
  Field<T, Exec> lse(place_right(rows)), sign(place_right(rows)), same(place_right(rows)),
      same_sign(place_right(rows));
  const Tensor<T> t_lse(lse.data(), place_right(rows)), t_sign(sign.data(), place_right(rows));
  const Options options{.scale = 0.5};
  const auto c_opts = c_options(options);
  auto operands = no_operands();
  operands.weights = weights.tensor();
  operands.row_bias = row_bias.tensor();
  operands.sign = &t_sign.c;
  operands.scale_biases = 1;
  const auto call = [&](int operation) {
    return kokkossoftmax_apply_with(operation, TestFixture::space, nullptr, &tx.c, &t_lse.c,
                                    &c_opts, &operands);
  };
  EXPECT_TRUE(succeeds(call(KOKKOSSOFTMAX_LOGSUMEXP)));
  EXPECT_TRUE(succeeds(kokkossoftmax_fence(TestFixture::space, nullptr)));
  const Exec exec;
  logsumexp(exec, x.template view<Kokkos::LayoutRight, 2, const T>(),
            same.template view<Kokkos::LayoutRight, 1>(), options,
            Operands{.row_bias = row_bias.template view<1>(),
                     .weights = weights.template view<1>(),
                     .sign = same_sign.template view<Kokkos::LayoutRight, 1>(),
                     .scale_biases = true});
  exec.fence();
  EXPECT_TRUE(same_bits(lse.read(), same.read()));
  EXPECT_TRUE(same_bits(sign.read(), same_sign.read()));
  operands.weights = nullptr;
  EXPECT_TRUE(fails_with(KOKKOSSOFTMAX_INVALID_ARGUMENT, {"operands.sign", "weights"},
                         call(KOKKOSSOFTMAX_LOGSUMEXP)));
  operands.sign = nullptr;
  operands.reserved = 1;
  EXPECT_TRUE(fails_with(KOKKOSSOFTMAX_INVALID_ARGUMENT, {"operands.reserved"},
                         call(KOKKOSSOFTMAX_LOGSUMEXP)));
  operands.reserved = 0;
  operands.weights = weights.tensor();
  EXPECT_TRUE(fails_with(KOKKOSSOFTMAX_INVALID_ARGUMENT, {"operands.weights", "logsumexp"},
                         call(KOKKOSSOFTMAX_SOFTMAX)));
}

// A tensor of rank 3 along its last and its first axis. The operands are broadcast along an axis
// each, and the mask lies transposed in memory.
TYPED_TEST(CInterface, OperandsThatAreRead) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  const Extents extents{3, 7, 65};
  Field<T, Exec> x(place_right(extents));
  x.assign(normal_rows<T>(21, 65).values);
  const auto x_view = x.template view<Kokkos::LayoutRight, 3, const T>();
  const Tensor<T> tx(x.data(), place_right(extents));
  std::vector<unsigned char> visible(3 * 65);
  for (std::size_t i = 0; i < visible.size(); ++i)
    visible[i] = static_cast<unsigned char>(i % 3 == 0 ? 0 : 1 + i % 255);
  const ReadOperand<T, Exec> bias(normal_rows<T>(7, 65).values, place_right({7, 65}));
  const ReadOperand<unsigned char, Exec> mask(visible, place_left({3, 1, 65}));
  for (const int axis : {-1, 0}) {
    const Options options{.axis = axis, .scale = 0.5, .empty_rows = EmptyRows::zero};
    const std::vector<std::int32_t> lengths = axis == 0
                                                  ? std::vector<std::int32_t>{3, 2, 1, 0, -1, 9, 2}
                                                  : std::vector<std::int32_t>{70, 0, 31};
    const Extents one_per_row_of_axis_0{lengths.size(), 1};
    const ReadOperand<std::int32_t, Exec> lengths_32(lengths, place_right(one_per_row_of_axis_0));
    const ReadOperand<std::int64_t, Exec> lengths_64({lengths.begin(), lengths.end()},
                                                     place_right(one_per_row_of_axis_0));
    const auto check = [&](const char* what, const kokkossoftmax_operands& in_c,
                           const auto& in_cpp) {
      for (const Function function : all_functions) {
        const Case c{.function = function, .extents = extents, .options = options};
        Field<T, Exec> y(place_right(c.y_extents())), same(place_right(c.y_extents()));
        const Tensor<T> ty(y.data(), place_right(c.y_extents()));
        const auto c_opts = c_options(options);
        EXPECT_TRUE(succeeds(kokkossoftmax_apply_with(operation_of(function), TestFixture::space,
                                                      nullptr, &tx.c, &ty.c, &c_opts, &in_c)));
        EXPECT_TRUE(succeeds(kokkossoftmax_fence(TestFixture::space, nullptr)));
        const Exec exec;
        if (function == Function::logsumexp)
          logsumexp(exec, x_view, same.template view<Kokkos::LayoutRight, 2>(), options, in_cpp);
        else if (function == Function::softmax)
          softmax(exec, x_view, same.template view<Kokkos::LayoutRight, 3>(), options, in_cpp);
        else
          log_softmax(exec, x_view, same.template view<Kokkos::LayoutRight, 3>(), options, in_cpp);
        exec.fence();
        EXPECT_TRUE(same_bits(y.read(), same.read())) << what << ": " << c;
        EXPECT_FALSE(y.is_unchanged());
      }
      EXPECT_TRUE(x.is_unchanged());
    };
    auto operands = no_operands();
    operands.bias = bias.tensor();
    check("bias", operands, Operands{.bias = bias.template view<2>()});
    operands = no_operands();
    operands.mask = mask.tensor();
    check("mask", operands, Operands{.mask = mask.template view<3>()});
    operands = no_operands();
    operands.lengths = lengths_32.tensor();
    check("lengths of 32 bits", operands, Operands{.lengths = lengths_32.template view<2>()});
    operands.lengths = lengths_64.tensor();
    check("lengths of 64 bits", operands, Operands{.lengths = lengths_32.template view<2>()});
    kokkossoftmax_causal causal{-2, 0, 0};
    operands = no_operands();
    operands.causal = &causal;
    check("causal", operands, Operands{.causal = Causal{.offset = -2}});
    check("causal, with its axis", operands,
          Operands{.causal = Causal{.offset = -2, .axis = axis == 0 ? 2 : 1}});
    causal = {30, 1, -2};
    check("causal with an axis", operands, Operands{.causal = Causal{.offset = 30, .axis = 1}});
    operands.bias = bias.tensor();
    operands.mask = mask.tensor();
    operands.lengths = lengths_64.tensor();
    check("all", operands,
          Operands{.bias = bias.template view<2>(),
                   .mask = mask.template view<3>(),
                   .lengths = lengths_64.template view<2>(),
                   .causal = Causal{.offset = 30, .axis = 1}});
  }
}

// What is written beside y is that of the entries that aren't masked.
TYPED_TEST(CInterface, OperandsThatAreReadAndWritten) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  constexpr std::size_t count = 3, columns = 65;
  constexpr std::int32_t length[count] = {40, 0, 65};
  Rows<T> rows = normal_rows<T>(count, columns);
  Field<T, Exec> x(place_right({count, columns})), y(place_right({count, columns})),
      lse(place_right({count})), max(place_right({count}));
  x.assign(rows.values);
  const Tensor<T> tx(x.data(), place_right({count, columns})),
      ty(y.data(), place_right({count, columns})), tl(lse.data(), place_right({count})),
      tm(max.data(), place_right({count}));
  const ReadOperand<std::int32_t, Exec> lengths({length, length + count}, place_right({count}));
  auto operands = no_operands();
  operands.lse = &tl.c;
  operands.max = &tm.c;
  operands.lengths = lengths.tensor();
  EXPECT_TRUE(succeeds(kokkossoftmax_apply_with(KOKKOSSOFTMAX_SOFTMAX, TestFixture::space, nullptr,
                                                &tx.c, &ty.c, nullptr, &operands)));
  EXPECT_TRUE(succeeds(kokkossoftmax_fence(TestFixture::space, nullptr)));
  for (std::size_t i = 0; i < count; ++i)
    std::fill(rows.values.begin() + static_cast<std::ptrdiff_t>(i * columns) + length[i],
              rows.values.begin() + static_cast<std::ptrdiff_t>((i + 1) * columns),
              -std::numeric_limits<T>::infinity());
  const Expected expected = reference(rows);
  EXPECT_TRUE(check_output(Case{.extents = {count, columns}}, rows, expected, y));
  EXPECT_TRUE(is_accurate(Function::logsumexp, rows, expected, lse.read()));
  for (std::size_t i = 0; i < count; ++i)
    EXPECT_EQ(max.read()[i], *std::max_element(rows.values.begin() + i * columns,
                                               rows.values.begin() + (i + 1) * columns));
}

// x is a vector, and a tensor of rank 0 is an operand for all of it.
TYPED_TEST(CInterface, OperandsOfRankZero) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  Rows<T> rows = normal_rows<T>(1, 65);
  Field<T, Exec> x(place_right({65})), y(place_right({65}));
  x.assign(rows.values);
  const Tensor<T> tx(x.data(), place_right({65})), ty(y.data(), place_right({65}));
  const ReadOperand<std::int64_t, Exec> lengths({40}, place_right({}));
  const ReadOperand<T, Exec> bias({T(3)}, place_right({}));
  auto length = *lengths.tensor();
  length.extents = length.strides = nullptr;
  auto operands = no_operands();
  operands.bias = bias.tensor();
  operands.lengths = &length;
  EXPECT_TRUE(succeeds(kokkossoftmax_apply_with(KOKKOSSOFTMAX_LOG_SOFTMAX, TestFixture::space,
                                                nullptr, &tx.c, &ty.c, nullptr, &operands)));
  EXPECT_TRUE(succeeds(kokkossoftmax_fence(TestFixture::space, nullptr)));
  for (T& v : rows.values) v += T(3);
  std::fill(rows.values.begin() + 40, rows.values.end(), -std::numeric_limits<T>::infinity());
  EXPECT_TRUE(check_output(Case{.function = Function::log_softmax, .extents = {65}}, rows,
                           reference(rows), y));
}

// The struct of the header that had lse and max alone; what lies behind it isn't read.
TYPED_TEST(CInterface, OperandsOfAnEarlierHeader) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  typename TestFixture::Call call;
  const auto& sample = normal_sample<T>(5, 7);
  call.x_field.assign(sample.rows.values);
  Field<T, Exec> lse(place_right({5}));
  const Tensor<T> tl(lse.data(), place_right({5}));
  kokkossoftmax_operands operands;
  std::memset(static_cast<void*>(&operands), 0xab, sizeof(operands));
  operands.size = offsetof(kokkossoftmax_operands, bias);
  operands.lse = &tl.c;
  operands.max = nullptr;
  EXPECT_TRUE(succeeds(kokkossoftmax_apply_with(KOKKOSSOFTMAX_SOFTMAX, TestFixture::space, nullptr,
                                                &call.x.c, &call.y.c, nullptr, &operands)));
  EXPECT_TRUE(succeeds(kokkossoftmax_fence(TestFixture::space, nullptr)));
  EXPECT_TRUE(check_output(Case{.extents = {5, 7}}, sample.rows, sample.expected, call.y_field));
  EXPECT_TRUE(is_accurate(Function::logsumexp, sample.rows, sample.expected, lse.read()));
}

/// A call on a 5 x 7 matrix that must fail because of an operand that is read. The operand has
/// memory of its own.
template <class Call, class Exec>
struct CallWithOperand : Call {
  using Member = const kokkossoftmax_tensor* kokkossoftmax_operands::*;
  const std::int64_t extents[5] = {5, 7, 1, 1, 1};
  const ReadOperand<std::int64_t, Exec> memory{std::vector<std::int64_t>(35, 1), place_right({35})};
  kokkossoftmax_tensor operand{memory.tensor()->data, 0, 2, extents, nullptr};
  kokkossoftmax_operands operands = no_operands();

  ::testing::AssertionResult fails(int space, std::initializer_list<std::string> parts,
                                   int operation = KOKKOSSOFTMAX_SOFTMAX) {
    const auto result = fails_with(KOKKOSSOFTMAX_INVALID_ARGUMENT, parts,
                                   kokkossoftmax_apply_with(operation, space, nullptr, &this->x.c,
                                                            &this->y.c, nullptr, &operands));
    Exec{}.fence();
    return both(result, this->x_field.is_unchanged() && this->y_field.is_unchanged(),
                "memory was written");
  }
};

TYPED_TEST(CInterface, WrongOperands) {
  using T = typename TypeParam::value;
  using Exec = typename TypeParam::exec;
  using Call = CallWithOperand<typename TestFixture::Call, Exec>;
  constexpr auto bias = &kokkossoftmax_operands::bias, mask = &kokkossoftmax_operands::mask,
                 lengths = &kokkossoftmax_operands::lengths;
  const std::int64_t seven[] = {7}, three_rows[] = {3, 7}, more_axes[] = {2, 5, 7},
                     negative[] = {-1, 7}, backwards[] = {7, -1};
  // `change` gets the operand, whose type is the right one and whose extents are (5, 7), or (5).
  const auto is_invalid = [&](typename Call::Member member, auto change,
                              std::initializer_list<std::string> parts) {
    Call call;
    call.operand.type = member == bias   ? type_of<T>
                        : member == mask ? KOKKOSSOFTMAX_BOOL
                                         : KOKKOSSOFTMAX_INT64;
    if (member == lengths) call.operand.rank = 1;
    change(call.operand);
    call.operands.*member = &call.operand;
    return call.fails(TestFixture::space, parts);
  };
  const auto of_type = [](int type) {
    return [type](kokkossoftmax_tensor& operand) { operand.type = type; };
  };
  const auto of_extents = [](int rank, const std::int64_t* extents) {
    return [=](kokkossoftmax_tensor& operand) {
      operand.rank = rank;
      operand.extents = extents;
    };
  };
  const auto at = [](std::ptrdiff_t bytes) {
    return [bytes](kokkossoftmax_tensor& operand) {
      operand.data = static_cast<char*>(operand.data) + bytes;
    };
  };
  const auto null = [](kokkossoftmax_tensor& operand) { operand.data = nullptr; };

  EXPECT_TRUE(
      is_invalid(bias, of_type(KOKKOSSOFTMAX_INT32), {"softmax: bias has type = 5, int32"}));
  EXPECT_TRUE(is_invalid(bias, of_type(KOKKOSSOFTMAX_HALF), {"bias has type = 2, half"}));
  EXPECT_TRUE(is_invalid(mask, of_type(type_of<T>), {"mask has type", "it must be", "bool"}));
  EXPECT_TRUE(is_invalid(mask, of_type(KOKKOSSOFTMAX_INT32), {"mask has type = 5, int32", "bool"}));
  EXPECT_TRUE(is_invalid(lengths, of_type(type_of<T>), {"lengths has type", "int32", "int64"}));
  EXPECT_TRUE(is_invalid(lengths, of_type(99), {"lengths has type = 99", "unknown"}));

  EXPECT_TRUE(is_invalid(bias, of_extents(2, three_rows),
                         {"softmax: the extents (3, 7) of bias can't be broadcast to (5, 7)"}));
  EXPECT_TRUE(is_invalid(mask, of_extents(1, more_axes + 1), {"(5) of mask", "(5, 7)"}));
  EXPECT_TRUE(is_invalid(lengths, of_extents(1, seven),
                         {"(7) of lengths can't be broadcast to (5)", "x without the axis"}));
  EXPECT_TRUE(is_invalid(bias, of_extents(3, more_axes), {"(2, 5, 7) of bias", "(5, 7)"}));
  EXPECT_TRUE(is_invalid(mask, of_extents(3, more_axes), {"(2, 5, 7) of mask", "(5, 7)"}));
  EXPECT_TRUE(is_invalid(lengths, of_extents(2, more_axes + 1), {"(5, 7) of lengths", "(5)"}));
  EXPECT_TRUE(is_invalid(bias, of_extents(9, more_axes), {"bias has rank 9", "0 to 8"}));
  EXPECT_TRUE(is_invalid(mask, of_extents(-1, nullptr), {"mask has rank -1", "0 to 8"}));
  EXPECT_TRUE(is_invalid(mask, of_extents(2, nullptr), {"mask.extents is NULL"}));
  EXPECT_TRUE(is_invalid(bias, of_extents(2, negative), {"bias.extents[0] = -1"}));

  EXPECT_TRUE(is_invalid(bias, null, {"softmax: bias.data is NULL"}));
  EXPECT_TRUE(is_invalid(mask, null, {"softmax: mask.data is NULL"}));
  EXPECT_TRUE(is_invalid(lengths, null, {"softmax: lengths.data is NULL"}));
  EXPECT_TRUE(is_invalid(bias, at(1), {"bias.data", "multiple of " + std::to_string(sizeof(T))}));
  EXPECT_TRUE(is_invalid(lengths, at(4), {"lengths.data", "multiple of 8", "int64"}));
  EXPECT_TRUE(is_invalid(bias, [&](auto& operand) { operand.strides = backwards; },
                         {"bias.strides[1] = -1"}));

  Call call;
  call.operand.type = type_of<T>;
  call.operand.data = call.y.c.data;
  call.operands.bias = &call.operand;
  EXPECT_TRUE(call.fails(TestFixture::space, {"softmax: bias at", "and y at", "overlap"}));
  call.operand.type = KOKKOSSOFTMAX_INT32;
  EXPECT_TRUE(call.fails(TestFixture::space, {"KokkosSoftmax::logsumexp: bias has type"},
                         KOKKOSSOFTMAX_LOGSUMEXP));
}

TYPED_TEST(CInterface, WrongCausalAxis) {
  using Exec = typename TypeParam::exec;
  CallWithOperand<typename TestFixture::Call, Exec> call;
  kokkossoftmax_causal causal{0, 1, 2};
  call.operands.causal = &causal;
  EXPECT_TRUE(call.fails(TestFixture::space, {"softmax: causal.axis = 2", "out of range"}));
  causal.axis = 1;
  EXPECT_TRUE(call.fails(TestFixture::space, {"causal.axis = 1", "another axis"}));
  causal.axis = -1;
  EXPECT_TRUE(call.fails(TestFixture::space, {"causal.axis = -1", "another axis"}));
  call.x.c.rank = call.y.c.rank = 1;  // a vector has no axis along which rows could be counted
  for (const int has_axis : {0, 1}) {
    causal = {0, has_axis, 0};
    EXPECT_TRUE(call.fails(TestFixture::space, {"softmax: causal"}));
  }
}

// The types of operands are no types of x and y.
TYPED_TEST(CInterface, TypesOfOperandsAlone) {
  typename TestFixture::Call call;
  for (const int type : {KOKKOSSOFTMAX_BOOL, KOKKOSSOFTMAX_INT32, KOKKOSSOFTMAX_INT64}) {
    const int other = std::exchange(call.x.c.type, type);
    EXPECT_TRUE(call.fails(KOKKOSSOFTMAX_UNSUPPORTED,
                           {"softmax: x of type = " + std::to_string(type), "float to float"}));
    call.x.c.type = other;
    call.y.c.type = type;
    EXPECT_TRUE(call.fails(KOKKOSSOFTMAX_UNSUPPORTED, {"y of type = " + std::to_string(type)}));
    call.y.c.type = other;
  }
}

// Arguments that are checked for Views as well give the same messages.
TYPED_TEST(CInterface, SharedErrors) {
  typename TestFixture::Call call;
  call.options.axis = 2;
  EXPECT_TRUE(call.is_invalid({"KokkosSoftmax::softmax: axis = 2", "rank 2", "from -2 to 1"}));
  call.options = c_options({.scale = double(NAN)});
  EXPECT_TRUE(call.is_invalid({"KokkosSoftmax::softmax: scale", "finite"}));
  call.options = c_options({});
  EXPECT_TRUE(call.fails(KOKKOSSOFTMAX_INVALID_ARGUMENT,
                         {"KokkosSoftmax::logsumexp: the extents (5, 7) of lse", "x (5, 7)"},
                         KOKKOSSOFTMAX_LOGSUMEXP));
  call.y.c.rank = 1;
  EXPECT_TRUE(call.is_invalid({"the extents (5) of y", "x (5, 7)"}));
  call.y.c.rank = 2;
  call.y.c.data = call.x_field.data() + 1;
  EXPECT_TRUE(call.is_invalid({"KokkosSoftmax::softmax: x at", "and y at", "overlap"}));
}

TYPED_TEST(CInterface, TensorErrors) {
  const typename TestFixture::Call right;
  const std::int64_t negative[] = {-1, 7}, backwards[] = {7, -1}, broadcast[] = {0, 1};
  const auto is_invalid = [&](auto change, std::initializer_list<std::string> parts) {
    typename TestFixture::Call call;
    change(call);
    return call.is_invalid(parts);
  };
  EXPECT_TRUE(is_invalid([](auto& c) { c.x.c.data = nullptr; }, {"softmax: x.data is NULL"}));
  EXPECT_TRUE(is_invalid([](auto& c) { c.y.c.data = nullptr; }, {"softmax: y.data is NULL"}));
  EXPECT_TRUE(is_invalid([](auto& c) { c.x.c.extents = nullptr; }, {"x.extents is NULL"}));
  EXPECT_TRUE(is_invalid([](auto& c) { c.x.c.rank = 0; }, {"x has rank 0", "1 to 8"}));
  EXPECT_TRUE(is_invalid([](auto& c) { c.x.c.rank = 9; }, {"x has rank 9", "1 to 8"}));
  EXPECT_TRUE(is_invalid([&](auto& c) { c.x.c.extents = negative; }, {"x.extents[0] = -1"}));
  EXPECT_TRUE(is_invalid([&](auto& c) { c.x.c.strides = backwards; }, {"x.strides[1] = -1"}));
  EXPECT_TRUE(is_invalid([&](auto& c) { c.y.c.strides = broadcast; }, {"y.strides[0] = 0"}));
  EXPECT_TRUE(is_invalid([](auto& c) { c.options.empty_rows = 2; }, {"empty_rows = 2"}));
  EXPECT_TRUE(is_invalid([](auto& c) { c.options.algorithm = -1; }, {"algorithm = -1"}));
}

template <std::size_t count>
bool all_are(const unsigned char (&bytes)[count], unsigned char value) {
  return std::all_of(std::begin(bytes), std::end(bytes), [&](auto byte) { return byte == value; });
}

TYPED_TEST(CInterface, OptionsOfALaterHeader) {
  typename TestFixture::Call call;
  LaterOptions later;
  std::memset(&later, 0xab, sizeof(later));
  EXPECT_TRUE(succeeds(kokkossoftmax_options_init_sized(&later.known, later_size)));
  EXPECT_EQ(later.known.size, later_size);
  EXPECT_EQ(later.known.axis, -1);
  EXPECT_TRUE(all_are(later.more, 0));
  EXPECT_TRUE(all_are(later.behind, 0xab));

  const auto apply = [&] {
    return kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, TestFixture::space, nullptr, &call.x.c,
                               &call.y.c, &later.known);
  };
  for (const std::size_t byte : {std::size_t(0), sizeof(later.more) - 1}) {
    later.more[byte] = 1;
    const auto at = std::to_string(sizeof(later.known) + byte);
    EXPECT_TRUE(fails_with(KOKKOSSOFTMAX_INVALID_ARGUMENT,
                           {"KokkosSoftmax::softmax: options", "byte " + at, "later"}, apply()));
    EXPECT_TRUE(call.y_field.is_unchanged());
    later.more[byte] = 0;
  }
  EXPECT_TRUE(succeeds(apply()));
  EXPECT_TRUE(succeeds(kokkossoftmax_fence(TestFixture::space, nullptr)));
  EXPECT_FALSE(call.y_field.is_unchanged());
}

// No byte is written beyond the size that the caller passes.
TYPED_TEST(CInterface, SizeOfOptions) {
  for (const std::size_t size :
       {std::size_t(0), std::size_t(8), offsetof(kokkossoftmax_options, axes) - 1,
        offsetof(kokkossoftmax_options, axes) + 4, sizeof(kokkossoftmax_options) + 1,
        std::size_t(1) << 20, ~std::size_t(0)}) {
    LaterOptions options;
    std::memset(&options, 0xab, sizeof(options));
    unsigned char bytes[sizeof(options)];
    EXPECT_TRUE(fails_with(KOKKOSSOFTMAX_INVALID_ARGUMENT,
                           {"size = " + std::to_string(size), "kokkossoftmax_options"},
                           kokkossoftmax_options_init_sized(&options.known, size)));
    std::memcpy(bytes, &options, sizeof(options));
    EXPECT_TRUE(all_are(bytes, 0xab));

    typename TestFixture::Call call;
    call.options.size = size;
    EXPECT_TRUE(call.is_invalid(
        {"softmax: options.size = " + std::to_string(size), "call kokkossoftmax_options_init()"}));
  }
  LaterOptions options;
  std::memset(&options, 0xab, sizeof(options));
  EXPECT_TRUE(succeeds(kokkossoftmax_options_init(&options.known)));
  EXPECT_TRUE(all_are(options.more, 0xab));
}

TYPED_TEST(CInterface, MisalignedData) {
  using T = typename TypeParam::value;
  for (std::size_t bytes = 1; bytes < sizeof(T); ++bytes) {
    const auto shifted = [&](void* data) { return static_cast<char*>(data) + bytes; };
    typename TestFixture::Call x, y;
    x.x.c.data = shifted(x.x.c.data);
    EXPECT_TRUE(x.is_invalid({"softmax: x.data", "multiple of " + std::to_string(sizeof(T))}));
    y.y.c.data = shifted(y.y.c.data);
    EXPECT_TRUE(y.is_invalid({"softmax: y.data", "multiple of " + std::to_string(sizeof(T))}));
  }
  // An address that is not aligned is valid if there are no elements.
  Tensor<T> empty(nullptr, place_right({0, 7}));
  empty.c.data = reinterpret_cast<void*>(1);
  EXPECT_TRUE(succeeds(kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, TestFixture::space, nullptr,
                                           &empty.c, &empty.c, nullptr)));
}

TYPED_TEST(CInterface, SizesBeyond64Bits) {
  constexpr std::int64_t large = std::int64_t(1) << 32;
  const std::int64_t extents[] = {large, large, 3}, no_rows[] = {large, 0, large, large};
  const std::int64_t stride_0[] = {0, 0, 0}, strides[] = {std::int64_t(1) << 62, 1};
  typename TestFixture::Call call;
  auto& x = call.x.c;
  auto& y = call.y.c;
  x.rank = y.rank = 3;
  x.extents = y.extents = extents;
  for (const auto* x_strides : {stride_0, static_cast<const std::int64_t*>(nullptr)}) {
    x.strides = x_strides;
    y.strides = nullptr;
    EXPECT_TRUE(call.is_invalid({"softmax: the extents (4294967296, 4294967296, 3) of x"}));
    y.rank = 2;
    EXPECT_TRUE(call.fails(KOKKOSSOFTMAX_INVALID_ARGUMENT, {"(4294967296, 4294967296, 3) of x"},
                           KOKKOSSOFTMAX_LOGSUMEXP));
    y.rank = 3;
  }
  typename TestFixture::Call other;
  other.y.c.strides = strides;
  EXPECT_TRUE(other.is_invalid({"softmax: the strides", "4611686018427387904", "of y"}));

  x.rank = y.rank = 4;
  x.extents = y.extents = no_rows;
  x.strides = y.strides = nullptr;
  EXPECT_TRUE(succeeds(
      kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, TestFixture::space, nullptr, &x, &y, nullptr)));
}

TYPED_TEST(CInterface, TypesWithoutKernels) {
  typename TestFixture::Call call;
  call.x.c.type = KOKKOSSOFTMAX_HALF;
  call.y.c.type = KOKKOSSOFTMAX_DOUBLE;
  EXPECT_TRUE(call.fails(KOKKOSSOFTMAX_UNSUPPORTED,
                         {"KokkosSoftmax::softmax: x of type", "half", "float to float"}));
  call.y.c.type = KOKKOSSOFTMAX_BFLOAT16;
  EXPECT_TRUE(call.fails(KOKKOSSOFTMAX_UNSUPPORTED, {"half", "y of type", "bfloat16"}));
#if KOKKOS_HALF_T_IS_FLOAT
  call.y.c.type = KOKKOSSOFTMAX_HALF;
  EXPECT_TRUE(call.fails(KOKKOSSOFTMAX_UNSUPPORTED, {"half", "float to float"}));
#endif
#if KOKKOS_BHALF_T_IS_FLOAT
  call.x.c.type = call.y.c.type = KOKKOSSOFTMAX_BFLOAT16;
  EXPECT_TRUE(call.fails(KOKKOSSOFTMAX_UNSUPPORTED, {"bfloat16", "float to float"}));
#endif
  call.x.c.type = 99;
  EXPECT_TRUE(call.fails(KOKKOSSOFTMAX_UNSUPPORTED, {"99", "unknown"}));
  call.x.c.type = KOKKOSSOFTMAX_DOUBLE;
  call.y.c.type = KOKKOSSOFTMAX_FLOAT;
  EXPECT_TRUE(call.fails(KOKKOSSOFTMAX_UNSUPPORTED, {"x of type", "double", "y of type", "float"}));
}

TYPED_TEST(CInterface, NullAndUnknownArguments) {
  const typename TestFixture::Call call;
  const int space = TestFixture::space;
  const auto *x = &call.x.c, *y = &call.y.c;
  const auto apply = kokkossoftmax_apply;
  const int invalid = KOKKOSSOFTMAX_INVALID_ARGUMENT;
  EXPECT_TRUE(fails_with(invalid, {"x is NULL"}, apply(0, space, nullptr, nullptr, y, nullptr)));
  EXPECT_TRUE(fails_with(invalid, {"lse is NULL"}, apply(2, space, nullptr, x, nullptr, nullptr)));
  EXPECT_TRUE(fails_with(invalid, {"operation = 3"}, apply(3, space, nullptr, x, y, nullptr)));
  EXPECT_TRUE(fails_with(invalid, {"space = 2"}, apply(0, 2, nullptr, x, y, nullptr)));
  EXPECT_TRUE(fails_with(invalid, {"space = -1"}, kokkossoftmax_fence(-1, nullptr)));
  EXPECT_TRUE(fails_with(invalid, {"options is NULL"}, kokkossoftmax_options_init(nullptr)));
  EXPECT_EQ(kokkossoftmax_space_name(7), nullptr);
  EXPECT_TRUE(call.x_field.is_unchanged() && call.y_field.is_unchanged());
}

TYPED_TEST(CInterface, StreamOfASpaceWithoutStreams) {
  using Exec = typename TypeParam::exec;
  if (!is_host_space<Exec>) GTEST_SKIP() << Exec::name() << " has streams";
  typename TestFixture::Call call;
  int no_stream = 0;
  EXPECT_TRUE(fails_with(KOKKOSSOFTMAX_INVALID_ARGUMENT,
                         {"kokkossoftmax_apply: stream", Exec::name(), "NULL"},
                         kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, TestFixture::space, &no_stream,
                                             &call.x.c, &call.y.c, nullptr)));
  EXPECT_TRUE(call.y_field.is_unchanged());
  EXPECT_TRUE(succeeds(kokkossoftmax_release_stream(TestFixture::space, &no_stream)));
}

TYPED_TEST(CInterface, SpaceName) {
  EXPECT_STREQ(kokkossoftmax_space_name(TestFixture::space), TypeParam::exec::name());
}

TYPED_TEST(CInterface, LastErrorOfEachThread) {
  typename TestFixture::Call call;
  call.options.axis = 2;
  EXPECT_TRUE(call.is_invalid({"axis = 2"}));
  std::string elsewhere = "not read";
  std::thread([&] { elsewhere = kokkossoftmax_last_error(); }).join();
  EXPECT_EQ(elsewhere, "");
  EXPECT_NE(std::strstr(kokkossoftmax_last_error(), "axis = 2"), nullptr);
}

// The test program has initialized Kokkos itself and continues to use it.
TYPED_TEST(CInterface, KokkosOfTheApplication) {
  EXPECT_EQ(kokkossoftmax_is_initialized(), 1);
  EXPECT_TRUE(succeeds(kokkossoftmax_initialize()));
  EXPECT_TRUE(succeeds(kokkossoftmax_initialize()));
  EXPECT_TRUE(succeeds(kokkossoftmax_finalize()));
  EXPECT_TRUE(succeeds(kokkossoftmax_finalize()));
  EXPECT_TRUE(fails_with(KOKKOSSOFTMAX_NOT_INITIALIZED, {"kokkossoftmax_finalize:"},
                         kokkossoftmax_finalize()));
  EXPECT_EQ(kokkossoftmax_is_initialized(), 1);
  EXPECT_TRUE(Kokkos::is_initialized());
}

#ifdef KOKKOS_ENABLE_CUDA
TYPED_TEST(CInterface, CudaStreams) {
  if (!std::is_same_v<typename TypeParam::exec, Kokkos::Cuda>) GTEST_SKIP() << "not CUDA";
  const Case c{.extents = {64, 1024}};
  const auto place = place_right(c.extents);
  for (int round = 0; round < 2; ++round) {
    cudaStream_t streams[2];
    for (auto& stream : streams) ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    for (const auto stream : {streams[0], streams[1], streams[0], cudaStreamLegacy})
      EXPECT_TRUE(TestFixture::check(c, place, place, stream));
    for (auto& stream : streams) {
      EXPECT_TRUE(succeeds(kokkossoftmax_release_stream(TestFixture::space, stream)));
      EXPECT_TRUE(succeeds(kokkossoftmax_release_stream(TestFixture::space, stream)));
      ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    }
  }
}

// The instance of a stream is made only once.
TYPED_TEST(CInterface, CudaStreamIsKept) {
  using T = typename TypeParam::value;
  if (!std::is_same_v<typename TypeParam::exec, Kokkos::Cuda>) GTEST_SKIP() << "not CUDA";
  typename TestFixture::Call call;
  call.x_field.assign(normal_sample<T>(5, 7).rows.values);
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  const auto apply = [&] {
    EXPECT_TRUE(succeeds(kokkossoftmax_apply(KOKKOSSOFTMAX_SOFTMAX, TestFixture::space, stream,
                                             &call.x.c, &call.y.c, nullptr)));
  };
  const Events first = record(apply), second = record(apply);
  EXPECT_EQ(second.allocations, std::vector<std::string>{});
  EXPECT_EQ(second.fences, std::vector<std::string>{});
  ASSERT_EQ(second.kernels.size(), 1u);
  ASSERT_EQ(first.kernels.size(), 1u);
  EXPECT_EQ(first.kernels[0].device, second.kernels[0].device);
  EXPECT_TRUE(succeeds(kokkossoftmax_release_stream(TestFixture::space, stream)));
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}
#endif

}  // namespace
}  // namespace KokkosSoftmax::Test
