// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef DIGITS_DATA_HPP
#define DIGITS_DATA_HPP

/// \file
/// Reads digits.txt. Each line has a digit, a space and 64 pixels, one character per pixel for the
/// values 0 to 16 (see make_data.py).

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "Solver.hpp"

namespace digits {

constexpr int classes = 10;
constexpr int pixels = 64;

inline std::vector<std::string> read_lines(const std::string& name) {
  std::ifstream file(name);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line.size() != 2 + pixels) throw std::runtime_error(name + " has a line of another length");
    lines.push_back(line);
  }
  if (lines.empty()) throw std::runtime_error(name + " can't be read or is empty");
  return lines;
}

/// Pixel d of a line, from 0 to 1.
inline double pixel(const std::string& line, int d) {
  static const std::string characters = "0123456789abcdefg";
  return characters.find(line[2 + d]) / 16.0;
}

/// The mean of the first `count` images.
inline std::vector<double> mean_image(const std::vector<std::string>& lines, int count) {
  std::vector<double> mean(pixels);
  for (int i = 0; i < count; ++i)
    for (int d = 0; d < pixels; ++d) mean[d] += pixel(lines[i], d) / count;
  return mean;
}

/// The lines from begin to end on the device, minus the mean. The intercepts compensate for the
/// mean, so that the minimum of the objective doesn't change. The gradient method converges much
/// faster with it.
inline Images to_images(const std::vector<std::string>& lines, std::size_t begin, std::size_t end,
                        const std::vector<double>& mean) {
  const Images images(end - begin, pixels + 1, classes);
  const auto x = Kokkos::create_mirror_view(images.x);
  const auto labels = Kokkos::create_mirror_view(images.labels);
  for (int i = 0; i < images.count(); ++i) {
    const std::string& line = lines[begin + i];
    labels(i) = line[0] - '0';
    for (int d = 0; d < pixels; ++d) x(i, d) = pixel(line, d) - mean[d];
    x(i, pixels) = 1;
  }
  Kokkos::deep_copy(images.x, x);
  Kokkos::deep_copy(images.labels, labels);
  return images;
}

}  // namespace digits

#endif
