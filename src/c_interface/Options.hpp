// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_C_INTERFACE_OPTIONS_HPP
#define KOKKOSSOFTMAX_SRC_C_INTERFACE_OPTIONS_HPP

/// \file
/// Converts kokkossoftmax_options to Options.

#include <kokkossoftmax.h>

#include <KokkosSoftmax_Version.hpp>
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <impl/KokkosSoftmax_Arguments.hpp>

namespace KokkosSoftmax::Impl {

// The kokkossoftmax_options of a caller are those of the header that the caller was compiled with.
// They are shorter than the library's if that header is older, and longer if it is newer.

/// The size in the first version.
constexpr std::size_t min_options_size =
    offsetof(kokkossoftmax_options, reproducible) + sizeof(int);
/// More than the size in any version. If options.size is larger, the member was not set.
constexpr std::size_t max_options_size = 1024;
static_assert(sizeof(kokkossoftmax_options) == min_options_size,
              "padding at the end could become a member that callers of this version don't set");

inline bool is_options_size(std::size_t size) {
  return min_options_size <= size && size <= max_options_size;
}

constexpr kokkossoftmax_options default_options() {
  constexpr Options options;
  return {sizeof(kokkossoftmax_options),
          options.scale,
          options.axis,
          static_cast<int>(options.empty_rows),
          static_cast<int>(options.algorithm),
          options.reproducible};
}

/// The caller's options, with defaults for the members that the caller doesn't have.
inline kokkossoftmax_options known_options(const Callee& callee,
                                           const kokkossoftmax_options* options) {
  kokkossoftmax_options known = default_options();
  if (options == nullptr) return known;
  const std::size_t size = options->size;
  if (!is_options_size(size))
    throw_invalid(callee, "options.size = ", size,
                  " is not the size of a kokkossoftmax_options (which has ", min_options_size,
                  " bytes or more): call kokkossoftmax_options_init() before members are set");
  const auto* const bytes = reinterpret_cast<const unsigned char*>(options);
  const auto* const unknown = std::find_if(bytes + std::min(size, sizeof(known)), bytes + size,
                                           [](unsigned char byte) { return byte != 0; });
  if (unknown != bytes + size)
    throw_invalid(callee, "options has a value at byte ", unknown - bytes,
                  " that is unknown (it belongs to a member that was added later than version ",
                  KOKKOSSOFTMAX_VERSION_STRING,
                  " of this library): leave it at its default, or use a later library");
  std::memcpy(&known, options, std::min(size, sizeof(known)));
  return known;
}

// The enumerations of the two interfaces have the same values. Those of operations and algorithms
// are checked by cmake/KokkosSoftmaxEnumerations.cmake.
template <class CppEnum>
constexpr bool has_value(CppEnum cpp, int c) {
  return static_cast<int>(cpp) == c;
}
static_assert(has_value(EmptyRows::nan, KOKKOSSOFTMAX_EMPTY_ROWS_NAN) &&
              has_value(EmptyRows::zero, KOKKOSSOFTMAX_EMPTY_ROWS_ZERO));

template <class Enum>
Enum checked_enum(const Callee& callee, const char* name, int value, Enum last) {
  if (value < 0 || value > static_cast<int>(last))
    throw_invalid(callee, "options.", name, " = ", value, " is unknown (the known values are 0 ",
                  "to ", static_cast<int>(last), "): set it to a value of kokkossoftmax_", name,
                  ", after kokkossoftmax_options_init()");
  return static_cast<Enum>(value);
}

inline Options cpp_options(const Callee& callee, const kokkossoftmax_options* options) {
  const kokkossoftmax_options c = known_options(callee, options);
  return {.axis = c.axis,
          .scale = c.scale,
          .empty_rows = checked_enum(callee, "empty_rows", c.empty_rows, EmptyRows::zero),
          .algorithm = checked_enum(callee, "algorithm", c.algorithm, last_algorithm),
          .reproducible = c.reproducible != 0};
}

}  // namespace KokkosSoftmax::Impl

#endif
