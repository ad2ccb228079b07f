#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"
#include "encoding.h"

namespace crescent {
namespace {

class CategoryEncoding final : public UnaryLayer {
 public:
  static void describe(Schema<CategoryEncoding>& s) {
    s.doc("Encodes integers from 0 to num_tokens - 1 as vectors of num_tokens elements.")
        .field("num_tokens", &CategoryEncoding::num_tokens_, "Number of different integers.")
        .min(1)
        .field("output_mode", &CategoryEncoding::output_mode_,
               "\"one_hot\": a vector with a one for each integer; \"multi_hot\": one vector with "
               "ones for all integers along axis 1 (axis 0 of a vector); \"count\": the number of "
               "occurrences of each.")
        .field("sparse", &CategoryEncoding::sparse_, "Accepts only false: tensors are dense.")
        .argument("count_weights", Value(), "Weight of each integer, for output_mode \"count\".");
  }
  void configured() override {
    UnaryLayer::configured();
    output_mode_ = current_mode(output_mode_);
    check_mode(output_mode_, {kOneHot, kMultiHot, kCount});
    if (!num_tokens_)
      fail("num_tokens must be set to use this layer. If the number of tokens is not known ",
           "beforehand, use the IntegerLookup layer instead.");
    refuse_sparse(sparse_);
  }
  Tensor call(const Tensor& x, const Call& call) override {
    const Tensor weights = call.tensor("count_weights");
    if (weights && output_mode_ != kCount)
      fail("`count_weights` is not used when `output_mode` is not \"count\". Received ",
           "`count_weights=", weights.shape(), "`");
    const Tensor ids = ops::check_indices(x.rank() == 0 ? ops::expand_dims(x, 0) : x, *num_tokens_,
                                          "value", concat("num_tokens ", *num_tokens_));
    const Tensor encoded = ops::one_hot(ids, *num_tokens_, compute_dtype());
    if (output_mode_ == kOneHot)
      return x.rank() != 1 && ids.dim(-1) == 1 ? ops::squeeze(encoded, -2) : encoded;
    const int axis = ids.rank() > 1 ? 1 : 0;
    if (output_mode_ == kMultiHot) return ops::max(encoded, {axis});
    return ops::sum(weights ? encoded * ops::expand_dims(weights, -1) : encoded, {axis});
  }

 private:
  std::optional<int64_t> num_tokens_;
  std::string output_mode_ = kMultiHot;
  bool sparse_ = false;
};

}  // namespace

CRESCENT_REGISTER(category_encoding) { registry.add<CategoryEncoding>("CategoryEncoding"); }

}  // namespace crescent
