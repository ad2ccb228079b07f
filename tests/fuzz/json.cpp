// Fuzzes the JSON parser: for any bytes it must return a value or an error; writing and reading a
// value must not change it.
#include <cstdlib>

#include "crescent/base/error.h"
#include "crescent/base/value.h"

using namespace crescent;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Value value;
  try {
    value = parse_json({reinterpret_cast<const char*>(data), size});
  } catch (const Error&) {
    return 0;
  }
  const std::string text = to_json(value);
  if (to_json(parse_json(text)) != text) std::abort();
  return 0;
}
