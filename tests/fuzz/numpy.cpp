// Any bytes as an array of NumPy: its values, or an error.
#include "arrays/npy.h"

#include "crescent/registry/registry.h"

using namespace crescent;
using namespace crescent::arrays;

// The plugin's other formats, which its entry speaks of.
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
