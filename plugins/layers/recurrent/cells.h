// The three standard cells: options, weights and one step. The formulas are those of Keras, with
// the gates in the order i, f, c, o (LSTM) and z, r, h (GRU).
#pragma once
#include "rnn.h"

namespace crescent {

/// Splits the last axis into `count` blocks of size `units`.
Tensors blocks(const Tensor& x, int64_t units, int count);

/// The base of the standard cells: their options and weights. Every weight has a block per gate.
class GatedCell : public RnnCell {
 public:
  void configured() override;
  size_t state_count() const override { return 1; }
  std::vector<Shape> state_shapes(const Shape& x) const override {
    return std::vector<Shape>(state_count(), Shape{x[0], units_});
  }
  void prepare(const Tensor& x, const Call& call) override;
  const Variable& kernel() const { return kernel_; }
  const Variable& recurrent() const { return recurrent_; }
  /// The bias; if the cell has none, zeros of its shape.
  Tensor bias() const;
  bool has_standard_activation() const {
    return activation_ && activation_->class_name() == "tanh";
  }
  /// The dropout mask of the states in the present call; null if there is no dropout.
  const Tensor& state_factors() const { return state_mask_; }
  /// Multiplies x by the dropout mask of inputs in the present call; x is one step or (batch, time,
  /// features).
  Tensor with_dropout(const Tensor& x) const;

 protected:
  template <class T>
  static void describe_units(Schema<T>& s) {
    s.field("units", &GatedCell::units_, "Size of the state.")
        .required()
        .min(1)
        .field("activation", &GatedCell::activation_, "Activation function of the output.")
        .input("states", 1, "The states before the step: a tensor or a list.");
  }
  template <class T>
  static void describe_weights(Schema<T>& s) {
    s.field("use_bias", &GatedCell::use_bias_, "Add a bias.").initializers(kWeights<T>);
  }
  template <class T>
  static void describe_penalties(Schema<T>& s) {
    s.regularizers(kWeights<T>)
        .constraints(kWeights<T>)
        .field("dropout", &GatedCell::dropout_, "Dropout rate of the inputs in training.")
        .min(0)
        .max(1)
        .field("recurrent_dropout", &GatedCell::recurrent_dropout_,
               "Dropout rate of the states in training.")
        .min(0)
        .max(1);
  }
  template <class T>
  static void describe_seed(Schema<T>& s) {
    s.field("seed", &GatedCell::seed_, "Seed of the dropout.");
  }
  /// Adds the weights. For cells whose products are convolutions, `window` is the size of the
  /// kernels.
  void build_weights(int64_t feature_count, int gate_count, const Shape& bias,
                     const WeightRules& bias_rules, const Shape& window = {});
  /// The rules for a bias with four blocks, of which the second one, that of the forget gate, is
  /// initialized with ones.
  WeightRules forgetting_bias() const;
  Tensor dropped_state(const Tensor& h) const { return state_mask_ ? h * state_mask_ : h; }

  int64_t units_ = 1;
  Ref<Activation> activation_ = "tanh";
  // unit_forget_bias_ has no effect on cells without a forget gate
  bool use_bias_ = true, unit_forget_bias_ = true;
  WeightRules kernel_rules_{"glorot_uniform"}, recurrent_rules_{"orthogonal"}, bias_rules_{"zeros"};
  double dropout_ = 0, recurrent_dropout_ = 0;
  std::optional<int64_t> seed_;

 private:
  template <class T>
  static constexpr NamedWeight<T, WeightRules> kWeights[] = {
      {"kernel", &GatedCell::kernel_rules_, "the kernel of inputs"},
      {"recurrent", &GatedCell::recurrent_rules_, "the kernel of states"},
      {"bias", &GatedCell::bias_rules_}};

  std::optional<SeedGenerator> random_;
  Shape bias_shape_;
  Variable kernel_, recurrent_, bias_;
  Tensor input_mask_, state_mask_;  // the dropout masks of inputs and of states in the present call
};

class SimpleRnnCell final : public GatedCell {
 public:
  static constexpr const char* kName = "simple_rnn_cell";
  static void describe(Schema<SimpleRnnCell>& s);
  void build(const std::vector<Shape>& inputs) override;
  Tensors step(const Tensors& inputs) const override;
};

class LstmCell final : public GatedCell {
 public:
  static constexpr const char* kName = "lstm_cell";
  static void describe(Schema<LstmCell>& s);
  size_t state_count() const override { return 2; }
  void build(const std::vector<Shape>& inputs) override;
  Tensors step(const Tensors& inputs) const override;
  bool is_standard() const {
    return has_standard_activation() && gate_activation_ &&
           gate_activation_->class_name() == "sigmoid";
  }

 private:
  Ref<Activation> gate_activation_ = "sigmoid";
  int64_t implementation_ = 2;
};

class GruCell final : public GatedCell {
 public:
  static constexpr const char* kName = "gru_cell";
  static void describe(Schema<GruCell>& s);
  void build(const std::vector<Shape>& inputs) override;
  Tensors step(const Tensors& inputs) const override;
  bool is_standard() const {
    return reset_after_ && has_standard_activation() && gate_activation_ &&
           gate_activation_->class_name() == "sigmoid";
  }

 private:
  Ref<Activation> gate_activation_ = "sigmoid";
  bool reset_after_ = true;
  int64_t implementation_ = 2;
};

}  // namespace crescent
