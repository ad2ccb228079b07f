// Fuzzes the reader of NumPy arrays: for any bytes it must return values or an error.
#include "arrays/npy.h"

#include "crescent/registry/registry.h"

using namespace crescent;
using namespace crescent::arrays;

// Empty functions for the other formats of the plugin, to which its entry point refers.
namespace crescent::arrays {
void add_npz(Registry&) {}
void add_idx(Registry&) {}
void add_pickle(Registry&) {}
}  // namespace crescent::arrays

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    load("fuzz", std::string(reinterpret_cast<const char*>(data), size), npy_header);
  } catch (const Error&) {
  }
  return 0;
}
