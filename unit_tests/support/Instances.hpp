// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_INSTANCES_HPP
#define KOKKOSSOFTMAX_TEST_INSTANCES_HPP

/// \file
/// Execution space instances beside the default one, and calls on several of them at once.

#include <support/Check.hpp>
#include <vector>

namespace KokkosSoftmax::Test {

/// As many instances as can be had, one or two, each different from `exec` (a pool of one thread
/// can't be divided).
template <class Exec>
std::vector<Exec> other_instances(const Exec& exec) {
  if (exec.concurrency() >= 2 || Kokkos::Tools::Experimental::DeviceTypeTraits<Exec>::id ==
                                     Kokkos::Tools::Experimental::DeviceType::Serial)
    return Kokkos::Experimental::partition_space(exec, std::vector<int>{1, 1});
  return Kokkos::Experimental::partition_space(exec, std::vector<int>{1});
}

/// So many instances of a GPU that what they run can't all be resident at one time.
template <class Exec>
std::vector<Exec> many_instances() {
  return Kokkos::Experimental::partition_space(Exec{}, std::vector<int>(24, 1));
}

/// Softmax of `count` rows of `columns` entries on each instance in turn, `calls` times, without a
/// fence in between; every instance has an output of its own.
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
