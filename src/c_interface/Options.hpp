// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_C_INTERFACE_OPTIONS_HPP
#define KOKKOSSOFTMAX_SRC_C_INTERFACE_OPTIONS_HPP

/// \file
/// Converts the structs of options to those of C++.

#include <kokkossoftmax.h>

#include <KokkosSoftmax_CrossEntropy.hpp>
#include <KokkosSoftmax_Version.hpp>
#include <algorithm>
#include <c_interface/Status.hpp>
#include <cstddef>
#include <cstring>
#include <impl/KokkosSoftmax_Arguments.hpp>

namespace KokkosSoftmax::Impl {

// The structs of options of a caller are those of the header that the caller was compiled with.
// They are shorter than the library's if that header is older, and longer if it is newer.

/// A struct of options: its name, its size in the first version, the end of its last member, and
/// its defaults.
template <class Struct>
struct OptionsStruct;
template <>
struct OptionsStruct<kokkossoftmax_options> {
  static constexpr const char* name = "kokkossoftmax_options";
  static constexpr std::size_t min_size =
      offsetof(kokkossoftmax_options, reproducible) + sizeof(int);
  static constexpr std::size_t end = offsetof(kokkossoftmax_options, reserved) + sizeof(int);
  static constexpr kokkossoftmax_options defaults() {
    constexpr Options options;
    return {sizeof(kokkossoftmax_options),
            options.scale,
            options.axis,
            static_cast<int>(options.empty_rows),
            static_cast<int>(options.algorithm),
            options.reproducible,
            nullptr,
            0,
            0};
  }
};
template <>
struct OptionsStruct<kokkossoftmax_cross_entropy_options> {
  static constexpr const char* name = "kokkossoftmax_cross_entropy_options";
  static constexpr std::size_t min_size =
      offsetof(kokkossoftmax_cross_entropy_options, reserved) + sizeof(int);
  static constexpr std::size_t end = min_size;
  static constexpr kokkossoftmax_cross_entropy_options defaults() {
    constexpr CrossEntropyOptions options;
    return {sizeof(kokkossoftmax_cross_entropy_options),
            options.scale,
            options.label_smoothing,
            options.ignore_index,
            options.axis,
            static_cast<int>(options.algorithm),
            options.reproducible,
            0};
  }
};

/// More than the size in any version. If options.size is larger, the member was not set.
constexpr std::size_t max_options_size = 1024;

template <class Struct>
bool is_options_size(std::size_t size) {
  static_assert(sizeof(Struct) == OptionsStruct<Struct>::end,
                "padding at the end could become a member that callers of this version don't set");
  return OptionsStruct<Struct>::min_size <= size && size <= max_options_size &&
         size % alignof(Struct) == 0;
}

/// Sets the caller's options, whose struct has this size, to the defaults.
template <class Struct>
void init_options(Struct* options, std::size_t size) {
  using Known = OptionsStruct<Struct>;
  if (options == nullptr)
    throw_status(KOKKOSSOFTMAX_INVALID_ARGUMENT, Known::name,
                 "_init: options is NULL (there is nothing to set): give the address of a ",
                 Known::name);
  if (!is_options_size<Struct>(size))
    throw_status(KOKKOSSOFTMAX_INVALID_ARGUMENT, Known::name, "_init_sized: size = ", size,
                 " is not the size of a ", Known::name, " (which has ", Known::min_size,
                 " bytes or more, a multiple of ", alignof(Struct), "): give its sizeof");
  Struct known = Known::defaults();
  known.size = size;
  std::memset(static_cast<void*>(options), 0, size);
  std::memcpy(options, &known, std::min(size, sizeof(known)));
}

/// The caller's options, with defaults for the members that the caller doesn't have.
template <class Struct>
Struct known_options(const Callee& callee, const Struct* options) {
  using Known = OptionsStruct<Struct>;
  Struct known = Known::defaults();
  if (options == nullptr) return known;
  const std::size_t size = options->size;
  if (!is_options_size<Struct>(size))
    throw_invalid(callee, "options.size = ", size, " is not the size of a ", Known::name,
                  " (which has ", Known::min_size, " bytes or more, a multiple of ",
                  alignof(Struct), "): call ", Known::name, "_init() before members are set");
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
                  ", after the options are initialized");
  return static_cast<Enum>(value);
}

inline void check_reserved(const Callee& callee, int reserved) {
  if (reserved != 0)
    throw_invalid(callee, "options.reserved = ", reserved,
                  " is not 0 (it has no meaning yet): leave it at its default");
}

/// The set of axes of the caller's options; empty if there is none.
inline Axes cpp_axes(const Callee& callee, const kokkossoftmax_options& options) {
  if (options.axes == nullptr && options.axis_count != 0)
    throw_invalid(callee, "options.axes is NULL and options.axis_count = ", options.axis_count,
                  " (it is the number of elements of axes): give an array, or set it to 0");
  if (options.axes != nullptr &&
      (options.axis_count < 1 || options.axis_count > KOKKOSSOFTMAX_MAX_RANK))
    throw_invalid(callee, "options.axis_count = ", options.axis_count, " (it must be from 1 to ",
                  KOKKOSSOFTMAX_MAX_RANK, " if options.axes is given): give the number of axes");
  Axes axes;
  for (int i = 0; i < options.axis_count; ++i) axes.push_back(options.axes[i]);
  return axes;
}

inline Options cpp_options(const Callee& callee, const kokkossoftmax_options* options) {
  const kokkossoftmax_options c = known_options(callee, options);
  check_reserved(callee, c.reserved);
  return {.axis = c.axis,
          .scale = c.scale,
          .empty_rows = checked_enum(callee, "empty_rows", c.empty_rows, EmptyRows::zero),
          .algorithm = checked_enum(callee, "algorithm", c.algorithm, last_algorithm),
          .reproducible = c.reproducible != 0,
          .axes = cpp_axes(callee, c)};
}

inline CrossEntropyOptions cpp_options(const Callee& callee,
                                       const kokkossoftmax_cross_entropy_options* options) {
  const kokkossoftmax_cross_entropy_options c = known_options(callee, options);
  check_reserved(callee, c.reserved);
  return {.axis = c.axis,
          .scale = c.scale,
          .ignore_index = c.ignore_index,
          .label_smoothing = c.label_smoothing,
          .algorithm = checked_enum(callee, "algorithm", c.algorithm, last_algorithm),
          .reproducible = c.reproducible != 0};
}

/// Why a function has only some of the options.
struct FixedOptions {
  const char* axes;          ///< of `axis` and `axes`
  const char* algorithm;     ///< why it can't be chosen
  const char* reproducible;  ///< why it isn't possible
};

/// The options of a function that has only the scale and empty_rows. The others must have their
/// defaults.
inline Options cpp_options(const Callee& callee, const kokkossoftmax_options* options,
                           const FixedOptions& why) {
  const Options cpp = cpp_options(callee, options);
  if (cpp.axis != Options{}.axis)
    throw_invalid(callee, "options.axis = ", cpp.axis, " is given (", why.axes,
                  "): leave it at its default");
  if (!cpp.axes.empty())
    throw_invalid(callee, "options.axes is given (", why.axes, "): set it to NULL");
  if (cpp.algorithm != Algorithm::automatic)
    throw_invalid(callee, "options.algorithm = ", options->algorithm, ", ",
                  to_string(cpp.algorithm), ", can't be chosen (", why.algorithm,
                  "): leave it at its default");
  if (cpp.reproducible)
    throw_invalid(callee, "options.reproducible = ", options->reproducible, " is not possible (",
                  why.reproducible, "): set it to 0");
  return cpp;
}

}  // namespace KokkosSoftmax::Impl

#endif
