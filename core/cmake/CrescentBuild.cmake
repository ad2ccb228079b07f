# The settings of all targets: language, compiler flags, and the folders of the output (bin, lib,
# lib/crescent/plugins, lib/lua/5.4). The build folder has the same folders as an installation, so
# that libcrescent.so finds plugins and programs relative to itself in both.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# No -march, so that the result runs on every x86-64 or aarch64 machine. Programs choose SIMD
# instructions at run time.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
add_compile_options(-Wall -Wextra)
# Makes the bytes of the output independent of the folder of the sources.
add_compile_options("-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.")
# GCC 12 warns without reason of uninitialised memory when a std::variant is moved (as in every
# vector of Values), and of an overrun when text is appended to a std::string.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-maybe-uninitialized -Wno-array-bounds -Wno-restrict)
endif()

# By default, GCC spends a tenth of its time on garbage collection. A larger heap avoids this.
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

# Build folder and installation use the same relative library search path. CMake adds the folders of
# libraries in unusual places (the serial OpenBLAS) to it, except the following folders of Debian:
# they contain only links for compilers, and the libraries themselves lie where the dynamic linker
# looks.
list(APPEND CMAKE_PLATFORM_IMPLICIT_LINK_DIRECTORIES
  "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/hdf5/serial"
  "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi/lib")
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")

# Precompiled headers: headers that nearly every source includes are parsed once and not once for
# each source. A target uses them by crescent_precompile. plugin.h is not among them, because the
# stamp in it changes with every public header.
set(CRESCENT_COMMON_HEADERS <algorithm> <functional> <map> <mutex> <set> <unordered_map>
  <crescent/layer/layer.h>)
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/empty.cpp" CONTENT "")
add_library(common_headers OBJECT EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/empty.cpp")
target_include_directories(common_headers PRIVATE "${PROJECT_SOURCE_DIR}/core/include")
target_precompile_headers(common_headers PRIVATE ${CRESCENT_COMMON_HEADERS})

function(crescent_precompile target)
  target_precompile_headers(${target} REUSE_FROM common_headers)
endfunction()

# Unity build: the sources of a folder are compiled together in groups of about 32 KiB. This halves
# the time, because small sources take the compiler less time than their headers. The files of a
# group share one unnamed namespace, so no two files of a folder may define the same name in it.
# Builds with the address sanitizer compile each source by itself, so that missing includes are
# found.
function(crescent_compile_together target)
  crescent_precompile(${target})
  crescent_group_sources(${target})
endfunction()

# The same for a target that does not use these precompiled headers.
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

# Adds a program that other parts of Crescent start, such as the file reader. It is installed in
# lib/crescent.
function(crescent_add_helper name)
  add_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/${CRESCENT_HELPER_DIR}"
    INSTALL_RPATH "$ORIGIN/..")
  install(TARGETS ${name} RUNTIME DESTINATION ${CRESCENT_HELPER_DIR})
endfunction()
