// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef GRAPH_GRAPH_HPP
#define GRAPH_GRAPH_HPP

/// \file
/// The karate club as a graph in the CSR format: its vertices are the members, in the order of
/// their numbers, and row i has the neighbours of vertex i in ascending order. make_reference.py
/// makes the same graph.

#include <queue>
#include <vector>

#include "KarateClub.hpp"
#include "Solver.hpp"

namespace graph {

/// The neighbours of each vertex.
using Neighbours = std::vector<std::vector<int>>;

inline Neighbours karate_club_neighbours() {
  std::vector<std::vector<bool>> met(members, std::vector<bool>(members));
  for (const auto& pair : friends) {
    met[pair[0] - 1][pair[1] - 1] = true;
    met[pair[1] - 1][pair[0] - 1] = true;
  }
  Neighbours neighbours(members);
  for (int i = 0; i < members; ++i)
    for (int j = 0; j < members; ++j)
      if (met[i][j]) neighbours[i].push_back(j);
  return neighbours;
}

/// The number of edges from vertex `from` to each vertex, along shortest paths.
inline std::vector<int> distances(const Neighbours& neighbours, int from) {
  std::vector<int> distance(neighbours.size(), -1);
  std::queue<int> open({from});
  distance[from] = 0;
  for (; !open.empty(); open.pop())
    for (const int j : neighbours[open.front()])
      if (distance[j] < 0) {
        distance[j] = distance[open.front()] + 1;
        open.push(j);
      }
  return distance;
}

/// The features of a vertex are the number of its neighbours, and how much nearer it is to the
/// instructor than to the administrator. Both are divided by powers of 2.
inline Graph karate_club() {
  const Neighbours neighbours = karate_club_neighbours();
  const std::vector<int> to_instructor = distances(neighbours, instructor - 1);
  const std::vector<int> to_administrator = distances(neighbours, administrator - 1);

  const Graph graph(members, 2 * static_cast<int>(std::size(friends)));
  const auto offsets = Kokkos::create_mirror_view(graph.offsets);
  const auto vertex = Kokkos::create_mirror_view(graph.vertex);
  const auto neighbour = Kokkos::create_mirror_view(graph.neighbour);
  const auto features = Kokkos::create_mirror_view(graph.features);
  const auto side = Kokkos::create_mirror_view(graph.side);
  int entry = 0;
  for (int i = 0; i < members; ++i) {
    offsets(i) = entry;
    for (const int j : neighbours[i]) {
      vertex(entry) = i;
      neighbour(entry++) = j;
    }
    features(i, 0) = neighbours[i].size() / 16.0;
    features(i, 1) = (to_administrator[i] - to_instructor[i]) / 2.0;
    side(i) = -1;
  }
  offsets(members) = entry;
  for (const int member : with_instructor) side(member - 1) = 1;

  Kokkos::deep_copy(graph.offsets, offsets);
  Kokkos::deep_copy(graph.vertex, vertex);
  Kokkos::deep_copy(graph.neighbour, neighbour);
  Kokkos::deep_copy(graph.features, features);
  Kokkos::deep_copy(graph.side, side);
  return graph;
}

}  // namespace graph

#endif
