// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSoftmax.hpp>
#include <KokkosSoftmaxSweep_Algorithms.hpp>
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <stdexcept>

namespace KokkosSoftmaxSweep {
namespace {

using KokkosSoftmax::Algorithm;

constexpr std::array library_algorithms = {
    Algorithm::automatic,     Algorithm::subgroup, Algorithm::fused_registers,
    Algorithm::fused_scratch, Algorithm::online,   Algorithm::column,
    Algorithm::host};

std::string name_of(Algorithm algorithm) {
  return algorithm == Algorithm::automatic ? "library"
                                           : std::string(KokkosSoftmax::to_string(algorithm));
}

/// T** for rank 2.
template <class T, int rank>
struct Pointers {
  using type = typename Pointers<T, rank - 1>::type*;
};
template <class T>
struct Pointers<T, 0> {
  using type = T;
};

template <class Layout>
Layout kokkos_layout(const Shape& shape) {
  Layout layout;
  for (int d = 0; d < shape.rank(); ++d) layout.dimension[d] = shape.extents[d];
  return layout;
}

template <int rank, class Layout, class Exec, class T>
Launch prepare_library(Algorithm algorithm, const Exec& exec, const Shape& shape, const T* x,
                       T* y) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using X = Kokkos::View<typename Pointers<const T, rank>::type, Layout, Exec, Unmanaged>;
  using Y = Kokkos::View<typename Pointers<T, rank>::type, Layout, Exec, Unmanaged>;
  const X x_view(x, kokkos_layout<Layout>(shape));
  const Y y_view(y, kokkos_layout<Layout>(shape));
  const KokkosSoftmax::Options options{.axis = shape.axis, .algorithm = algorithm};
  return [=] { KokkosSoftmax::softmax(exec, x_view, y_view, options); };
}

template <class Layout, class Exec, class T>
Launch prepare_library(Algorithm algorithm, const Exec& exec, const Shape& shape, const T* x,
                       T* y) {
  switch (shape.rank()) {
    case 1:
      return prepare_library<1, Layout>(algorithm, exec, shape, x, y);
    case 2:
      return prepare_library<2, Layout>(algorithm, exec, shape, x, y);
    case 3:
      return prepare_library<3, Layout>(algorithm, exec, shape, x, y);
    case 4:
      return prepare_library<4, Layout>(algorithm, exec, shape, x, y);
  }
  throw std::invalid_argument("the library serves ranks 1 to 4");
}

}  // namespace

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const Algorithm algorithm : library_algorithms) names.push_back(name_of(algorithm));
  for (const std::string& step : ladder_step_names()) names.push_back(step);
  return names;
}

template <class Exec, class T>
Launch prepare(const std::string& name, const Exec& exec, const Shape& shape, const T* x, T* y) {
  const auto algorithm =
      std::find_if(library_algorithms.begin(), library_algorithms.end(),
                   [&](Algorithm candidate) { return name_of(candidate) == name; });
  if (algorithm == library_algorithms.end()) return prepare_ladder_step(name, exec, shape, x, y);
  return shape.layout == Layout::right
             ? prepare_library<Kokkos::LayoutRight>(*algorithm, exec, shape, x, y)
             : prepare_library<Kokkos::LayoutLeft>(*algorithm, exec, shape, x, y);
}

using Exec = Kokkos::DefaultExecutionSpace;
template Launch prepare(const std::string&, const Exec&, const Shape&, const float*, float*);
template Launch prepare(const std::string&, const Exec&, const Shape&, const double*, double*);

}  // namespace KokkosSoftmaxSweep
