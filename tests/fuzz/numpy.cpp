// Fuzzes the reader of NumPy arrays: any bytes give values or an error.
#include "arrays/npy.h"

#include "crescent/registry/registry.h"

using namespace crescent;
using namespace crescent::arrays;

// The other formats of the plugin, which its entry point refers to.
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
