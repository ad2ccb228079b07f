// A program checks at its start that it was built with the headers of the library that it runs
// with, because types may have another layout in other headers. crescent.h includes this header;
// plugins are checked by their stamp (stamp.h) before they are loaded.
#pragma once
#include "crescent/base/export.h"
#include "crescent/registry/stamp.h"

namespace crescent {

/// Ends the process unless the library was built with headers of this hash (CRESCENT_HEADERS_HASH);
/// the line that it prints names both hashes.
CRESCENT_API void require_matching_headers(uint64_t headers);

namespace detail {
struct HeadersCheck {
  HeadersCheck() { require_matching_headers(CRESCENT_HEADERS_HASH); }
};
static const HeadersCheck headers_check;
}  // namespace detail

}  // namespace crescent
