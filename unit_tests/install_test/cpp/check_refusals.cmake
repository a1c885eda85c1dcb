# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Included by CMakeLists.txt after the package was found. Checks that components and versions that the package doesn't
# provide are not found.
find_package(KokkosSoftmax 0.1 QUIET COMPONENTS Nowhere)
if(KokkosSoftmax_FOUND OR NOT KokkosSoftmax_NOT_FOUND_MESSAGE MATCHES "no component Nowhere \\(it was built for")
  message(FATAL_ERROR "The component Nowhere was not refused with a reason (the message was "
    "'${KokkosSoftmax_NOT_FOUND_MESSAGE}'); mend KokkosSoftmaxConfig.cmake.in.")
endif()
foreach(version IN ITEMS 0.0 0.2 1.0)
  find_package(KokkosSoftmax ${version} QUIET)
  if(KokkosSoftmax_FOUND)
    message(FATAL_ERROR "Version ${KokkosSoftmax_VERSION} was found for ${version} (before 1.0 each minor version has "
      "an interface of its own); mend the package's version file.")
  endif()
endforeach()
