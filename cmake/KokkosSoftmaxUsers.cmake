# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles the targets that link KokkosSoftmax::kokkossoftmax as its Kokkos requires. This file is installed with the
# package. A Kokkos with CUDA gives its users options that only nvcc knows, and CMake has no usage requirement that
# names a compiler. So the library's target has these properties, which its users get when their directory is
# complete:
#   RULE_LAUNCH_COMPILE, RULE_LAUNCH_LINK   Kokkos' launch compiler, which redirects g++ to nvcc_wrapper
#   KOKKOSSOFTMAX_USERS_LANGUAGE            CUDA or HIP, if Kokkos is compiled as a language of CMake
# All other targets stay as they are. With other builds of Kokkos, nothing has to be done.
include_guard(GLOBAL)

# kokkossoftmax_how_to_compile(<launcher> <compiler is nvcc>): whether the C++ code of Kokkos' users must be compiled
# through Kokkos' launch compiler, and whether CMAKE_CXX_COMPILER is nvcc_wrapper. Kokkos must have been found, with
# CUDA.
function(kokkossoftmax_how_to_compile launcher compiler_is_nvcc)
  kokkos_compiler_is_nvcc(is_nvcc "${CMAKE_CXX_COMPILER}")
  set(${compiler_is_nvcc} ${is_nvcc} PARENT_SCOPE)
  if(is_nvcc OR Kokkos_COMPILE_LANGUAGE STREQUAL "CUDA" OR Kokkos_CXX_COMPILER_ID STREQUAL "Clang")
    set(${launcher} FALSE PARENT_SCOPE)
  else()
    set(${launcher} TRUE PARENT_SCOPE)
  endif()
endfunction()

# kokkossoftmax_compile_users(<directory>): does this at the end of <directory>, for it and all directories below. One
# call is enough.
function(kokkossoftmax_compile_users directory)
  get_property(is_deferred DIRECTORY "${directory}" PROPERTY KOKKOSSOFTMAX_COMPILES_USERS)
  if(NOT is_deferred)
    set_property(DIRECTORY "${directory}" PROPERTY KOKKOSSOFTMAX_COMPILES_USERS TRUE)
    cmake_language(DEFER DIRECTORY "${directory}" CALL _kokkossoftmax_compile_users_here)
  endif()
endfunction()

function(_kokkossoftmax_compile_users_here)
  get_property(rule TARGET KokkosSoftmax::kokkossoftmax PROPERTY RULE_LAUNCH_COMPILE)
  get_property(language TARGET KokkosSoftmax::kokkossoftmax PROPERTY KOKKOSSOFTMAX_USERS_LANGUAGE)
  if(rule OR language)
    _kokkossoftmax_compile_users_below("${CMAKE_CURRENT_SOURCE_DIR}" "${language}")
  endif()
endfunction()

function(_kokkossoftmax_compile_users_below directory language)
  get_property(targets DIRECTORY "${directory}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type MATCHES "^(EXECUTABLE|(STATIC|SHARED|MODULE|OBJECT)_LIBRARY)$")
      _kokkossoftmax_is_user(is_user ${target})
      if(is_user AND language)
        _kokkossoftmax_set_language(${target} ${language})
      elseif(is_user)
        _kokkossoftmax_set_launcher(${target})
      endif()
    endif()
  endforeach()
  get_property(subdirectories DIRECTORY "${directory}" PROPERTY SUBDIRECTORIES)
  foreach(subdirectory IN LISTS subdirectories)
    _kokkossoftmax_compile_users_below("${subdirectory}" "${language}")
  endforeach()
endfunction()

# Whether a target links the library, directly or through other targets. Every name in a generator expression counts
# as linked. This is harmless, because the launch compiler changes only commands that have Kokkos' options.
function(_kokkossoftmax_is_user result target)
  set(open ${target})
  set(seen "")
  set(property LINK_LIBRARIES)
  set(${result} FALSE PARENT_SCOPE)
  while(open)
    list(POP_FRONT open next)
    get_target_property(aliased ${next} ALIASED_TARGET)
    if(aliased)
      set(next ${aliased})
    endif()
    if(next MATCHES "^(KokkosSoftmax::)?kokkossoftmax$" AND NOT next STREQUAL target)
      set(${result} TRUE PARENT_SCOPE)
      return()
    endif()
    list(APPEND seen "${next}")
    get_target_property(libraries ${next} ${property})
    set(property INTERFACE_LINK_LIBRARIES) # of all targets except the first
    string(REGEX MATCHALL "([^$<>:,;]|::)+" names "${libraries}")
    foreach(name IN LISTS names)
      if(TARGET "${name}" AND NOT "${name}" IN_LIST seen)
        list(APPEND open "${name}")
      endif()
    endforeach()
  endwhile()
endfunction()

# kokkossoftmax_clear_launchers(<target>): a launcher such as ccache would hide the compiler from Kokkos' launch compiler,
# which would then not replace it by nvcc.
function(kokkossoftmax_clear_launchers target)
  foreach(kind IN ITEMS COMPILER LINKER)
    get_property(launcher TARGET ${target} PROPERTY CXX_${kind}_LAUNCHER)
    if(launcher)
      message(STATUS "The target ${target} gets nvcc by Kokkos' launch compiler, without the CXX_${kind}_LAUNCHER ${launcher}")
      set_property(TARGET ${target} PROPERTY CXX_${kind}_LAUNCHER "")
    endif()
  endforeach()
endfunction()

# A rule that the target already has (as with COMMAND_PREFIX of kokkos_compilation) comes first, unless it is this
# rule.
function(_kokkossoftmax_set_launcher target)
  kokkossoftmax_clear_launchers(${target})
  foreach(step IN ITEMS COMPILE LINK)
    get_property(rule TARGET KokkosSoftmax::kokkossoftmax PROPERTY RULE_LAUNCH_${step})
    get_property(present TARGET ${target} PROPERTY RULE_LAUNCH_${step})
    if(NOT present)
      set_property(TARGET ${target} PROPERTY RULE_LAUNCH_${step} "${rule}")
    elseif(NOT present MATCHES "kokkos_launch_compiler")
      set_property(TARGET ${target} PROPERTY RULE_LAUNCH_${step} "${present} ${rule}")
    endif()
  endforeach()
endfunction()

# Sets the language of all C++ sources of the target. If the target already has a source in that language, nothing is
# changed: then the project has made its own choice.
function(_kokkossoftmax_set_language target language)
  get_target_property(sources ${target} SOURCES)
  get_target_property(source_dir ${target} SOURCE_DIR)
  get_target_property(binary_dir ${target} BINARY_DIR)
  set(cxx_sources "")
  foreach(source IN LISTS sources)
    if(source MATCHES "\\$<")
      continue()
    endif()
    get_filename_component(path "${source}" ABSOLUTE BASE_DIR "${source_dir}")
    if(NOT EXISTS "${path}")
      get_filename_component(path "${source}" ABSOLUTE BASE_DIR "${binary_dir}")
    endif()
    get_source_file_property(chosen "${path}" TARGET_DIRECTORY ${target} LANGUAGE)
    if(chosen STREQUAL language OR path MATCHES "\\.(cu|hip)$")
      return()
    endif()
    if(chosen STREQUAL "CXX" OR (NOT chosen AND path MATCHES "\\.(C|cc|cpp|CPP|cxx|c\\+\\+)$"))
      list(APPEND cxx_sources "${path}")
    endif()
  endforeach()
  if(NOT cxx_sources)
    return()
  endif()
  if(NOT CMAKE_${language}_COMPILE_OBJECT)
    message(SEND_ERROR "The target ${target} links KokkosSoftmax, whose Kokkos is compiled as ${language} (and the "
      "language is not enabled in ${CMAKE_CURRENT_SOURCE_DIR}); call enable_language(${language}) there first.")
  endif()
  set_source_files_properties(${cxx_sources} TARGET_DIRECTORY ${target} PROPERTIES LANGUAGE ${language})
  get_property(has_architectures TARGET ${target} PROPERTY ${language}_ARCHITECTURES SET)
  if(NOT has_architectures) # the target was added before the language was enabled
    set_property(TARGET ${target} PROPERTY ${language}_ARCHITECTURES ${CMAKE_${language}_ARCHITECTURES})
  endif()
endfunction()
