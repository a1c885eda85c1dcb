// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_LIMITEDLAUNCH_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_LIMITEDLAUNCH_HPP

#include <backend/AccessMode.hpp>
#include <row/LimitedSource.hpp>

namespace KokkosSoftmax::Impl {

/// `Launch` for kernels of LimitedSource, which serve some problems of GeneralSource: rows of more
/// than `longest_short_row` columns. Most kernels gain nothing for shorter ones.
template <class Launch, class V, int longest_short_row = 32>
struct LimitedLaunch : Launch {
  template <class Context>
  static bool fits_device(const Context& context) {
    return LimitedSource<V>::serves(context.arguments) && !context.options.reproducible &&
           context.problem().columns > longest_short_row && Launch::fits_device(context);
  }
};

/// The same for strided rows in clusters. If teams would share sectors, rows of at most four bytes
/// per entry are faster in the kernels of GeneralSource (measured on an H100).
template <class Launch, class V, AccessMode access>
struct LimitedLaunchInSectors : LimitedLaunch<Launch, V> {
  template <class Context>
  static bool fits_device(const Context& context) {
    return (sizeof(typename V::X) == 8 || access == AccessMode::whole_sectors ||
            context.columns_are_sectors()) &&
           LimitedLaunch<Launch, V>::fits_device(context);
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
