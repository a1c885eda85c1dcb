# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Run by `cmake --install`, because only then the prefix is known (--prefix may differ from the configured one).
# Writes the prefix into the installed _kokkossoftmax_pc relative to that file, and paths within the prefix relative
# to the prefix. This includes Kokkos, because the prefix may be moved as a whole.
get_filename_component(_kokkossoftmax_prefix "${CMAKE_INSTALL_PREFIX}" ABSOLUTE) # --prefix can be relative
get_filename_component(_kokkossoftmax_pc "${_kokkossoftmax_pc}" ABSOLUTE BASE_DIR "${_kokkossoftmax_prefix}")
get_filename_component(_kokkossoftmax_dir "${_kokkossoftmax_pc}" DIRECTORY)
file(RELATIVE_PATH _kokkossoftmax_up "${_kokkossoftmax_dir}" "${_kokkossoftmax_prefix}")
string(REGEX REPLACE "/$" "" _kokkossoftmax_up "${_kokkossoftmax_up}")
file(READ "$ENV{DESTDIR}${_kokkossoftmax_pc}" _kokkossoftmax_text)
string(REPLACE "dir=${_kokkossoftmax_prefix}/" "dir=\${prefix}/" _kokkossoftmax_text "${_kokkossoftmax_text}")
string(REGEX REPLACE "(^|\n)prefix=[^\n]*" "\\1prefix=\${pcfiledir}/${_kokkossoftmax_up}" _kokkossoftmax_text
  "${_kokkossoftmax_text}")
file(WRITE "$ENV{DESTDIR}${_kokkossoftmax_pc}" "${_kokkossoftmax_text}")
