// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <functional>
#include <numeric>
#include <support/Placement.hpp>

namespace KokkosSoftmax::Test {
namespace {

/// Calls body(row, column, i) for every element, where i is its index with the last axis fastest.
template <class Body>
void for_each_of_rows(const Extents& extents, int axis, const Body& body) {
  const std::size_t a = axis_index(extents, axis);
  const std::size_t columns = extents[a];
  const std::size_t inner = product({extents.begin() + a + 1, extents.end()});
  const std::size_t outer = product({extents.begin(), extents.begin() + a});
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t column = 0; column < columns; ++column)
      for (std::size_t i = 0; i < inner; ++i)
        body(o * inner + i, column, (o * columns + column) * inner + i);
}

}  // namespace

std::size_t Placement::span() const {
  std::size_t last = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == 0) return 0;
    last += (extents[d] - 1) * strides[d];
  }
  return last + 1;
}

bool Placement::is_right() const { return strides == place_right(extents).strides; }

std::vector<std::size_t> Placement::addresses() const {
  std::vector<std::size_t> addresses;
  if (product(extents) == 0) return addresses;
  addresses = {0};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    std::vector<std::size_t> finer;
    finer.reserve(addresses.size() * extents[d]);
    for (const std::size_t base : addresses)
      for (std::size_t i = 0; i < extents[d]; ++i) finer.push_back(base + i * strides[d]);
    addresses.swap(finer);
  }
  return addresses;
}

Placement place_right(const Extents& extents) {
  Placement placement{extents, Extents(extents.size())};
  std::size_t stride = 1;
  for (std::size_t d = extents.size(); d-- > 0; stride *= extents[d]) placement.strides[d] = stride;
  return placement;
}

Placement place_left(const Extents& extents) {
  Placement placement{extents, Extents(extents.size())};
  std::size_t stride = 1;
  for (std::size_t d = 0; d < extents.size(); stride *= extents[d++]) placement.strides[d] = stride;
  return placement;
}

Placement place_strided(const Extents& extents) {
  Placement placement{extents, Extents(extents.size())};
  std::size_t stride = 2;
  for (std::size_t k = 0; k < extents.size(); ++k) {
    const std::size_t d = (k + extents.size() / 2) % extents.size();
    placement.strides[d] = stride;
    stride = stride * extents[d] + 3;
  }
  return placement;
}

template <class Layout>
Placement place(const Extents& extents, std::size_t offset) {
  Placement placement;
  if constexpr (std::is_same_v<Layout, Kokkos::LayoutRight>)
    placement = place_right(extents);
  else if constexpr (std::is_same_v<Layout, Kokkos::LayoutLeft>)
    placement = place_left(extents);
  else
    placement = place_strided(extents);
  placement.offset = offset;
  return placement;
}
template Placement place<Kokkos::LayoutRight>(const Extents&, std::size_t);
template Placement place<Kokkos::LayoutLeft>(const Extents&, std::size_t);
template Placement place<Kokkos::LayoutStride>(const Extents&, std::size_t);

std::size_t product(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::size_t{1}, std::multiplies<>{});
}

std::size_t axis_index(const Extents& extents, int axis) {
  return axis < 0 ? extents.size() + axis : static_cast<std::size_t>(axis);
}

Extents without_axis(const Extents& extents, int axis) {
  Extents rest = extents;
  rest.erase(rest.begin() + axis_index(extents, axis));
  return rest;
}

template <class T>
std::vector<T> rows_to_tensor(const std::vector<T>& rows, const Extents& extents, int axis) {
  std::vector<T> tensor(rows.size());
  const std::size_t columns = extents[axis_index(extents, axis)];
  for_each_of_rows(extents, axis, [&](std::size_t row, std::size_t column, std::size_t i) {
    tensor[i] = rows[row * columns + column];
  });
  return tensor;
}

template <class T>
std::vector<T> tensor_to_rows(const std::vector<T>& tensor, const Extents& extents, int axis) {
  std::vector<T> rows(tensor.size());
  const std::size_t columns = extents[axis_index(extents, axis)];
  for_each_of_rows(extents, axis, [&](std::size_t row, std::size_t column, std::size_t i) {
    rows[row * columns + column] = tensor[i];
  });
  return rows;
}

#define KOKKOSSOFTMAX_TEST_INSTANTIATE(T)                                             \
  template std::vector<T> rows_to_tensor(const std::vector<T>&, const Extents&, int); \
  template std::vector<T> tensor_to_rows(const std::vector<T>&, const Extents&, int);
KOKKOSSOFTMAX_TEST_INSTANTIATE(float)
KOKKOSSOFTMAX_TEST_INSTANTIATE(double)
#undef KOKKOSSOFTMAX_TEST_INSTANTIATE

}  // namespace KokkosSoftmax::Test
