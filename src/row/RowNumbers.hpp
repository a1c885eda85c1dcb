// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_ROWNUMBERS_HPP
#define KOKKOSSOFTMAX_SRC_ROW_ROWNUMBERS_HPP

/// \file
/// Arrays of one number per row in kernels: log-sum-exps, derivatives, labels.

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <impl/KokkosSoftmax_LossProblem.hpp>
#include <impl/device/backend/KokkosSoftmax_Unroll.hpp>

namespace KokkosSoftmax::Impl {

/// The distance of row r from the first row in an array with the strides `stride` along the outer
/// axes of a problem. The loop isn't unrolled, see RowArgs::first_index().
template <class Problem>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t outer_offset(
    const Problem& problem, std::int64_t r, const std::int64_t (&stride)[max_outer_rank]) {
  if (problem.outer_rank == 1) return r * stride[0];
  std::int64_t offset = 0;
  KOKKOSSOFTMAX_IMPL_NO_UNROLL
  for (int d = problem.outer_rank - 1; d > 0; --d) {
    const std::int64_t slower = r / problem.outer[d].extent;
    offset += (r - slower * problem.outer[d].extent) * stride[d];
    r = slower;
  }
  return offset + r * stride[0];
}

/// The same, with a shorter way if the problem is known to have one outer axis.
template <bool one_axis, class Problem>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t offset_of_row(
    const Problem& problem, std::int64_t r, const std::int64_t (&stride)[max_outer_rank]) {
  if constexpr (one_axis)
    return r * stride[0];
  else
    return outer_offset(problem, r, stride);
}

/// The element of row r.
template <bool one_axis = false, class Problem, class T>
KOKKOS_FORCEINLINE_FUNCTION T& number_of_row(const Problem& problem, const RowNumbers<T>& numbers,
                                             std::int64_t r) {
  return numbers.data[offset_of_row<one_axis>(problem, r, numbers.outer_stride)];
}

/// The numbers of neighbouring rows, from row `first` on. The rows have the same indices along all
/// outer axes except the last. `data` is null if there are none.
template <class T>
struct NumbersOfRows {
  template <class Problem>
  NumbersOfRows(const Problem& problem, const RowNumbers<T>& numbers, std::int64_t first)
      : data(numbers.data == nullptr
                 ? nullptr
                 : numbers.data + outer_offset(problem, first, numbers.outer_stride)),
        stride(numbers.outer_stride[problem.outer_rank - 1]) {}

  T& operator[](std::int64_t r) const { return data[r * stride]; }

  T* data;
  std::int64_t stride;
};

/// What a row without a column for its label has in place of it.
struct NoLabel {
  enum : std::int64_t {
    ignored = -1,  ///< the row counts for nothing
    invalid = -2   ///< the label is not the number of a column
  };
};

/// Element i of the array of labels.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t element_of(const RowLabels& labels, std::int64_t i) {
  return labels.have_64_bits ? static_cast<const std::int64_t*>(labels.index.data)[i]
                             : static_cast<const std::int32_t*>(labels.index.data)[i];
}

/// An element of the array of labels, in words that no instruction uses before value() is called.
/// So a kernel doesn't wait for the element before that.
class LoadedIndex {
 public:
  LoadedIndex() = default;
  KOKKOS_FORCEINLINE_FUNCTION LoadedIndex(const RowLabels& labels, std::int64_t i) {
    KOKKOS_IF_ON_DEVICE((load_words(labels, i);))
    KOKKOS_IF_ON_HOST((load_element(labels, i);))
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t value(const RowLabels& labels) const {
    return labels.have_64_bits ? (std::int64_t(m_upper) << 32) | static_cast<std::uint32_t>(m_lower)
                               : m_lower;
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void load_words(const RowLabels& labels, std::int64_t i) {
    const auto* const word = static_cast<const std::int32_t*>(labels.index.data);
    m_lower = word[labels.have_64_bits ? 2 * i : i];
    if (labels.have_64_bits) m_upper = word[2 * i + 1];
  }
  /// The same for any order of bytes.
  KOKKOS_FORCEINLINE_FUNCTION void load_element(const RowLabels& labels, std::int64_t i) {
    const std::int64_t element = element_of(labels, i);
    m_lower = static_cast<std::int32_t>(element);
    m_upper = static_cast<std::int32_t>(element >> 32);
  }

  std::int32_t m_lower;
  std::int32_t m_upper = 0;
};

/// The column that an element of the array of labels names, or a NoLabel.
template <class Problem>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t label_of_index(const Problem& problem,
                                                        const RowLabels& labels,
                                                        std::int64_t label) {
  if (label == labels.ignored) return NoLabel::ignored;
  return label >= 0 && label < problem.columns ? label : NoLabel::invalid;
}
/// The column that is the label with index i in its array, or a NoLabel.
template <class Problem>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t label_at(const Problem& problem, const RowLabels& labels,
                                                  std::int64_t i) {
  return label_of_index(problem, labels, element_of(labels, i));
}
/// The same for the label of row r.
template <bool one_axis = false, class Problem>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t label_of_row(const Problem& problem,
                                                      const RowLabels& labels, std::int64_t r) {
  return label_at(problem, labels, offset_of_row<one_axis>(problem, r, labels.index.outer_stride));
}

}  // namespace KokkosSoftmax::Impl

#endif
