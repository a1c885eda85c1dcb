// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_WORKBENCH_HPP
#define KOKKOSSOFTMAXSWEEP_WORKBENCH_HPP

#include <KokkosSoftmaxSweep_Shape.hpp>
#include <KokkosSoftmaxSweep_Timing.hpp>
#include <Kokkos_Core.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <typeindex>
#include <vector>

namespace KokkosSoftmaxSweep {

/// The time of a copy of x to y.
struct CopyTime {
  std::string name;  ///< of the way to copy, for example "streaming stores"
  double seconds;    ///< of one copy
  double scatter;    ///< of its batches, see Timing.hpp
};

/// The memory that all points of a value type share: x with random-normal numbers, and y for
/// results. A point uses the first elements of both, in any shape.
template <class Exec, class T>
class Workbench {
 public:
  /// Allocates `elements` elements of x and of y, and fills x. The copy is timed with these rests.
  Workbench(const Exec& exec, std::int64_t elements, Rest rest = Rest::zero());

  const T* x() const { return m_x.data(); }
  T* y() const { return m_y.data(); }

  /// Sets this many elements of y to NaN, so that an element that is not written is detected.
  void poison_y(std::int64_t elements) const;

  /// A sum over this many elements of y, each multiplied by a positive number of its own. It is NaN
  /// if an element was not written. Its relative difference from that of another result is at most
  /// that of the elements.
  double checksum_of_y(std::int64_t elements) const;

  /// A row on the host.
  std::vector<T> row_of_x(const Shape& shape, std::int64_t row) const;
  std::vector<T> row_of_y(const Shape& shape, std::int64_t row) const;

  /// The times of all ways to copy this many elements of x to y, the fastest first, measured once:
  /// Kokkos::deep_copy, and on a GPU a kernel with 16-byte accesses, on a host those of
  /// HostCopy.hpp. Each copy is compared with x before it is timed. Throws std::runtime_error if
  /// one is wrong. Overwrites y.
  const std::vector<CopyTime>& copy_times(std::int64_t elements);

  /// Measures them again and keeps the better time of each. For a copy that was slower than a
  /// softmax, which only happens if something disturbed it.
  const std::vector<CopyTime>& copy_times_again(std::int64_t elements);

 private:
  using Buffer = Kokkos::View<T*, Exec>;

  struct Copy {
    std::string name;
    std::function<void()> launch;
  };

  std::vector<Copy> copies(std::int64_t elements) const;
  std::vector<CopyTime> measure_copies(std::int64_t elements) const;

  Exec m_exec;
  Buffer m_x, m_y;
  Rest m_rest;
  std::map<std::int64_t, std::vector<CopyTime>> m_copy_times;
};

/// One workbench per value type that is asked for.
template <class Exec>
class Workbenches {
 public:
  explicit Workbenches(Rest rest = Rest::zero()) : m_rest(rest) {}

  /// Makes it at the first call, with space for as many elements as most_elements() says.
  template <class T, class MostElements>
  Workbench<Exec, T>& of(const Exec& exec, const MostElements& most_elements) {
    std::shared_ptr<void>& bench = m_benches[typeid(T)];
    if (!bench) bench = std::make_shared<Workbench<Exec, T>>(exec, most_elements(), m_rest);
    return *static_cast<Workbench<Exec, T>*>(bench.get());
  }

 private:
  Rest m_rest;
  std::map<std::type_index, std::shared_ptr<void>> m_benches;
};

}  // namespace KokkosSoftmaxSweep

#endif
