// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_POINT_HPP
#define KOKKOSSOFTMAXSWEEP_POINT_HPP

#include <KokkosSoftmaxSweep_Shape.hpp>
#include <string>
#include <type_traits>

namespace KokkosSoftmaxSweep {

enum class DType { float32, float64 };

inline const char* to_string(DType dtype) { return dtype == DType::float32 ? "float" : "double"; }
inline int size_of(DType dtype) { return dtype == DType::float32 ? 4 : 8; }

/// Calls function(T()) with the C++ type.
template <class Function>
auto with_type(DType dtype, const Function& function) {
  return dtype == DType::float32 ? function(float()) : function(double());
}

/// One measurement of a sweep: one line of a table and one mark of a plot.
struct Point {
  std::string table;
  DType dtype;
  std::string algorithm;
  Shape shape;

  /// Its name in Benchmark. plot.py splits it again.
  std::string name() const {
    std::string text =
        table + "/" + to_string(dtype) + "/" + algorithm + "/" + shape.extents_text();
    if (table == "axis_layout")
      text += std::string(shape.layout == Layout::right ? "/right" : "/left") + "/axis" +
              std::to_string(shape.axis);
    return text;
  }

  /// The bytes that must be moved: x is read once, y is written once.
  std::int64_t bytes() const { return 2 * shape.elements() * size_of(dtype); }

  /// The memory that it needs; naive has two intermediate arrays in addition to x and y.
  std::int64_t memory() const { return algorithm == "naive" ? 2 * bytes() : bytes(); }
};

}  // namespace KokkosSoftmaxSweep

#endif
