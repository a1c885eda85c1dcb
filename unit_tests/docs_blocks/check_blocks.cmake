# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DSOURCE=... -DWORK=... -DCXX=... -DCC=... -DCXX_FLAGS=... -DC_FLAGS=... -P check_blocks.cmake
# Compiles all blocks of C++ and C in README.md and docs/*.md, and doesn't link or run them. Errors are reported at the
# lines of the pages.
#
# All blocks of a language are in one source, because the headers take longer to compile than the blocks. Each block of C++
# has a namespace of its own. A block with `int main` is a program and stands there as it is. The lines of any other block
# are the body of a function, after those of a context: contexts/default.hpp (C: default.h), or contexts/NAME.hpp if this
# comment is directly above the block:
#
#   <!-- context: NAME -->
#
# contexts/NAME_declarations.hpp, if it exists, has what can't stand in a function. Lines with #include are moved to the top.
cmake_minimum_required(VERSION 3.22)

set(contexts "${CMAKE_CURRENT_LIST_DIR}/contexts")
set(includes "#include <KokkosSoftmax.hpp>\n#include <cstdio>\n#include <iostream>\n")
set(c_includes "#include <kokkossoftmax.h>\n#include <stdio.h>\n")
set(blocks "")
set(c_blocks "")
set(count 0)

# add_block(<language> <context> <page> <line> <text>) appends a block, whose first line has this number, to the source of its
# language.
function(add_block language context page line text)
  math(EXPR number "${count} + 1")
  string(REGEX MATCH "(^|\n)int main *\\(" is_program "${text}")
  if(is_program AND context)
    message(FATAL_ERROR "${page}:${line}: the block is a program and has a context (which it can't see): remove the comment.")
  endif()
  # An empty line is left where an #include was, so that the numbers of the lines stay right.
  string(REGEX MATCHALL "(^|\n)#include [^\n]*" found "${text}")
  string(REGEX REPLACE "(^|\n)#include [^\n]*" "\\1" text "${text}")
  list(JOIN found "\n" found)
  set(lines "#line ${line} \"${page}\"\n${text}\n#line 1 \"around ${page}:${line}\"\n")

  if(language STREQUAL "c")
    set(extension h)
  else()
    set(extension hpp)
  endif()
  if(NOT context)
    set(context default)
  endif()
  set(file "${contexts}/${context}.${extension}")
  if(NOT is_program AND NOT EXISTS "${file}")
    message(FATAL_ERROR "${page}:${line}: there is no context ${context} (no file ${file}): add it.")
  endif()

  set(result "")
  if(language STREQUAL "c")
    if(is_program)
      string(APPEND result "#define main main_${number}\n${lines}#undef main\n")
    else()
      string(APPEND result "void block_${number}(void);\nvoid block_${number}(void) {\n#include \"${file}\"\n{\n${lines}}\n}\n")
    endif()
    set(c_includes "${c_includes}${found}\n" PARENT_SCOPE)
    set(c_blocks "${c_blocks}\n${result}" PARENT_SCOPE)
  else()
    string(APPEND result "namespace block_${number} {\n")
    if(is_program)
      string(APPEND result "${lines}")
    else()
      if(EXISTS "${contexts}/${context}_declarations.hpp")
        string(APPEND result "#include \"${contexts}/${context}_declarations.hpp\"\n")
      endif()
      string(APPEND result "void block() {\n#include \"${file}\"\n{\n${lines}}\n}\n")
    endif()
    string(APPEND result "}  // namespace block_${number}\n")
    set(includes "${includes}${found}\n" PARENT_SCOPE)
    set(blocks "${blocks}\n${result}" PARENT_SCOPE)
  endif()
  set(count ${number} PARENT_SCOPE)
endfunction()

# count_lines(<variable> <text>) counts the ends of lines.
function(count_lines variable text)
  string(REGEX REPLACE "[^\n]" "" ends "${text}")
  string(LENGTH "${ends}" length)
  set(${variable} ${length} PARENT_SCOPE)
endfunction()

# add_page(<page>) adds the blocks of a page. All other blocks (```cmake, ```) are passed over.
function(add_page page)
  file(READ "${SOURCE}/${page}" text)
  string(PREPEND text "\n") # so that each fence has an end of a line before it
  set(line 0)
  if(text MATCHES "\n[ \t]+```(cpp|c)\n")
    message(FATAL_ERROR "${page} has a block of ${CMAKE_MATCH_1} that is indented (this test would not find it): don't indent it.")
  endif()
  while(TRUE)
    string(FIND "${text}" "\n```" begin)
    if(begin EQUAL -1)
      break()
    endif()
    string(SUBSTRING "${text}" 0 ${begin} before)
    math(EXPR begin "${begin} + 4")
    string(SUBSTRING "${text}" ${begin} -1 text)
    string(FIND "${text}" "\n" end)
    string(SUBSTRING "${text}" 0 ${end} language)
    math(EXPR end "${end} + 1")
    string(SUBSTRING "${text}" ${end} -1 text)
    count_lines(lines "${before}")
    math(EXPR line "${line} + ${lines} + 2") # of the first line in the block
    string(FIND "\n${text}" "\n```" end)
    if(end EQUAL -1)
      message(FATAL_ERROR "${page}:${line}: the block has no end (no line with ```): add one.")
    endif()
    string(SUBSTRING "${text}" 0 ${end} block)
    if(language MATCHES "^(cpp|c)$")
      set(context "")
      if(before MATCHES "\n<!-- context: ([a-z_]+) -->$")
        set(context "${CMAKE_MATCH_1}")
      endif()
      add_block("${language}" "${context}" "${page}" ${line} "${block}")
    elseif(before MATCHES "\n<!-- context: ([a-z_]+) -->$")
      message(FATAL_ERROR "${page}:${line}: the block has a context (which is for C++ and C alone): remove the comment.")
    endif()
    count_lines(lines "${block}")
    math(EXPR line "${line} + ${lines}")
    math(EXPR end "${end} + 3")
    string(SUBSTRING "${text}" ${end} -1 text)
  endwhile()
  foreach(variable includes blocks c_includes c_blocks count)
    set(${variable} "${${variable}}" PARENT_SCOPE)
  endforeach()
endfunction()

# compile(<compiler> <flags> <file> <text>) compiles the text, after it has written it to the file.
function(compile compiler flags file text)
  file(WRITE "${WORK}/${file}" "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n${text}")
  execute_process(COMMAND ${compiler} ${flags} -c "${WORK}/${file}" -o "${WORK}/${file}.o"
    RESULT_VARIABLE failed ERROR_VARIABLE message)
  if(failed)
    message("${message}") # as it is; after FATAL_ERROR, its lines would be broken
    message(FATAL_ERROR "blocks of the pages don't compile (the lines are those of the pages; the source is ${WORK}/${file}): "
      "correct the blocks, or give them the context that they need (see check_blocks.cmake).")
  endif()
endfunction()

file(GLOB pages RELATIVE "${SOURCE}" "${SOURCE}/README.md" "${SOURCE}/docs/*.md")
foreach(page IN LISTS pages)
  add_page("${page}")
endforeach()
if(NOT blocks OR NOT c_blocks)
  message(FATAL_ERROR "${SOURCE}/README.md and docs/*.md have no blocks of C++ or C (or this script doesn't find them).")
endif()
compile("${CXX}" "${CXX_FLAGS}" blocks.cpp "${includes}${blocks}")
compile("${CC}" "${C_FLAGS}" blocks.c "${c_includes}${c_blocks}")
message(STATUS "${count} blocks compile")
