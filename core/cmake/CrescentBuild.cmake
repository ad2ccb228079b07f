# What every target of this tree shares: language, flags, and the shape of the output, which is the
# shape of the installed tree (bin, lib, lib/crescent/plugins, lib/lua/5.4), so that both are found
# the same way: relative to libcrescent.so.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Any x86-64 or aarch64 machine runs the result: SIMD is chosen at run time, never by -march.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
add_compile_options(-Wall -Wextra)
# What is built in another folder has the same bytes.
add_compile_options("-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.")
# GCC 12 takes a moved std::variant for uninitialised memory, which every Value in a vector would
# say, and a std::string that is appended to for one that is overrun.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-maybe-uninitialized -Wno-array-bounds -Wno-restrict)
endif()

# A tenth of GCC's time was spent collecting garbage that fits into memory.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=524288>)
endif()

if(CRESCENT_SANITIZE)
  add_compile_options(-fsanitize=${CRESCENT_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${CRESCENT_SANITIZE})
  if(CRESCENT_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()

set(CRESCENT_LIB_DIR lib)
set(CRESCENT_PLUGIN_DIR lib/crescent/plugins)
set(CRESCENT_HELPER_DIR lib/crescent)
set(CRESCENT_LUA_DIR lib/lua/5.4)
set(CRESCENT_CMAKE_DIR lib/cmake/Crescent)
set(CRESCENT_PLUGIN_OUTPUT_DIR "${CMAKE_BINARY_DIR}/${CRESCENT_PLUGIN_DIR}")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/${CRESCENT_LIB_DIR}")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/${CRESCENT_LIB_DIR}")

# One relative search path for build and installed tree; folders of libraries that are linked from
# unusual places (the serial OpenBLAS) are added by CMake. In these folders of Debian are links for
# compilers; the libraries themselves lie where the loader looks.
list(APPEND CMAKE_PLATFORM_IMPLICIT_LINK_DIRECTORIES
  "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/hdf5/serial"
  "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi/lib")
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")

# Headers that nearly every source includes are parsed once, not once a source: a target takes them
# with crescent_precompile. plugin.h is not among them: the stamp in it changes with every public
# header. The builds with sanitizers do without, so that a source which forgets an include is found
# there.
set(CRESCENT_COMMON_HEADERS <algorithm> <functional> <map> <mutex> <set> <unordered_map>
  <crescent/layer/layer.h>)
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/empty.cpp" CONTENT "")
add_library(common_headers OBJECT EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/empty.cpp")
target_include_directories(common_headers PRIVATE "${PROJECT_SOURCE_DIR}/core/include")
target_precompile_headers(common_headers PRIVATE ${CRESCENT_COMMON_HEADERS})

function(crescent_precompile target)
  target_precompile_headers(${target} REUSE_FROM common_headers)
endfunction()

# Small sources cost the compiler more for what their headers hold than for what they hold: those of
# a folder are compiled together, some 32 KiB at a time, in half of the time. So the unnamed
# namespaces of a folder's files are one, and no name stands in two of them. The builds with
# sanitizers compile each source by itself, for the sake of its includes.
function(crescent_compile_together target)
  crescent_precompile(${target})
  crescent_group_sources(${target})
endfunction()

# The same of a program that has headers of its own.
function(crescent_group_sources target)
  if(CRESCENT_SANITIZE MATCHES address)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT DEFINED bytes_${folder})
      set(bytes_${folder} 0)
    endif()
    math(EXPR group "${bytes_${folder}} / 32768")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${folder}_${group})
    file(SIZE "${source}" bytes)
    math(EXPR bytes_${folder} "${bytes_${folder}} + ${bytes}")
  endforeach()
endfunction()

# A program that another part of Crescent starts (the file reader, for one); it lives in
# lib/crescent.
function(crescent_add_helper name)
  add_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/${CRESCENT_HELPER_DIR}"
    INSTALL_RPATH "$ORIGIN/..")
  install(TARGETS ${name} RUNTIME DESTINATION ${CRESCENT_HELPER_DIR})
endfunction()
