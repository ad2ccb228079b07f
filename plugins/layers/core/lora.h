// Low-rank adapters (Hu et al. 2021): a weight stays as it is, (alpha / rank) a . b is added to it,
// and training changes only the small matrices a and b.
#pragma once
#include "crescent/layer.h"

namespace crescent {

/// The two matrices beside a weight (..., columns): a (..., rank) and b (rank, columns).
class LoraAdapter final : public Layer {
 public:
  LoraAdapter(const Layer& owner, const Variable& weight, int64_t rank, double scale,
              const Ref<Initializer>& a, const Ref<Initializer>& b);
  std::string class_name() const override { return "LoraAdapter"; }
  Tensors call(const Tensors& inputs, const Call&) override { return {of(inputs[0])}; }
  /// What it adds to x . weight: the weight's change is never computed.
  Tensor of(const Tensor& x) const;
  /// The same for rows of the weight, chosen by integers.
  Tensor of_rows(const Tensor& ids) const;
  /// What it adds to the weight.
  Tensor change() const;

 private:
  double scale_;
  Variable a_, b_;
};

/// A layer that has one weight that can be adapted.
class LoraLayer : public UnaryLayer {
 public:
  void configured() override;
  /// Freezes the weight and puts an adapter beside it, which starts by adding nothing.
  void enable_lora(int64_t rank, std::optional<double> alpha, Ref<Initializer> a,
                   Ref<Initializer> b);
  /// Adds what the adapter learned to the weight, which is trained again; the adapter is gone.
  void merge_lora();
  bool has_lora() const { return adapter_ != nullptr; }

 protected:
  template <class T>
  static void describe_lora(Schema<T>& s) {
    s.field("lora_rank", &LoraLayer::rank_,
            "Rank of an adapter that is trained in place of the weight; null: none.")
        .min(1)
        .omit_null()
        .field("lora_alpha", &LoraLayer::alpha_,
               "The adapter's part is multiplied by lora_alpha / lora_rank; null: by 1.")
        .omit_null()
        .field("quantization_config", &LoraLayer::quantization_,
               "null: weights of fewer bits are not supported.")
        .not_stored()
        .property("lora_enabled", &LoraLayer::has_lora, "Whether there is an adapter.")
        .method("enable_lora", &LoraLayer::enable_lora,
                "Freezes the weight and trains an adapter of low rank beside it (LoRA).")
        .arg("rank", "Of the adapter.")
        .min(1)
        .arg("lora_alpha", "Its part is multiplied by lora_alpha / rank; not given: by 1.", Value())
        .arg("a_initializer", "How the first matrix starts.", "he_uniform")
        .arg("b_initializer", "How the second matrix starts; zeros add nothing.", "zeros")
        .method("merge_lora", &LoraLayer::merge_lora,
                "Adds what the adapter learned to the weight; the adapter is gone.");
  }
  /// The weight, and what its user chose for it. Called when the layer is built.
  virtual const Variable& adapted() const = 0;
  virtual const WeightRules& adapted_rules() const = 0;
  /// Last step of build.
  void build_lora();
  /// Null while there is none.
  const LoraAdapter* adapter() const { return adapter_.get(); }

 private:
  std::optional<int64_t> rank_;
  std::optional<double> alpha_;
  Value quantization_;
  std::shared_ptr<LoraAdapter> adapter_;
};

}  // namespace crescent
