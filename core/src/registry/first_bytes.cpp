#include "registry/first_bytes.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "crescent/base/error.h"

namespace crescent {

std::string signature_bytes(const std::string& hexadecimal, const std::string& format) {
  std::string bytes;
  const char* end = hexadecimal.data() + hexadecimal.size();
  for (const char* digits = hexadecimal.data(); digits < end; digits += 2) {
    uint8_t byte = 0;
    const char* digits_end = std::min(digits + 2, end);
    if (std::from_chars(digits, digits_end, byte, 16).ptr != digits + 2) break;
    bytes += static_cast<char>(byte);
  }
  if (bytes.empty() || 2 * bytes.size() != hexadecimal.size())
    fail("format ", format, ": expected pairs of hexadecimal digits as a signature, got '",
         hexadecimal, "'");
  return bytes;
}

}  // namespace crescent
