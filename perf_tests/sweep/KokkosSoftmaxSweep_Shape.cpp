// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSoftmaxSweep_Shape.hpp>
#include <charconv>
#include <stdexcept>

namespace KokkosSoftmaxSweep {

std::int64_t Shape::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents) product *= extent;
  return product;
}

std::int64_t Shape::stride(int d) const {
  std::int64_t product = 1;
  if (layout == Layout::right)
    for (int e = d + 1; e < rank(); ++e) product *= extents[e];
  else
    for (int e = 0; e < d; ++e) product *= extents[e];
  return product;
}

std::int64_t Shape::row_offset(std::int64_t row) const {
  std::int64_t offset = 0;
  for (int d = rank() - 1; d >= 0; --d) {
    if (d == axis) continue;
    offset += row % extents[d] * stride(d);
    row /= extents[d];
  }
  return offset;
}

std::string Shape::extents_text() const {
  std::string text;
  for (const std::int64_t extent : extents) {
    if (!text.empty()) text += 'x';
    text += std::to_string(extent);
  }
  return text;
}

Shape rows_of(std::vector<std::int64_t> extents) {
  const int last = static_cast<int>(extents.size()) - 1;
  return {std::move(extents), last, Layout::right};
}

Shape parse_shape(const std::string& text) {
  std::vector<std::int64_t> extents;
  const char* position = text.data();
  const char* const end = position + text.size();
  while (true) {
    std::int64_t extent = 0;
    const auto [next, error] = std::from_chars(position, end, extent);
    if (error != std::errc() || extent < 1 || (next != end && *next != 'x'))
      throw std::invalid_argument("\"" + text + "\" is not a shape: write it as 4096x256");
    extents.push_back(extent);
    if (next == end) break;
    position = next + 1;
  }
  if (extents.size() > 4)
    throw std::invalid_argument("\"" + text + "\" has rank " + std::to_string(extents.size()) +
                                ": give 1 to 4 extents");
  return rows_of(std::move(extents));
}

}  // namespace KokkosSoftmaxSweep
