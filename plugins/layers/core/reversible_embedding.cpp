#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"
#include "quantized_layer.h"

namespace crescent {
namespace {

/// Maps integers to the rows of a table. In reverse it maps a vector to a score for each row of the
/// table.
class ReversibleEmbedding final : public QuantizableLayer {
 public:
  static void describe(Schema<ReversibleEmbedding>& s) {
    constexpr NamedWeight<ReversibleEmbedding, WeightRules> kWeights[] = {
        {"embeddings", &ReversibleEmbedding::rules_, "the table"}};
    s.trait("builds_without_shape", true);
    s.doc(
         "An embedding whose table also maps vectors back to scores: with reverse = true a score "
         "for each row, by the same or another table.")
        .field("input_dim", &ReversibleEmbedding::rows_,
               "Number of rows: the largest integer plus 1.")
        .required()
        .min(1)
        .field("output_dim", &ReversibleEmbedding::columns_, "Size of a row.")
        .required()
        .min(1)
        .field("tie_weights", &ReversibleEmbedding::tie_weights_, "Use the same table in reverse.")
        .weight_options(kWeights)
        .field("mask_zero", &ReversibleEmbedding::mask_zero_, "Treat 0 as padding and mask it.")
        .field("reverse_dtype", &ReversibleEmbedding::reverse_dtype_,
               "Dtype of the product in reverse; null: that of the layer.")
        .field("logit_soft_cap", &ReversibleEmbedding::logit_soft_cap_,
               "Limit scores s softly: cap * tanh(s / cap); null: no limit.")
        .argument("reverse", false, "Map vectors (..., output_dim) to scores of the rows.")
        .keyword_only(true);
    describe_lora(s);
    describe_quantization(s);
  }
  void configured() override {
    QuantizableLayer::configured();
    if (logit_soft_cap_ && *logit_soft_cap_ == 0)
      fail("logit_soft_cap: expected a number other than 0, got 0");
    set_supports_masking(mask_zero_);
  }
  void build(const Shape&) override {
    table_.layout = {{rows_, columns_}, {1}, {0}, {rows_}};
    add_quantizable(table_, rules_);
    if (!tie_weights_) add_reverse();
    build_lora();
  }
  Tensor call(const Tensor& x, const Call& call) override {
    if (call.flag("reverse")) return scores(x);
    const Tensor ids = ops::check_indices(x, rows_, "id", concat("input_dim ", rows_));
    const Tensor found_rows = rows(table_, ids);
    return adapter() ? found_rows + adapter()->term_for_rows(ids) : found_rows;
  }
  /// In reverse the output has as many axes as the input, and, as in Keras, no mask.
  Tensors compute_mask(const Tensors& inputs, const Tensors&, const Tensors& outputs) override {
    const bool is_reverse = outputs[0].rank() == inputs[0].rank();
    return {mask_zero_ && !is_reverse ? ops::not_equal(inputs[0], 0) : Tensor()};
  }

 protected:
  const WeightRules& adapted_rules() const override { return rules_; }

 private:
  void add_reverse() {
    WeightRules rules("uniform");
    rules.initializer = rules_.initializer;
    reverse_table_.layout = {{columns_, rows_}, {0}, {1}, {rows_}, true};
    add_quantizable(reverse_table_, rules);
  }
  Tensor scores(const Tensor& x) const {
    if (x.dim(-1) != columns_)
      fail("reverse: expected vectors of output_dim ", columns_, ", got shape ", x.shape());
    const QuantizedWeight& table = tie_weights_ ? table_ : reverse_table_;
    const Tensor y = is_quantized() ? product(tie_weights_ ? kLastBySecond : kLastByFirst, x, table)
                                    : scores_of_floats(x, table.values());
    return logit_soft_cap_ ? ops::tanh(y / *logit_soft_cap_) * *logit_soft_cap_ : y;
  }
  /// The scores of the rows of a table of floats. For quantized tables Keras ignores the adapter
  /// and reverse_dtype.
  Tensor scores_of_floats(const Tensor& x, const Variable& table) const {
    const DType dtype = reverse_dtype_.value_or(x.dtype());
    const Tensor vectors = ops::cast(x, dtype);
    const Tensor y = ops::matmul(vectors, ops::cast(table, dtype), false, tie_weights_);
    return tie_weights_ && adapter() ? y + adapter()->term_for_transposed(vectors) : y;
  }

  int64_t rows_ = 0, columns_ = 0;
  bool tie_weights_ = true, mask_zero_ = false;
  WeightRules rules_{"uniform"};
  std::optional<DType> reverse_dtype_;
  std::optional<double> logit_soft_cap_;
  QuantizedWeight table_{"embeddings", {}}, reverse_table_{"reverse_embeddings", {}};
};

}  // namespace

CRESCENT_REGISTER(reversible_embedding) {
  registry.add<ReversibleEmbedding>("ReversibleEmbedding");
}

}  // namespace crescent
