// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MBAR_HOSTMATRIX_HPP
#define MBAR_HOSTMATRIX_HPP

/// \file
/// Small symmetric linear systems on the host. The rows of the Hessian of MBAR sum to 0, because
/// adding a constant to all free energies changes nothing. Therefore state 0 is fixed: its row and
/// column are left out, and its unknown is 0.

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace mbar {

class HostMatrix {
 public:
  template <class Entry>
  HostMatrix(int size, const Entry& entry) : m_size(size), m_entries(std::size_t(size) * size) {
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j) (*this)(i, j) = entry(i, j);
  }
  int size() const { return m_size; }
  double& operator()(int i, int j) { return m_entries[std::size_t(i) * m_size + j]; }
  double operator()(int i, int j) const { return m_entries[std::size_t(i) * m_size + j]; }

 private:
  int m_size;
  std::vector<double> m_entries;
};

/// The Cholesky factor of h without row and column 0, in the lower triangle.
inline HostMatrix grounded_cholesky(HostMatrix h) {
  for (int j = 1; j < h.size(); ++j) {
    for (int k = 1; k < j; ++k) h(j, j) -= h(j, k) * h(j, k);
    if (!(h(j, j) > 0))
      throw std::runtime_error("the Hessian is singular (no overlap between some states)");
    h(j, j) = std::sqrt(h(j, j));
    for (int i = j + 1; i < h.size(); ++i) {
      for (int k = 1; k < j; ++k) h(i, j) -= h(i, k) * h(j, k);
      h(i, j) /= h(j, j);
    }
  }
  return h;
}

/// Solves L y = b in place.
inline void forward_substitution(const HostMatrix& l, std::vector<double>& b) {
  for (int i = 1; i < l.size(); ++i) {
    for (int k = 1; k < i; ++k) b[i] -= l(i, k) * b[k];
    b[i] /= l(i, i);
  }
}

/// Returns x with h x = b and x[0] = 0.
inline std::vector<double> grounded_solve(const HostMatrix& h, std::vector<double> b) {
  const HostMatrix l = grounded_cholesky(h);
  forward_substitution(l, b);
  for (int i = l.size() - 1; i > 0; --i) {
    for (int k = i + 1; k < l.size(); ++k) b[i] -= l(k, i) * b[k];
    b[i] /= l(i, i);
  }
  b[0] = 0;
  return b;
}

/// The diagonal of the inverse: (h^-1)_ii = |L^-1 e_i|^2.
inline std::vector<double> grounded_inverse_diagonal(const HostMatrix& h) {
  const HostMatrix l = grounded_cholesky(h);
  std::vector<double> diagonal(h.size());
  for (int i = 1; i < h.size(); ++i) {
    std::vector<double> column(h.size());
    column[i] = 1;
    forward_substitution(l, column);
    for (int k = 1; k < h.size(); ++k) diagonal[i] += column[k] * column[k];
  }
  return diagonal;
}

}  // namespace mbar

#endif
