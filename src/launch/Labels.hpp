// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_LABELS_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_LABELS_HPP

/// \file
/// The names of kernels for Kokkos Tools.

#include <KokkosSoftmax_Options.hpp>
#include <Kokkos_Core.hpp>
#include <array>
#include <backend/Schedule.hpp>
#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <iterator>
#include <string>

namespace KokkosSoftmax::Impl {

/// The label of a kernel, such as "KokkosSoftmax::softmax[online]". The labels are made once,
/// because a call allocates no memory.
template <class Op>
const std::string& kernel_label(Algorithm algorithm, int function) {
  using OfAlgorithms = std::array<std::string, static_cast<int>(last_algorithm) + 1>;
  static const auto labels = [] {
    std::array<OfAlgorithms, std::size(function_names<Op>())> names;
    for (int f = 0; f < static_cast<int>(names.size()); ++f)
      for (int a = 0; a < static_cast<int>(names[f].size()); ++a)
        names[f][a] = std::string("KokkosSoftmax::") + function_names<Op>()[f] + "[" +
                      std::string(to_string(static_cast<Algorithm>(a))) + "]";
    return names;
  }();
  return labels[function][static_cast<int>(algorithm)];
}

/// The kernels of the algorithm `two_pass_column`.
enum class Pass { reduce, merge, write };

/// The label of one of them, such as "KokkosSoftmax::softmax[two_pass_column: reduce]".
template <class Op>
const std::string& pass_label(Pass pass, int function) {
  using OfPasses = std::array<std::string, 3>;
  static const auto labels = [] {
    std::array<OfPasses, std::size(function_names<Op>())> names;
    for (int f = 0; f < static_cast<int>(names.size()); ++f) {
      const std::string label = kernel_label<Op>(Algorithm::two_pass_column, f);
      const std::string begin = label.substr(0, label.size() - 1);
      names[f] = {begin + ": reduce]", begin + ": merge]", begin + ": write]"};
    }
    return names;
  }();
  return labels[function][static_cast<int>(pass)];
}

/// Reports a kernel that Kokkos doesn't launch to Kokkos Tools, in the same way as Kokkos reports
/// its own kernels.
class LabelledKernel {
 public:
  template <class Exec>
  LabelledKernel(const Exec& exec, const std::string& label)
      : m_is_told(Kokkos::Tools::profileLibraryLoaded()) {
    if (m_is_told)
      Kokkos::Tools::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(exec),
                                      &m_kernel);
  }
  ~LabelledKernel() {
    if (m_is_told) Kokkos::Tools::endParallelFor(m_kernel);
  }
  LabelledKernel(const LabelledKernel&) = delete;
  LabelledKernel& operator=(const LabelledKernel&) = delete;

 private:
  bool m_is_told;
  std::uint64_t m_kernel = 0;
};

}  // namespace KokkosSoftmax::Impl

#endif
