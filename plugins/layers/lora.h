// Low-rank adapters (Hu et al. 2021): (alpha / rank) * a . b is added to a frozen weight, and
// training changes only the small matrices a and b.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

/// The two matrices of an adapter for a weight (..., columns): a (..., rank) and b (rank, columns).
class LoraAdapter final : public Layer {
 public:
  LoraAdapter(const Layer& owner, const Variable& weight, const Shape& shape, int64_t rank,
              double scale, const Ref<Initializer>& a, const Ref<Initializer>& b)
      : scale_(scale) {
    set_name("lora");
    policy_ = owner.policy();
    a_ = matrix(owner, weight, "a", shape.slice(0, -1).concat({rank}), a);
    b_ = matrix(owner, weight, "b", {rank, shape[-1]}, b);
    for (const Variable& matrix_variable : {a_, b_}) track(matrix_variable);
    built_ = true;
  }
  std::string class_name() const override { return "LoraAdapter"; }
  Tensors call(const Tensors& inputs, const Call&) override { return {term_for(inputs[0])}; }
  /// The adapter's term for x . weight, computed without the matrix a . b.
  Tensor term_for(const Tensor& x) const { return ops::dot(ops::dot(x, a_), b_) * scale_; }
  /// The adapter's term for rows of the weight, which are selected by integers.
  Tensor term_for_rows(const Tensor& ids) const {
    return ops::dot(ops::gather(a_, ids, 0), b_) * scale_;
  }
  /// The adapter's term for x . transpose(weight), where weight is (rows, columns).
  Tensor term_for_transposed(const Tensor& x) const {
    const Tensor a = ops::cast(a_, x.dtype()), b = ops::cast(b_, x.dtype());
    return ops::matmul(ops::matmul(x, b, false, true), a, false, true) * scale_;
  }
  /// The adapter's term for the weight: (alpha / rank) * a . b.
  Tensor weight_term() const { return ops::dot(a_, b_) * scale_; }

 private:
  /// Makes one of the two matrices, named as in Keras: dense_1/lora_kernel_a. It gets initial
  /// values even if the model is made to load weights from a file, since files of Keras 3 do not
  /// contain the matrices.
  static Variable matrix(const Layer& owner, const Variable& weight, const char* matrix_letter,
                         const Shape& shape, const Ref<Initializer>& initializer) {
    const std::string name = concat("lora_", weight.name(), "_", matrix_letter);
    const Variable matrix_variable((*initializer)(shape, owner.variable_dtype()),
                                   {.name = name, .regularizer = weight.regularizer()});
    matrix_variable.set_path(owner.name() + "/" + name);
    return matrix_variable;
  }

  double scale_;
  Variable a_, b_;
};

/// A layer of class Base that has a weight for which an adapter can be added.
template <class Base>
class LoraLayer : public Base {
 public:
  void configured() override {
    Base::configured();
    if (alpha_ && !rank_) fail("lora_alpha: it scales an adapter; pass lora_rank too");
  }
  /// Freezes the weight and adds an adapter, whose term is zero at first.
  void enable_lora(int64_t rank, std::optional<double> alpha, Ref<Initializer> a,
                   Ref<Initializer> b) {
    if (!adapted_weight()) fail("Cannot enable lora on a layer that isn't yet built.");
    if (adapter_) fail("lora is already enabled. This can only be done once per layer.");
    const std::string weight_name = adapted_weight().name();
    if (adapted_rules().constraint)
      fail("Lora is incompatible with ", weight_name,
           " constraints. In order to enable lora on this ", "layer, remove the `", weight_name,
           "_constraint` argument.");
    rank_ = rank;
    alpha_ = alpha.value_or(static_cast<double>(rank));
    adapter_ = std::make_shared<LoraAdapter>(*this, adapted_weight(), adapted_shape(), rank,
                                             *alpha_ / static_cast<double>(rank), a, b);
    adapter_->set_trainable(this->trainable());
    this->track(adapter_);
    adapted_weight().set_trainable(false);
    this->structure_changed();
  }
  /// Adds the term of the adapter to the weight, which becomes trainable again, and removes the
  /// adapter.
  void merge_lora() {
    if (!adapter_) fail("there is no adapter to merge: lora is not enabled");
    const Variables variables = adapted_variables();
    const Tensors new_values = merged_values();
    for (size_t i = 0; i < variables.size(); ++i) variables[i].assign(new_values[i]);
    this->untrack(adapter_);
    adapter_.reset();
    rank_.reset();
    alpha_.reset();
    adapted_weight().set_trainable(is_floating(adapted_weight().dtype()));
    this->structure_changed();
  }
  /// By name, the values that the weight's variables would have after merge_lora(); empty without
  /// an adapter.
  Dict merged_weights() const {
    Dict weights_by_name;
    const Variables variables = adapter_ ? adapted_variables() : Variables();
    const Tensors values = adapter_ ? merged_values() : Tensors();
    for (size_t i = 0; i < variables.size(); ++i)
      weights_by_name.set(variables[i].name(), Codec<Tensor>::encode(values[i]));
    return weights_by_name;
  }
  bool has_lora() const { return adapter_ != nullptr; }
  double merge_error() const { return adapter_ ? rounding_of_merge() : 0; }

 protected:
  template <class T>
  static void describe_lora(Schema<T>& s) {
    s.field(
         "lora_rank", &LoraLayer::rank_,
         "Rank of a LoRA adapter that is trained instead of the frozen weight; null: no adapter.")
        .min(1)
        .omit_null()
        .field(
            "lora_alpha", &LoraLayer::alpha_,
            "The contribution of the adapter is multiplied by lora_alpha / lora_rank; null: by 1.")
        .omit_null()
        .property("merged_weights", &LoraLayer::merged_weights,
                  "With an adapter: the weights as merge_lora would leave them.")
        .property("merge_error", &LoraLayer::merge_error,
                  "With an adapter: how much merge_lora changes an element of the weight by "
                  "rounding it, at most; 0 for weights in floating point.")
        .property("lora_enabled", &LoraLayer::has_lora, "Whether the layer has an adapter.")
        .method(
            "enable_lora", &LoraLayer::enable_lora,
            "Freezes the weight and adds a trainable adapter of low rank (LoRA, Hu et al. 2021).")
        .arg("rank", "Rank of the adapter.")
        .min(1)
        .arg("lora_alpha",
             "The contribution of the adapter is multiplied by lora_alpha / rank; by 1 when not "
             "given.",
             Value())
        .arg("a_initializer", "Initializer of the first matrix.", "he_uniform")
        .arg("b_initializer",
             "Initializer of the second matrix; zeros make the adapter start without effect.",
             "zeros")
        .method("merge_lora", &LoraLayer::merge_lora,
                "Adds the product of the adapter to the weight and removes the adapter.");
  }
  /// The weight for which an adapter can be added. The layer must have been built.
  virtual const Variable& adapted_weight() const = 0;
  virtual const WeightRules& adapted_rules() const = 0;
  virtual Shape adapted_shape() const { return adapted_weight().shape(); }
  /// The variables that store the weight.
  virtual Variables adapted_variables() const { return {adapted_weight()}; }
  /// The values that these variables would have with the adapter's term added.
  virtual Tensors merged_values() const { return {adapted_weight() + adapter_->weight_term()}; }
  /// The largest change of an element of the weight by the rounding of merged_values().
  virtual double rounding_of_merge() const { return 0; }
  /// Adds an adapter if the option lora_rank is set; build() must call this at its end.
  void build_lora() {
    if (!rank_) return;
    const auto alpha = alpha_;
    enable_lora(*rank_, alpha, "he_uniform", "zeros");
  }
  /// The adapter; null if there is none.
  const LoraAdapter* adapter() const { return adapter_.get(); }
  /// The weight plus the term of the adapter, if there is one, for products with values of type
  /// `dtype`.
  Tensor adapted_value(DType dtype) const {
    return adapter() ? ops::cast(adapted_weight() + adapter()->weight_term(), dtype)
                     : adapted_weight().value();
  }

 private:
  std::optional<int64_t> rank_;
  std::optional<double> alpha_;
  std::shared_ptr<LoraAdapter> adapter_;
};

}  // namespace crescent
