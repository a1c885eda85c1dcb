// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SINKHORN_REFERENCE_HPP
#define SINKHORN_REFERENCE_HPP

// Written by make_reference.py: linear_sum_assignment of SciPy 1.17.1.
namespace sinkhorn {

constexpr int reference_points = 256;
constexpr double reference_cost = 0.25421010205421524;

}  // namespace sinkhorn

#endif
