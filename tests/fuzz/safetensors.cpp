// Fuzzes the reader of safetensors: for any bytes it must return arrays that can be read
// completely, or an error.
#include "safetensors/header.h"

#include <sys/mman.h>
#include <unistd.h>

#include "crescent/base/error.h"
#include "crescent/data/data.h"
#include "crescent/system/file.h"

using namespace crescent;
using namespace crescent::safetensors;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int memory = memfd_create("fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(memory);
  if (ftruncate(memory, 0) != 0 || pwrite(memory, data, size, 0) != static_cast<ssize_t>(size))
    return 0;
  try {
    const auto file = file_storage(open_regular_file(path), path);
    for (const ArrayEntry& entry : read_header(path, *file)) {
      verify_checksum(path, *file, entry);
      checked_array(path, file, entry).clone();
    }
  } catch (const Error&) {
  }
  return 0;
}
