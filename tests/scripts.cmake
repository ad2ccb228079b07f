# Lua scripts, each run by the program and by a stock interpreter: those of tests/shell, and the
# acceptance scripts, which are outside the repository and may be missing.
find_program(LUA_INTERPRETER lua5.4 REQUIRED)
set(CRESCENT_LUA_COMMAND "${LUA_INTERPRETER}")

# The runtime library of a sanitizer must be loaded first in a process that was not built with it.
if(CRESCENT_SANITIZE MATCHES "address|thread")
  string(REPLACE "address" "asan" library "lib${CMAKE_MATCH_0}.so")
  string(REPLACE "thread" "tsan" library "${library}")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${library}
    OUTPUT_VARIABLE run_time OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.so
    OUTPUT_VARIABLE standard_library OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(CRESCENT_LUA_COMMAND env "LD_PRELOAD=${run_time} ${standard_library}" "${LUA_INTERPRETER}")
endif()

# Adds the tests NAME.crescent and NAME.lua5.4; a BEFORE command gets the interpreter and the script
# as arguments.
function(crescent_add_script name)
  cmake_parse_arguments(PARSE_ARGV 1 script "" "FILE" "BEFORE")
  if(TARGET crescent_program)
    crescent_register_test(${name}.crescent LABELS shell
      COMMAND ${script_BEFORE} $<TARGET_FILE:crescent_program> ${script_FILE})
    crescent_register_test(${name}.lua5.4 LABELS shell
      COMMAND ${script_BEFORE} ${CRESCENT_LUA_COMMAND} ${script_FILE})
  endif()
endfunction()

file(GLOB scripts CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/shell/*.lua"
  "${CMAKE_CURRENT_SOURCE_DIR}/shell/*/*.lua")
list(FILTER scripts EXCLUDE REGEX "/shell/support/")
foreach(script IN LISTS scripts)
  cmake_path(GET script STEM name)
  crescent_add_script(shell.${name} FILE "${script}")
endforeach()
if(TARGET crescent_program)  # times how long a script waits for a step
  set_tests_properties(shell.fit_async_entries.crescent shell.fit_async_entries.lua5.4 PROPERTIES
    RUN_SERIAL ON)
endif()

set(shared "$ENV{CRESCENT_SHARED}")
if(NOT shared)
  set(shared "${PROJECT_SOURCE_DIR}/../shared")
endif()
file(GLOB scripts CONFIGURE_DEPENDS "${shared}/acceptance/[0-9]*.lua")
foreach(script IN LISTS scripts)
  cmake_path(GET script STEM name)
  crescent_add_script(acceptance.${name} BEFORE "${CRESCENT_WITH_SHARED}" acceptance/${name}.lua)
endforeach()
if(NOT scripts)
  crescent_register_test(acceptance COMMAND "${CRESCENT_WITH_SHARED}" acceptance false)
endif()
