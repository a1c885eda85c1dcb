// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_LIMITEDLAUNCH_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_LIMITEDLAUNCH_HPP

#include <row/LimitedSource.hpp>

namespace KokkosSoftmax::Impl {

/// `Launch` for kernels of LimitedSource, which serve some problems of GeneralSource. Short rows
/// gain nothing.
template <class Launch, class V>
struct LimitedLaunch : Launch {
  static constexpr int longest_short_row = 32;

  template <class Context>
  static bool fits_device(const Context& context) {
    return LimitedSource<V>::serves(context.arguments) &&
           context.problem().columns > longest_short_row && Launch::fits_device(context);
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
