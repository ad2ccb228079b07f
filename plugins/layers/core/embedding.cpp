#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"
#include "quantized_layer.h"

namespace crescent {
namespace {

class Embedding final : public QuantizableLayer {
 public:
  static void describe(Schema<Embedding>& s) {
    s.trait("builds_without_shape", true);
    s.doc(
         "Looks up a row of a learned table for each integer from 0 to input_dim - 1. (batch, ...) "
         "-> (batch, ..., output_dim)")
        .field("input_dim", &Embedding::rows_, "Number of rows: the largest integer plus 1.")
        .required()
        .min(1)
        .field("output_dim", &Embedding::columns_, "Size of a row.")
        .required()
        .min(1)
        .weight_options({{"embeddings", &Embedding::rules_, "the table"}},
                        &Embedding::activity_regularizer_)
        .field("mask_zero", &Embedding::mask_zero_, "Treat 0 as padding and mask it.")
        .field("input_length", &Embedding::input_length_,
               "Length of the sequences (Keras 2); short for input_shape.")
        .not_stored();
    describe_lora(s);
    describe_quantization(s);
  }
  void configured() override {
    if (input_length_ && !declared_input_shape()) input_shape_option_ = input_length_;
    QuantizableLayer::configured();
    set_supports_masking(mask_zero_);
  }
  void build(const Shape&) override {
    table_.layout = {{rows_, columns_}, {1}, {0}, {rows_}};
    add_quantizable(table_, rules_);
    build_lora();
  }
  Tensor call(const Tensor& x, const Call&) override {
    if (input_length_ && !input_length_->compatible(x.shape().slice(1, x.rank())))
      fail("\"input_length\" is ", *input_length_, ", but received input has shape ", x.shape());
    if (x.dtype() == DType::string)
      fail("expected ids, got strings: TextVectorization or StringLookup makes ids of texts");
    const Tensor ids = ops::check_indices(x, rows_, "id", concat("input_dim ", rows_));
    const Tensor found_rows = rows(table_, ids);
    return adapter() ? found_rows + adapter()->term_for_rows(ids) : found_rows;
  }
  Tensors compute_mask(const Tensors& inputs, const Tensors&, const Tensors&) override {
    return {mask_zero_ ? ops::not_equal(inputs[0], 0) : Tensor()};
  }

 protected:
  const WeightRules& adapted_rules() const override { return rules_; }

 private:
  int64_t rows_ = 0, columns_ = 0;
  WeightRules rules_{"uniform"};
  bool mask_zero_ = false;
  std::optional<Shape> input_length_;
  QuantizedWeight table_{"embeddings", {}};
};

}  // namespace

CRESCENT_REGISTER(embedding) { registry.add<Embedding>("Embedding"); }

}  // namespace crescent
