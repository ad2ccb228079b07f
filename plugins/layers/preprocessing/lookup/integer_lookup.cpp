#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"
#include "lookup_layer.h"

namespace crescent {
namespace {

class IntegerLookup final : public LookupLayer<int64_t> {
 public:
  static void describe(Schema<IntegerLookup>& s) {
    s.doc("Maps integers to indices of a vocabulary, or to vectors that count them.")
        .field("max_tokens", &IntegerLookup::max_tokens_,
               "Maximum size of the vocabulary, including mask and unknown integers.")
        .field("num_oov_indices", &IntegerLookup::num_oov_indices_,
               "Number of indices for unknown integers; 0: unknown integers are an error.")
        .field("mask_token", &IntegerLookup::mask_token_,
               "An integer that stands for padding: it has index 0 and is not counted; null: none.")
        .field("oov_token", &IntegerLookup::oov_token_,
               "The value of unknown terms when invert is true.")
        .field("vocabulary", &IntegerLookup::vocabulary_,
               "The integers, or the path of a file with one per line; without it adapt() learns "
               "them.")
        .field("vocabulary_dtype", &IntegerLookup::vocabulary_dtype_, "Dtype of the integers.")
        .field("idf_weights", &IntegerLookup::idf_weights_,
               "Inverse document frequency of each integer of the vocabulary, for \"tf_idf\".")
        .field("invert", &IntegerLookup::invert_, "Map indices to integers instead.")
        .field("output_mode", &IntegerLookup::output_mode_,
               "\"int\": indices; \"one_hot\", \"multi_hot\", \"count\": vectors with an element "
               "for each index, as in CategoryEncoding; \"tf_idf\": counts times idf_weights.")
        .field("sparse", &IntegerLookup::sparse_, "Accepts only false: tensors are dense.")
        .field("pad_to_max_tokens", &IntegerLookup::pad_to_max_tokens_,
               "Make vectors of max_tokens elements even if the vocabulary is smaller.")
        .field("oov_method", &IntegerLookup::oov_method_,
               "How unknown integers choose among several indices: \"floormod\", by the remainder, "
               "or \"farmhash\", by hash.")
        .choices({"floormod", "farmhash"})
        .field("salt", &IntegerLookup::salt_,
               "An integer or a pair of integers as the key of SipHash, instead of FarmHash.");
    describe_stored(s);
    describe_methods(s);
  }
  IntegerLookup() { oov_token_ = -1; }
  void configured() override {
    if (vocabulary_dtype_ != "int64")
      fail("Only `vocabulary_dtype='int64'` is supported at this time. Received: ",
           "vocabulary_dtype=", vocabulary_dtype_);
    LookupLayer::configured();
  }

 private:
  std::string vocabulary_dtype_ = "int64";
};

}  // namespace

CRESCENT_REGISTER(integer_lookup) { registry.add<IntegerLookup>("IntegerLookup"); }

}  // namespace crescent
