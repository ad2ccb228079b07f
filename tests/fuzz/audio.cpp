// Fuzzes the reader of WAV files: for any bytes it must return samples or an error.
#include "audio/wav.h"

#include "crescent/base/error.h"

using namespace crescent;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    decode_wav("fuzz", {reinterpret_cast<const char*>(data), size});
  } catch (const Error&) {
  }
  return 0;
}
