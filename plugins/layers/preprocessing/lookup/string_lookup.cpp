#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"
#include "lookup_layer.h"

namespace crescent {
namespace {

class StringLookup final : public LookupLayer<std::string> {
 public:
  static void describe(Schema<StringLookup>& s) {
    s.doc("Maps strings to indices of a vocabulary, or to vectors that count them.")
        .field("max_tokens", &StringLookup::max_tokens_,
               "Maximum size of the vocabulary, including mask and unknown strings.")
        .field("num_oov_indices", &StringLookup::num_oov_indices_,
               "Number of indices for unknown strings, which share them by hash; 0: unknown "
               "strings are an error.")
        .field("mask_token", &StringLookup::mask_token_,
               "A string that stands for padding: it has index 0 and is not counted; null: none.")
        .field("oov_token", &StringLookup::oov_token_,
               "The value of unknown terms when invert is true.")
        .field(
            "vocabulary", &StringLookup::vocabulary_,
            "The strings, or the path of a file with one per line; without it adapt() learns them.")
        .field("idf_weights", &StringLookup::idf_weights_,
               "Inverse document frequency of each string of the vocabulary, for \"tf_idf\".")
        .field("invert", &StringLookup::invert_, "Map indices to strings instead.")
        .field("output_mode", &StringLookup::output_mode_,
               "\"int\": indices; \"one_hot\", \"multi_hot\", \"count\": vectors with an element "
               "for each index, as in CategoryEncoding; \"tf_idf\": counts times idf_weights.")
        .field("pad_to_max_tokens", &StringLookup::pad_to_max_tokens_,
               "Make vectors of max_tokens elements even if the vocabulary is smaller.")
        .field("sparse", &StringLookup::sparse_, "Accepts only false: tensors are dense.")
        .field("encoding", &StringLookup::encoding_, "Encoding of the strings.")
        .choices({"utf-8"})
        .field("salt", &StringLookup::salt_,
               "An integer or a pair of integers as the key of SipHash for unknown strings, "
               "instead of FarmHash.")
        .field("oov_method", &StringLookup::oov_method_,
               "Accepted for compatibility; unknown strings are always hashed.")
        .choices({"floormod", "farmhash"});
    describe_stored(s);
    describe_methods(s);
  }
  StringLookup() { oov_token_ = "[UNK]"; }

 private:
  std::string encoding_ = "utf-8";
};

}  // namespace

CRESCENT_REGISTER(string_lookup) { registry.add<StringLookup>("StringLookup"); }

}  // namespace crescent
