// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The labels and losses of the rows of a matrix, and of the pixels of images.
#include "default.hpp"
const Kokkos::View<int*, Exec> labels("labels", m);
const Kokkos::View<double*, Exec> loss("loss", m), dloss("dloss", m), dlse("dlse", m);
const Kokkos::View<double**, Exec> dx("dx", m, n);
const Kokkos::View<bool*, Exec> mask("mask", n);
const Kokkos::View<float***, Exec> images("images", 2, 3, 5);
const Kokkos::View<std::int64_t**, Exec> pixel_labels("pixel_labels", 2, 5);
const Kokkos::View<float**, Exec> pixel_loss("pixel_loss", 2, 5);
