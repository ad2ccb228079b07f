#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"
#include "lookup_layer.h"

namespace crescent {
namespace {

class IntegerLookup final : public LookupLayer<int64_t> {
 public:
  static void describe(Schema<IntegerLookup>& s) {
    s.doc("Integers as their places in a vocabulary, or as vectors that count them.")
        .field("max_tokens", &IntegerLookup::max_tokens_,
               "How many places there may be, those of masks and unknown integers included.")
        .field("num_oov_indices", &IntegerLookup::oov_indices_,
               "Places that unknown integers share; with 0 they are an error.")
        .field("mask_token", &IntegerLookup::mask_token_,
               "Stands for no integer: place 0, or left out of counts.")
        .field("oov_token", &IntegerLookup::oov_token_, "What unknown places become by invert.")
        .field("vocabulary", &IntegerLookup::vocabulary_,
               "The integers, or the path of a file with one in each line; else adapt() learns "
               "them.")
        .field("vocabulary_dtype", &IntegerLookup::vocabulary_dtype_, "Of the integers.")
        .field("idf_weights", &IntegerLookup::idf_weights_,
               "A factor for each integer of the vocabulary, for tf_idf.")
        .field("invert", &IntegerLookup::invert_, "Places as integers instead.")
        .field("output_mode", &IntegerLookup::output_mode_,
               "int: the places; one_hot, multi_hot, count: vectors with a number for each place, "
               "as of CategoryEncoding; tf_idf: counts times the weights.")
        .field("sparse", &IntegerLookup::sparse_, "Tensors are dense: only false.")
        .field("pad_to_max_tokens", &IntegerLookup::pad_to_max_tokens_,
               "Vectors have max_tokens numbers though the vocabulary is smaller.")
        .field("oov_method", &IntegerLookup::oov_method_,
               "How unknown integers choose a place: by their remainder, or by their hash.")
        .choices({"floormod", "farmhash"})
        .field("salt", &IntegerLookup::salt_,
               "An integer or two: with farmhash, SipHash is used instead.");
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
