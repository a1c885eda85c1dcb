// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSoftmax.hpp>
#include <KokkosSoftmaxSweep_Algorithms.hpp>
#include <KokkosSoftmaxSweep_OneDnn.hpp>
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <type_traits>

namespace KokkosSoftmaxSweep {
namespace {

using KokkosSoftmax::Algorithm;
using KokkosSoftmax::Impl::algorithm_table;

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

/// Calls body(x, y) with Views of a shape.
template <int rank, class Layout, class Exec, class T, class Body>
auto with_views(const Shape& shape, const T* x, T* y, const Body& body) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using X = Kokkos::View<typename Pointers<const T, rank>::type, Layout, Exec, Unmanaged>;
  using Y = Kokkos::View<typename Pointers<T, rank>::type, Layout, Exec, Unmanaged>;
  return body(X(x, kokkos_layout<Layout>(shape)), Y(y, kokkos_layout<Layout>(shape)));
}

template <class Layout, class Exec, class T, class Body>
auto with_views(const Shape& shape, const T* x, T* y, const Body& body) {
  switch (shape.rank()) {
    case 1:
      return with_views<1, Layout, Exec>(shape, x, y, body);
    case 2:
      return with_views<2, Layout, Exec>(shape, x, y, body);
    case 3:
      return with_views<3, Layout, Exec>(shape, x, y, body);
    case 4:
      return with_views<4, Layout, Exec>(shape, x, y, body);
  }
  throw std::invalid_argument("the sweep has shapes of rank 1 to 4");
}

template <class Exec, class T, class Body>
auto with_views(const Shape& shape, const T* x, T* y, const Body& body) {
  return shape.layout == Layout::right ? with_views<Kokkos::LayoutRight, Exec>(shape, x, y, body)
                                       : with_views<Kokkos::LayoutLeft, Exec>(shape, x, y, body);
}

std::optional<Algorithm> library_algorithm(const std::string& name) {
  for (const auto& row : algorithm_table)
    if (name_of(row.algorithm) == name) return row.algorithm;
  return std::nullopt;
}

/// What the library would run, as a plan describes it.
template <class Exec, class T>
std::string described(Algorithm algorithm, const Exec& exec, const Shape& shape) {
  const KokkosSoftmax::Options options{.axis = shape.axis, .algorithm = algorithm};
  T* const aligned = nullptr;  // a plan reads and writes nothing
  return with_views<Exec>(shape, static_cast<const T*>(aligned), aligned,
                          [&](const auto& x, const auto& y) {
                            return KokkosSoftmax::plan_softmax(exec, x, y, options).describe();
                          });
}

/// The algorithm that has this name; none for a step of the ladder.
template <class Exec, class T>
std::optional<Algorithm> resolved(const std::string& name, const Exec& exec, const Shape& shape) {
  if (name != portable) return library_algorithm(name);
  const std::string taken = described<Exec, T>(Algorithm::automatic, exec, shape);
  const bool is_native = taken.find(name_of(Algorithm::cluster) + "{") != std::string::npos;
  return is_native ? Algorithm::split : Algorithm::automatic;
}

template <class T>
OneDnnProblem onednn_problem(const Shape& shape) {
  if (!std::is_same_v<T, float>) throw std::invalid_argument("oneDNN has no softmax of double");
  OneDnnProblem problem{.extents = shape.extents, .strides = {}, .axis = shape.axis};
  for (int d = 0; d < shape.rank(); ++d) problem.strides.push_back(shape.stride(d));
  return problem;
}

template <class T>
Launch prepare_onednn(const Shape& shape, const T* x, T* y) {
  const OneDnnProblem problem = onednn_problem<T>(shape);
  if constexpr (std::is_same_v<T, float>) return prepare_onednn(problem, x, y);
  return {};
}

}  // namespace

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names = {portable, onednn};
  for (const auto& row : algorithm_table) names.push_back(name_of(row.algorithm));
  for (const std::string& step : ladder_step_names()) names.push_back(step);
  return names;
}

template <class Exec, class T>
Launch prepare(const std::string& name, const Exec& exec, const Shape& shape, const T* x, T* y) {
  if (name == onednn) return prepare_onednn(shape, x, y);
  const auto algorithm = resolved<Exec, T>(name, exec, shape);
  if (!algorithm) return prepare_ladder_step(name, exec, shape, x, y);
  const KokkosSoftmax::Options options{.axis = shape.axis, .algorithm = *algorithm};
  return with_views<Exec>(shape, x, y, [&](const auto& x_view, const auto& y_view) -> Launch {
    return [=] { KokkosSoftmax::softmax(exec, x_view, y_view, options); };
  });
}

template <class Exec, class T>
std::string choice(const std::string& name, const Exec& exec, const Shape& shape) {
  if (name == onednn) return onednn_choice(onednn_problem<T>(shape));
  const auto algorithm = resolved<Exec, T>(name, exec, shape);
  return algorithm ? described<Exec, T>(*algorithm, exec, shape) : "";
}

using Exec = Kokkos::DefaultExecutionSpace;
template Launch prepare(const std::string&, const Exec&, const Shape&, const float*, float*);
template Launch prepare(const std::string&, const Exec&, const Shape&, const double*, double*);
template std::string choice<Exec, float>(const std::string&, const Exec&, const Shape&);
template std::string choice<Exec, double>(const std::string&, const Exec&, const Shape&);

}  // namespace KokkosSoftmaxSweep
