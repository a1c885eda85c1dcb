# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# GTest::gtest and GTest::gtest_main: the installed GoogleTest, else a pinned release.
include_guard(DIRECTORY)
find_package(GTest 1.12 CONFIG QUIET) # unit_tests/main.cpp uses GTEST_FLAG_GET. FindGTest checks no version
if(NOT TARGET GTest::gtest)
  message(STATUS "GoogleTest 1.12 or later was not found: downloading release 1.15.2 (some seconds; without a "
    "network install libgtest-dev or set GTest_ROOT)")
  include(FetchContent)
  if(POLICY CMP0135)
    cmake_policy(SET CMP0135 NEW)
  endif()
  FetchContent_Declare(googletest
    URL https://github.com/google/googletest/releases/download/v1.15.2/googletest-1.15.2.tar.gz
    URL_HASH SHA256=7b42b4d6ed48810c5362c265a17faebe90dc2373c885e5216439d37927f02926)
  set(INSTALL_GTEST OFF)
  set(BUILD_GMOCK OFF)
  FetchContent_MakeAvailable(googletest)
endif()
