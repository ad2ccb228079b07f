#include "crescent/registry/matching_headers.h"

#include <cstdio>
#include <cstdlib>

#include "system/installation.h"

namespace crescent {

void require_matching_headers(uint64_t headers) {
  if (headers == CRESCENT_HEADERS_HASH) return;
  std::fprintf(stderr,
               "crescent: this program was built with public headers %016llx, but runs with %s %s, "
               "which has %016llx: build it again, or run it with the library that it was built "
               "with\n",
               static_cast<unsigned long long>(headers), core_library_path().c_str(),
               CRESCENT_VERSION, static_cast<unsigned long long>(CRESCENT_HEADERS_HASH));
  std::_Exit(1);
}

}  // namespace crescent
