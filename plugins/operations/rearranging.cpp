// Operations whose axes are named, as in einops.
#include "crescent/ops/shapes.h"

#include "crescent/registry/registration.h"
#include "shared/shared.h"

namespace crescent::operations {
namespace {

Tensor rearrange(const Tensor& x, const std::string& pattern, const Dict& axes_lengths) {
  std::vector<std::pair<std::string, int64_t>> lengths;
  for (const DictEntry& entry : axes_lengths) {
    if (!entry.value.is_int())
      fail("rearrange: expected the length of '", entry.key, "', got ", entry.value);
    lengths.emplace_back(entry.key, entry.value.as_int());
  }
  return ops::rearrange(x, pattern, lengths);
}

}  // namespace

CRESCENT_REGISTER(rearranging) {
  Operations(registry, "keras.src.ops.einops")
      .add("Rearrange", "rearrange(tensor, @pattern, **axes_lengths=None)", &rearrange,
           "Splits, merges and reorders named axes: rearrange(x, \"b (h w) -> h b w\", {h = 2}).");
}

}  // namespace crescent::operations
