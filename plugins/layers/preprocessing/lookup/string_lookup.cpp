#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"
#include "lookup_layer.h"

namespace crescent {
namespace {

class StringLookup final : public LookupLayer<std::string> {
 public:
  static void describe(Schema<StringLookup>& s) {
    s.doc("Strings as their places in a vocabulary, or as vectors that count them.")
        .field("max_tokens", &StringLookup::max_tokens_,
               "How many places there may be, those of masks and unknown strings included.")
        .field("num_oov_indices", &StringLookup::oov_indices_,
               "Places that unknown strings share by their hash; with 0 they are an error.")
        .field("mask_token", &StringLookup::mask_token_,
               "Stands for no string: place 0, or left out of counts.")
        .field("oov_token", &StringLookup::oov_token_, "What unknown places become by invert.")
        .field("vocabulary", &StringLookup::vocabulary_,
               "The strings, or the path of a file with one in each line; else adapt() learns "
               "them.")
        .field("idf_weights", &StringLookup::idf_weights_,
               "A factor for each string of the vocabulary, for tf_idf.")
        .field("invert", &StringLookup::invert_, "Places as strings instead.")
        .field("output_mode", &StringLookup::output_mode_,
               "int: the places; one_hot, multi_hot, count: vectors with a number for each place, "
               "as of CategoryEncoding; tf_idf: counts times the weights.")
        .field("pad_to_max_tokens", &StringLookup::pad_to_max_tokens_,
               "Vectors have max_tokens numbers though the vocabulary is smaller.")
        .field("sparse", &StringLookup::sparse_, "Tensors are dense: only false.")
        .field("encoding", &StringLookup::encoding_, "Of the strings.")
        .choices({"utf-8"})
        .field("salt", &StringLookup::salt_,
               "An integer or two: unknown strings are hashed by SipHash, else by FarmHash.")
        .field("oov_method", &StringLookup::oov_method_, "Strings are hashed, whatever it is.")
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
