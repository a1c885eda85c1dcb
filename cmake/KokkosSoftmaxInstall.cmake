# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The files that `cmake --install` installs: the library, its headers, a CMake package and a pkg-config file. The
# installed files can be moved together.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
include("${CMAKE_CURRENT_LIST_DIR}/KokkosSoftmaxPkgConfig.cmake")

set(_kokkossoftmax_package "${CMAKE_INSTALL_LIBDIR}/cmake/KokkosSoftmax")
set(_kokkossoftmax_generated "${PROJECT_BINARY_DIR}/package")

# ---- The library. A shared library searches a shared Kokkos in its own directory, and in the present directory of
# Kokkos.
get_target_property(_kokkossoftmax_type kokkossoftmax TYPE)
if(_kokkossoftmax_type STREQUAL "SHARED_LIBRARY")
  if(NOT DEFINED CMAKE_INSTALL_RPATH)
    set_target_properties(kokkossoftmax PROPERTIES INSTALL_RPATH "$<IF:$<PLATFORM_ID:Darwin>,@loader_path,$ORIGIN>")
  endif()
  if(NOT DEFINED CMAKE_INSTALL_RPATH_USE_LINK_PATH)
    set_target_properties(kokkossoftmax PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  endif()
endif()
install(TARGETS kokkossoftmax EXPORT KokkosSoftmaxTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

# ---- The headers
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" "${PROJECT_BINARY_DIR}/include/"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
if(KokkosSoftmax_CUDA13_COMPAT)
  install(FILES "${KokkosSoftmax_CUDA13_COMPAT}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/impl")
  set(_kokkossoftmax_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
  if(NOT IS_ABSOLUTE "${_kokkossoftmax_includedir}")
    set(_kokkossoftmax_includedir "$<INSTALL_PREFIX>/${_kokkossoftmax_includedir}")
  endif()
  target_compile_options(kokkossoftmax INTERFACE "$<INSTALL_INTERFACE:$<$<COMPILE_LANGUAGE:CXX,CUDA>:\
SHELL:-include \"${_kokkossoftmax_includedir}/impl/KokkosSoftmaxCuda13Compat.hpp\">>")
endif()

# ---- The CMake package
get_target_property(_kokkossoftmax_spaces kokkossoftmax KOKKOSSOFTMAX_SPACES)
list(JOIN _kokkossoftmax_spaces ", " _kokkossoftmax_spaces_text)
list(JOIN Kokkos_DEVICES ", " _kokkossoftmax_devices_text)
get_target_property(_kokkossoftmax_linker kokkossoftmax LINKER_LANGUAGE)
if(NOT _kokkossoftmax_linker)
  set(_kokkossoftmax_linker CXX)
endif()
configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/KokkosSoftmaxConfig.cmake.in" "${_kokkossoftmax_generated}/KokkosSoftmaxConfig.cmake"
  INSTALL_DESTINATION "${_kokkossoftmax_package}"
  NO_SET_AND_CHECK_MACRO)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(_kokkossoftmax_compatibility SameMinorVersion)
else()
  set(_kokkossoftmax_compatibility SameMajorVersion)
endif()
write_basic_package_version_file("${_kokkossoftmax_generated}/KokkosSoftmaxConfigVersion.cmake"
  COMPATIBILITY ${_kokkossoftmax_compatibility})
install(EXPORT KokkosSoftmaxTargets NAMESPACE KokkosSoftmax:: DESTINATION "${_kokkossoftmax_package}")
install(FILES
  "${_kokkossoftmax_generated}/KokkosSoftmaxConfig.cmake"
  "${_kokkossoftmax_generated}/KokkosSoftmaxConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/KokkosSoftmaxUsers.cmake"
  DESTINATION "${_kokkossoftmax_package}")

# ---- The pkg-config file
kokkossoftmax_make_pkg_config("${CMAKE_CURRENT_LIST_DIR}/kokkossoftmax.pc.in"
  "${_kokkossoftmax_generated}/kokkossoftmax.pc" _kokkossoftmax_made)
if(_kokkossoftmax_made)
  install(FILES "${_kokkossoftmax_generated}/kokkossoftmax.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  install(CODE "set(_kokkossoftmax_pc [[${CMAKE_INSTALL_LIBDIR}/pkgconfig/kokkossoftmax.pc]])")
  install(SCRIPT "${CMAKE_CURRENT_LIST_DIR}/KokkosSoftmaxPkgConfigPrefix.cmake")
endif()
