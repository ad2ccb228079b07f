# The hash in the stamps of plugins must change with every change of a declaration in the public
# headers, and must be the same for the same declarations.
#   cmake -D SOURCE=folder -D STAMP=crescent-stamp -D BUILT=headers_hash.h -P headers_hash.cmake
set(copy "${CMAKE_CURRENT_BINARY_DIR}/headers_hash.copy")
file(REMOVE_RECURSE "${copy}")

function(hash_of result)
  execute_process(COMMAND "${STAMP}" "${copy}/crescent" "${copy}/hash.h"
    COMMAND_ERROR_IS_FATAL ANY)
  file(STRINGS "${copy}/hash.h" line REGEX "CRESCENT_HEADERS_HASH")
  set(${result} "${line}" PARENT_SCOPE)
endfunction()

# The copy is what is installed: with the written header and the headers that only include others.
file(COPY "${SOURCE}/core/include/crescent" "${SOURCE}/core/include/forwards/crescent"
  DESTINATION "${copy}")
file(COPY "${BUILT}" DESTINATION "${copy}/crescent")
hash_of(same)
file(STRINGS "${BUILT}" built REGEX "CRESCENT_HEADERS_HASH")
if(NOT same STREQUAL built OR NOT same MATCHES "0x[0-9a-f]+ull")
  message(FATAL_ERROR "expected ${built}, as built, got ${same}")
endif()

file(APPEND "${copy}/crescent/base/value.h" "\n// A comment.\n")
hash_of(commented)
if(NOT same STREQUAL commented)
  message(FATAL_ERROR "a comment changes the hash: ${same}, ${commented}")
endif()
file(APPEND "${copy}/crescent/base/value.h" "struct Another {};\n")
hash_of(longer)
file(COPY "${SOURCE}/core/include/crescent/base/value.h" DESTINATION "${copy}/crescent/base")
file(WRITE "${copy}/crescent/new.h" "#pragma once\n#include \"crescent/base/value.h\"\n")
hash_of(forwarded)
file(WRITE "${copy}/crescent/new.h" "struct Another {};\n")
hash_of(more)
file(REMOVE "${copy}/crescent/new.h")
hash_of(restored)
if(same STREQUAL longer OR same STREQUAL more OR longer STREQUAL more)
  message(FATAL_ERROR "changed headers have the same hash: ${same}, ${longer}, ${more}")
endif()
if(NOT same STREQUAL restored OR NOT same STREQUAL forwarded)
  message(FATAL_ERROR "the same headers have different hashes: ${same}, ${restored}, "
    "${forwarded}")
endif()
file(REMOVE_RECURSE "${copy}")
