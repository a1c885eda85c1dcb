// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_RANDOMCASES_GIVENTOC_HPP
#define KOKKOSSOFTMAX_TEST_RANDOMCASES_GIVENTOC_HPP

/// \file
/// The arguments of random cases for the C interface.

#include <deque>
#include <optional>
#include <random_cases/GivenAxes.hpp>
#include <stdexcept>
#include <support/CInterface.hpp>
#include <vector>

namespace KokkosSoftmax::Test {

/// Throws what the function of C++ throws. `status` is that of a call.
inline void throw_if_failed(int status) {
  if (status == KOKKOSSOFTMAX_INVALID_ARGUMENT)
    throw std::invalid_argument(kokkossoftmax_last_error());
  if (status != KOKKOSSOFTMAX_SUCCESS) throw std::runtime_error(kokkossoftmax_last_error());
}

/// The tensors of a call, with the extents and strides that they point to.
class GivenTensors {
 public:
  template <class T>
  const kokkossoftmax_tensor* add(const StridedArray<T>& array) {
    using Value = std::remove_const_t<T>;
    Given& given = m_all.emplace_back(Given{array.extents, array.strides, {}});
    given.tensor = {const_cast<Value*>(array.data), type_of<Value>, array.rank,
                    given.extents.data(), given.strides.data()};
    return &given.tensor;
  }
  /// NULL for an array that the call doesn't have.
  template <class T>
  const kokkossoftmax_tensor* add(const std::optional<StridedArray<T>>& array) {
    return array ? add(*array) : nullptr;
  }

 private:
  using Numbers = decltype(StridedArray<float>::extents);
  struct Given {
    Numbers extents, strides;
    kokkossoftmax_tensor tensor;
  };
  std::deque<Given> m_all;  // whose elements stay where they are
};

/// Options, with the axes that they point to.
struct GivenOptions {
  explicit GivenOptions(const Options& options) : c(c_options(options)) {
    for (int i = 0; i < options.axes.size(); ++i) axes.push_back(options.axes[i]);
    c.axes = axes.empty() ? nullptr : axes.data();
    c.axis_count = options.axes.size();
  }
  GivenOptions(const GivenOptions&) = delete;
  GivenOptions& operator=(const GivenOptions&) = delete;

  std::vector<int> axes;
  kokkossoftmax_options c;
};

/// The operands that are read, with the causal limit that they point to.
struct GivenOperands {
  template <class X, class T>
  GivenOperands(GivenTensors& tensors, const KokkosSoftmax::Impl::InputArrays<X, T>& inputs) {
    const auto either = [&](const auto& a, const auto& b) {
      return a ? tensors.add(a) : tensors.add(b);
    };
    c.size = sizeof(c);
    c.bias = either(inputs.bias, inputs.wide_bias);
    c.mask = tensors.add(inputs.mask);
    c.lengths = either(inputs.lengths, inputs.long_lengths);
    c.row_bias = tensors.add(inputs.row_bias);
    c.weights = either(inputs.weights, inputs.wide_weights);
    c.scale_biases = inputs.scale_biases;
    if (!inputs.causal) return;
    const std::optional<int>& axis = inputs.causal->axis;
    causal = {inputs.causal->offset, axis.has_value(), axis.value_or(0)};
    c.causal = &causal;
  }
  GivenOperands(const GivenOperands&) = delete;
  GivenOperands& operator=(const GivenOperands&) = delete;

  kokkossoftmax_causal causal{};
  kokkossoftmax_operands c{};
};

}  // namespace KokkosSoftmax::Test

#endif
