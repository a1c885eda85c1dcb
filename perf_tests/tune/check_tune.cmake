# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake -DTUNE=... -DSWEEP=... -DDIR=... -P check_tune.cmake
# Interrupts a search, resumes it, and checks that the library then uses its table.
set(table "${DIR}/tuning.table")
file(REMOVE_RECURSE "${DIR}")
file(MAKE_DIRECTORY "${DIR}")
unset(ENV{KOKKOSSOFTMAX_TUNING})

# run(<output variable> <command>...)
function(run output)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN} ended with ${status}:\n${out}\n${err}")
  endif()
  set(${output} "${out}" PARENT_SCOPE)
endfunction()
function(expect text pattern)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "no \"${pattern}\" in:\n${text}")
  endif()
endfunction()

set(search "${TUNE}" --operations=softmax --types=double --columns=16,48 --rows=32 --axes=1
  --working-set-mib=0.1 "--output=${table}")

run(text ${search} --algorithms=subgroup,online)
file(READ "${table}.csv" text)
expect("${text}" "online{")
if(text MATCHES "(fused|split|host)[a-z_]*{")
  message(FATAL_ERROR "a schedule that wasn't asked for in:\n${text}")
endif()
file(REMOVE "${table}" "${table}.csv")

run(text ${search} --elements=512 --next=1)
file(READ "${table}.csv" text)
expect("${text}" "softmax,double,1,32,16,\"[^\"]*\",[^,]*,right\nsoftmax,double,1,10,48,\"[^\"]*\",[^,]*,right\n$")
file(REMOVE "${table}" "${table}.csv")

run(text "${TUNE}" --list)
expect("${text}" "logsumexp float online{")

run(text ${search} --stop-after=3)
expect("${text}" " 0 made before.* left: go on with --resume")
if(EXISTS "${table}")
  message(FATAL_ERROR "an interrupted search has written ${table}")
endif()

file(APPEND "${table}.csv" "softmax,double,1,32,48,\"onl") # cut off
run(text ${search} --resume)
expect("${text}" " 3 made before")
file(READ "${table}" text)
expect("${text}" "softmax double 0-16 \\* ")
expect("${text}" "softmax double 17-\\* \\* ")
file(READ "${table}.csv" text)
string(REGEX MATCHALL ",right\n" right "${text}")
list(LENGTH right count)

run(text ${search} --resume)
expect("${text}" "${count} measurements, ${count} made before")

run(text ${search} --resume --margin=1000000)
file(READ "${table}" text)
if(text MATCHES "\nsoftmax double")
  message(FATAL_ERROR "a line that can't be worth it in:\n${text}")
endif()
run(text ${search} --resume)

set(list "${SWEEP}" --list --dtype=double --shapes=32x48 --algorithms=library)
run(text ${list})
expect("${text}" "own/double/library/32x48.*(\\(rule\\)|sm_[0-9]+.table)")
set(ENV{KOKKOSSOFTMAX_TUNING} "${table}")
run(text ${list})
expect("${text}" "own/double/library/32x48.*tuning.table:[0-9]+: columns 17-\\*, rows \\*")
