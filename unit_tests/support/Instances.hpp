// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_INSTANCES_HPP
#define KOKKOSSOFTMAX_TEST_INSTANCES_HPP

/// \file
/// Execution space instances other than the default one, and calls on several of them.

#include <support/Check.hpp>
#include <vector>

namespace KokkosSoftmax::Test {

/// Returns two instances that differ from `exec`, or one if `exec` has a single thread, whose pool
/// can't be divided.
template <class Exec>
std::vector<Exec> other_instances(const Exec& exec) {
  if (exec.concurrency() >= 2 || Kokkos::Tools::Experimental::DeviceTypeTraits<Exec>::id ==
                                     Kokkos::Tools::Experimental::DeviceType::Serial)
    return Kokkos::Experimental::partition_space(exec, std::vector<int>{1, 1});
  return Kokkos::Experimental::partition_space(exec, std::vector<int>{1});
}

/// Returns an instance with more threads than a call of three rows needs, whatever the number of
/// processors, if Exec can have one.
template <class Exec>
Exec instance_of_many_threads() {
#ifdef KOKKOS_ENABLE_OPENMP
  if constexpr (std::is_same_v<Exec, Kokkos::OpenMP>) return Exec(5);
#endif
  return Exec{};
}

/// Returns so many instances of a GPU that the teams of all their kernels can't be resident at one
/// time.
template <class Exec>
std::vector<Exec> many_instances() {
  return Kokkos::Experimental::partition_space(Exec{}, std::vector<int>(24, 1));
}

/// Calls softmax of `count` rows of `columns` entries on each instance in turn, `calls` times,
/// without a fence between the calls, and checks the results. Each instance has its own output.
template <class T, class Exec>
void expect_right_on(const std::vector<Exec>& instances, int calls, std::size_t count,
                     std::size_t columns, const Options& options) {
  using Right = Kokkos::LayoutRight;
  const auto& sample = normal_sample<T>(count, columns);
  const bool strided = options.axis == 0;
  const Case c{.extents = strided ? Extents{columns, count} : Extents{count, columns},
               .options = options};
  Field<T, Exec> x(place_right(c.extents));
  x.assign(rows_to_tensor(sample.rows.values, c.extents, c.options.axis));
  std::vector<Field<T, Exec>> y;
  for (std::size_t i = 0; i < instances.size(); ++i) y.emplace_back(place_right(c.extents));
  for (int k = 0; k < calls; ++k)
    for (std::size_t i = 0; i < instances.size(); ++i)
      softmax(instances[i], x.template view<Right, 2, const T>(), y[i].template view<Right, 2>(),
              c.options);
  for (std::size_t i = 0; i < instances.size(); ++i) {
    instances[i].fence();
    EXPECT_TRUE(check_output(c, sample.rows, sample.expected, y[i])) << "instance " << i;
  }
}

}  // namespace KokkosSoftmax::Test

#endif
