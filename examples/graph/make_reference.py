#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes Reference.hpp: the attention on the graph of KarateClub.hpp, by scipy.special.softmax and
scipy.special.logsumexp of one row after the other.

    pip install scipy && python3 make_reference.py > Reference.hpp
"""
import re

import numpy
import scipy
from scipy.special import logsumexp, softmax

START = numpy.array([[1, 0.5], [-0.5, 0.25]])
RATE = 10
STEPS = 100


def read_club(file="KarateClub.hpp"):
    """The number of members, the instructor, the administrator, the friends, and the sides."""
    with open(file, encoding="utf-8") as opened:
        text = opened.read()

    def number(name):
        return int(re.search(rf"int {name} = (\d+);", text)[1])

    def numbers(name):
        body = re.search(rf"int {name}\[.*?\] = \{{(.*?)\}};", text, re.DOTALL)[1]
        return [int(digits) for digits in re.findall(r"\d+", body)]

    friends = numpy.array(numbers("friends")).reshape(-1, 2) - 1
    side = -numpy.ones(number("members"))
    side[numpy.array(numbers("with_instructor")) - 1] = 1
    return number("instructor") - 1, number("administrator") - 1, friends, side


def distances(rows, start):
    distance = {start: 0}
    queue = [start]
    for vertex in queue:
        for neighbour in rows[vertex]:
            if neighbour not in distance:
                distance[neighbour] = distance[vertex] + 1
                queue.append(neighbour)
    return numpy.array([distance[vertex] for vertex in range(len(rows))])


class Graph:
    """The same as Graph.hpp."""

    def __init__(self):
        instructor, administrator, friends, self.side = read_club()
        both_ways = numpy.concatenate([friends, friends[:, ::-1]])
        self.rows = [sorted(both_ways[both_ways[:, 0] == i, 1]) for i in range(len(self.side))]
        degrees = numpy.array([len(row) for row in self.rows])
        nearer = distances(self.rows, administrator) - distances(self.rows, instructor)
        self.features = numpy.stack([degrees / 16, nearer / 2], axis=1)

    def scores(self, weights):
        return [self.features[row] @ weights.T @ self.features[i] for i, row in enumerate(self.rows)]

    def loss(self, weights):
        """The loss and its derivative by the weights."""
        total = 0
        derivative = numpy.zeros_like(weights)
        for i, (row, scores) in enumerate(zip(self.rows, self.scores(weights))):
            attention = softmax(scores)
            error = attention @ self.side[row] - self.side[i]
            total += error**2
            by_attention = 2 * error * self.side[row]
            by_scores = attention * (by_attention - attention @ by_attention)
            derivative += numpy.outer(self.features[i], by_scores @ self.features[row])
        return total / len(self.rows), derivative / len(self.rows)


def descend(graph):
    weights = START.astype(float)
    for _ in range(STEPS):
        weights -= RATE * graph.loss(weights)[1]
    return weights


def listed(numbers):
    texts = [repr(float(number)) for number in numbers]
    return ",\n    ".join(", ".join(texts[i : i + 4]) for i in range(0, len(texts), 4))


def main():
    graph = Graph()
    scores = graph.scores(START)
    print(f"""\
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef GRAPH_REFERENCE_HPP
#define GRAPH_REFERENCE_HPP

// Written by make_reference.py: scipy.special.softmax and logsumexp of SciPy {scipy.__version__}.
namespace graph {{

// clang-format off
constexpr double reference_start[][{START.shape[1]}] = {{{", ".join(f"{{{a}, {b}}}" for a, b in START)}}};
constexpr double reference_rate = {RATE};
constexpr int reference_steps = {STEPS};
constexpr double reference_loss = {float(graph.loss(START)[0])!r};
constexpr double reference_last_loss = {float(graph.loss(descend(graph))[0])!r};

// per vertex
constexpr double reference_lse[] = {{
    {listed(logsumexp(row) for row in scores)}}};

// per entry
constexpr double reference_attention[] = {{
    {listed(numpy.concatenate([softmax(row) for row in scores]))}}};
// clang-format on

}}  // namespace graph

#endif""")


if __name__ == "__main__":
    main()
