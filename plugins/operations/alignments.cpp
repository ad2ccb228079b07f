// Operations of connectionist temporal classification (CTC).
#include "crescent/ops/networks.h"

#include "crescent/registry/registration.h"
#include "shared/shared.h"

namespace crescent::operations {
namespace {

std::tuple<Tensor, Tensor> ctc_decode(const Tensor& inputs, const Tensor& lengths,
                                      const std::string& strategy, int64_t beam_width,
                                      int64_t top_paths, bool merge_repeated,
                                      std::optional<int64_t> mask_index) {
  const bool beam_search = strategy == "beam_search";
  if (!beam_search && strategy != "greedy")
    fail("ctc_decode: strategy must be 'greedy' or 'beam_search', got '", strategy, "'");
  return ops::ctc_decode(inputs, lengths,
                         {beam_search, beam_width, top_paths, merge_repeated, mask_index});
}

}  // namespace

CRESCENT_REGISTER(alignments) {
  Operations(registry, "keras.src.ops.nn")
      .add("CTCLoss", "ctc_loss(target, output, target_length, output_length, mask_index=0)",
           &ops::ctc_loss, "The loss of connectionist temporal classification for each sample.")
      .add("CTCDecode",
           "ctc_decode(inputs, sequence_lengths, strategy='greedy', beam_width=100, top_paths=1, "
           "merge_repeated=True, mask_index=0)",
           &ctc_decode,
           "The most likely sequences of classes and their scores, by greedy or beam search.");
}

}  // namespace crescent::operations
