// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef GRAPH_SOLVER_HPP
#define GRAPH_SOLVER_HPP

/// \file
/// Attention on a graph (P. Velickovic et al., "Graph attention networks", ICLR 2018), with scores
/// that are bilinear in the features (M.-T. Luong, H. Pham and C. D. Manning, "Effective approaches
/// to attention-based neural machine translation", EMNLP 2015). Each vertex i looks at its
/// neighbours j:
///
///   score      e_ij = h_i . W h_j                    with the features h of the vertices
///   attention  a_ij = exp(e_ij) / sum_k exp(e_ik)    over the neighbours k of i
///   prediction p_i  = sum_j a_ij s_j                 of the side s_i of i, which is 1 or -1
///   loss       L    = 1/n sum_i (p_i - s_i)^2        over all n vertices
///
/// The vertices have different numbers of neighbours, so the scores are ragged rows: one vector
/// with an entry per vertex and neighbour, and offsets that say where the row of each vertex
/// begins. Gradient descent learns the matrix W.

#include <KokkosSoftmax.hpp>

namespace graph {

using Exec = Kokkos::DefaultExecutionSpace;
using Indices = Kokkos::View<int*, Exec>;
using Vector = Kokkos::View<double*, Exec>;
constexpr int feature_count = 2;
using Features = Kokkos::View<double* [feature_count], Exec>;

/// A graph in the CSR format. Entry e is the edge from vertex(e) to neighbour(e).
struct Graph {
  Indices offsets;  ///< row i has the entries offsets(i) to offsets(i + 1) - 1
  Indices vertex, neighbour;
  Features features;  ///< h
  Vector side;        ///< s

  Graph(int vertices, int entries)
      : offsets("offsets", vertices + 1),
        vertex("vertex", entries),
        neighbour("neighbour", entries),
        features("features", vertices),
        side("side", vertices) {}
  int vertices() const { return side.extent(0); }
  int entries() const { return vertex.extent(0); }
};

/// The matrix W, or a derivative by it.
struct Weights {
  double w[feature_count][feature_count] = {};

  KOKKOS_INLINE_FUNCTION void add(double factor, const Weights& other) {
    for (int f = 0; f < feature_count; ++f)
      for (int g = 0; g < feature_count; ++g) w[f][g] += factor * other.w[f][g];
  }
  /// For sums by Kokkos.
  KOKKOS_INLINE_FUNCTION Weights& operator+=(const Weights& other) {
    add(1, other);
    return *this;
  }
};

/// What is computed for some W: a number per entry, or per vertex.
struct Attention {
  Vector score, attention;  ///< per entry
  Vector lse;               ///< log sum_k exp(e_ik) per vertex
  Vector prediction;        ///< per vertex

  explicit Attention(const Graph& graph)
      : score("score", graph.entries()),
        attention("attention", graph.entries()),
        lse("lse", graph.vertices()),
        prediction("prediction", graph.vertices()) {}
};

/// Computes `result` for W. Returns the loss.
inline double attend(const Exec& exec, const Graph& graph, const Weights& weights,
                     const Attention& result) {
  Kokkos::parallel_for(
      "graph::scores", Kokkos::RangePolicy<Exec>(exec, 0, graph.entries()), KOKKOS_LAMBDA(int e) {
        const int i = graph.vertex(e), j = graph.neighbour(e);
        double score = 0;
        for (int f = 0; f < feature_count; ++f)
          for (int g = 0; g < feature_count; ++g)
            score += graph.features(i, f) * weights.w[f][g] * graph.features(j, g);
        result.score(e) = score;
      });
  KokkosSoftmax::segment_softmax(exec, result.score, graph.offsets, result.attention);
  KokkosSoftmax::segment_logsumexp(exec, result.score, graph.offsets, result.lse);
  double loss = 0;
  Kokkos::parallel_reduce(
      "graph::predictions", Kokkos::RangePolicy<Exec>(exec, 0, graph.vertices()),
      KOKKOS_LAMBDA(int i, double& sum) {
        double prediction = 0;
        for (int e = graph.offsets(i); e < graph.offsets(i + 1); ++e)
          prediction += result.attention(e) * graph.side(graph.neighbour(e));
        result.prediction(i) = prediction;
        sum += (prediction - graph.side(i)) * (prediction - graph.side(i));
      },
      loss);
  return loss / graph.vertices();
}

/// The derivative of the loss by W, after attend() for this W. `work` has an element per entry.
inline Weights gradient(const Exec& exec, const Graph& graph, const Attention& at,
                        const Vector& work) {
  const int vertices = graph.vertices();
  Kokkos::parallel_for(
      "graph::derivative_by_attention", Kokkos::RangePolicy<Exec>(exec, 0, graph.entries()),
      KOKKOS_LAMBDA(int e) {
        const int i = graph.vertex(e), j = graph.neighbour(e);
        work(e) = 2 * (at.prediction(i) - graph.side(i)) * graph.side(j) / vertices;
      });
  // In place: the derivative by the attention becomes the one by the scores.
  KokkosSoftmax::segment_softmax_backward(exec, at.attention, work, graph.offsets, work);
  Weights derivative;
  Kokkos::parallel_reduce(
      "graph::derivative_by_weights", Kokkos::RangePolicy<Exec>(exec, 0, graph.entries()),
      KOKKOS_LAMBDA(int e, Weights& sum) {
        const int i = graph.vertex(e), j = graph.neighbour(e);
        for (int f = 0; f < feature_count; ++f)
          for (int g = 0; g < feature_count; ++g)
            sum.w[f][g] += work(e) * graph.features(i, f) * graph.features(j, g);
      },
      derivative);
  return derivative;
}

/// Moves W against the gradient, `steps` times.
inline void descend(const Exec& exec, const Graph& graph, int steps, double rate,
                    Weights& weights) {
  const Attention at(graph);
  const Vector work("work", graph.entries());
  for (int step = 0; step < steps; ++step) {
    attend(exec, graph, weights, at);
    weights.add(-rate, gradient(exec, graph, at, work));
  }
}

/// The entropy of the attention of a vertex, lse_i - sum_j a_ij e_ij, as a mean over the vertices.
/// It is 0 if each vertex looks at one neighbour alone.
inline double mean_entropy(const Exec& exec, const Graph& graph, const Attention& at) {
  double sum = 0;
  Kokkos::parallel_reduce(
      "graph::entropy", Kokkos::RangePolicy<Exec>(exec, 0, graph.vertices()),
      KOKKOS_LAMBDA(int i, double& all) {
        all += at.lse(i);
        for (int e = graph.offsets(i); e < graph.offsets(i + 1); ++e)
          all -= at.attention(e) * at.score(e);
      },
      sum);
  return sum / graph.vertices();
}

}  // namespace graph

#endif
