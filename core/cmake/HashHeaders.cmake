# Writes OUTPUT, a header with the hash of all headers in the folder HEADERS and below it: their
# names and contents in alphabetical order. A file that would stay the same is left alone.
#   cmake -D HEADERS=core/include/crescent -D OUTPUT=headers_hash.h -P HashHeaders.cmake
file(GLOB_RECURSE headers RELATIVE "${HEADERS}" "${HEADERS}/*.h")
set(contents "")
foreach(header IN LISTS headers)
  file(SHA256 "${HEADERS}/${header}" hash)
  string(APPEND contents "${header} ${hash}\n")
endforeach()
string(SHA256 hash "${contents}")
string(SUBSTRING "${hash}" 0 16 hash)
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT
"// Written by the build (HashHeaders.cmake): the first 64 bits of a hash of the public headers.
#pragma once
#define CRESCENT_HEADERS_HASH 0x${hash}ull
")
