#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes Reference.hpp: the exact transport cost between the clouds of Clouds.hpp.

With n points of weight 1/n in both clouds, an optimal plan of the linear program is a permutation
(Birkhoff), which scipy.optimize.linear_sum_assignment finds.

    pip install scipy && python3 make_reference.py > Reference.hpp
"""
import numpy
import scipy
from scipy.optimize import linear_sum_assignment

N = 256


def square(n):
    ratio = 1.324717957244746
    i = numpy.arange(n)
    return numpy.stack([(0.5 + i / ratio) % 1, (0.5 + i / ratio**2) % 1], axis=1)


def disc(n):
    j = numpy.arange(n)
    radius = 0.5 * numpy.sqrt((j + 0.5) / n)
    angle = 2 * numpy.pi * (j / ((1 + numpy.sqrt(5)) / 2) % 1)
    return numpy.stack([1 + radius * numpy.cos(angle), 0.5 + radius * numpy.sin(angle)], axis=1)


def transport_cost(x, y):
    cost = ((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2)
    rows, columns = linear_sum_assignment(cost)
    return cost[rows, columns].mean()


print(f"""\
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SINKHORN_REFERENCE_HPP
#define SINKHORN_REFERENCE_HPP

// Written by make_reference.py: linear_sum_assignment of SciPy {scipy.__version__}.
namespace sinkhorn {{

constexpr int reference_points = {N};
constexpr double reference_cost = {float(transport_cost(square(N), disc(N)))!r};

}}  // namespace sinkhorn

#endif""")
