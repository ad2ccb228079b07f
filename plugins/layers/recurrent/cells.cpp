#include "cells.h"

#include "crescent/registry/registration.h"

namespace crescent {
namespace {

/// A dropout mask (batch, width) whose elements are 0 or 1 / (1 - rate).
Tensor dropout_mask(const SeedGenerator& random, const Shape& shape, double rate, DType dtype) {
  if (rate >= 1) return ops::zeros(shape, dtype);
  const Tensor is_kept = ops::greater_equal(random.uniform(shape, 0, 1), rate);
  return ops::cast(is_kept, dtype) * (1 / (1 - rate));
}

/// Initializes the forget gate's block of the bias with ones, and the other blocks by another
/// initializer.
class ForgetBias final : public Initializer {
 public:
  ForgetBias(std::shared_ptr<Initializer> other_initializer, int64_t units)
      : initializer_(std::move(other_initializer)), units_(units) {}
  Tensor operator()(const Shape&, DType dtype) const override {
    const Tensor bias_parts[] = {(*initializer_)({units_}, dtype), ops::ones({units_}, dtype),
                                 (*initializer_)({2 * units_}, dtype)};
    return ops::concatenate(bias_parts, 0);
  }

 private:
  std::shared_ptr<Initializer> initializer_;
  int64_t units_;
};

}  // namespace

// ---- the base of cells

Tensors blocks(const Tensor& x, int64_t units, int count) {
  return ops::split(x, std::vector<int64_t>(count, units), -1);
}

void GatedCell::configured() {
  RnnCell::configured();
  random_ = add_seed_generator(seed_);
}

void GatedCell::build_weights(int64_t feature_count, int gate_count, const Shape& bias,
                              const WeightRules& bias_rules, const Shape& window) {
  if (feature_count < 0) fail("the number of features or channels of the input must be known");
  kernel_ =
      add_weight("kernel", window.concat({feature_count, gate_count * units_}), kernel_rules_);
  recurrent_ = add_weight("recurrent_kernel", window.concat({units_, gate_count * units_}),
                          recurrent_rules_);
  bias_shape_ = bias;
  if (use_bias_) bias_ = add_weight("bias", bias, bias_rules);
}

WeightRules GatedCell::forgetting_bias() const {
  WeightRules rules = bias_rules_;
  if (unit_forget_bias_ && use_bias_)
    rules.initializer =
        Ref<Initializer>(std::make_shared<ForgetBias>(bias_rules_.initializer.shared(), units_));
  return rules;
}

Tensor GatedCell::bias() const {
  return use_bias_ ? bias_.value() : ops::zeros(bias_shape_, variable_dtype());
}

void GatedCell::prepare(const Tensor& x, const Call& call) {
  input_mask_ = state_mask_ = Tensor();
  if (!call.training || !x.shape().is_known()) return;
  if (dropout_ > 0) input_mask_ = dropout_mask(*random_, x.shape(), dropout_, x.dtype());
  if (recurrent_dropout_ > 0)
    state_mask_ = dropout_mask(*random_, state_shapes(x.shape())[0], recurrent_dropout_, x.dtype());
}

Tensor GatedCell::with_dropout(const Tensor& x) const {
  if (!input_mask_) return x;
  return x * (x.rank() > input_mask_.rank() ? ops::expand_dims(input_mask_, 1) : input_mask_);
}

// ---- SimpleRNN

void SimpleRnnCell::describe(Schema<SimpleRnnCell>& s) {
  s.doc("One step of SimpleRNN: h = activation(x . kernel + h . recurrent_kernel + bias)");
  describe_units(s);
  describe_weights(s);
  describe_penalties(s);
  describe_seed(s);
  describe_sizes(s);
}

void SimpleRnnCell::build(const std::vector<Shape>& inputs) {
  build_weights(inputs[0][-1], 1, {units_}, bias_rules_);
}

Tensors SimpleRnnCell::step(const Tensors& inputs) const {
  Tensor sum = ops::matmul(with_dropout(inputs[0]), kernel()) +
               ops::matmul(dropped_state(inputs[1]), recurrent());
  if (use_bias_) sum = sum + bias();
  const Tensor h = apply_activation(activation_, sum);
  return {h, h};
}

// ---- LSTM

void LstmCell::describe(Schema<LstmCell>& s) {
  s.doc(
      "One step of a long short-term memory (Hochreiter and Schmidhuber 1997) with the gates i, f, "
      "c, o.");
  describe_units(s);
  s.field("recurrent_activation", &LstmCell::gate_activation_, "Activation function of the gates.");
  describe_weights(s);
  s.field("unit_forget_bias", &LstmCell::unit_forget_bias_,
          "Start the bias of the forget gate at 1.");
  describe_penalties(s);
  describe_seed(s);
  s.field("implementation", &LstmCell::implementation_,
          "Accepted from files of Keras 2; no effect.")
      .not_stored();
  describe_sizes(s);
}

void LstmCell::build(const std::vector<Shape>& inputs) {
  build_weights(inputs[0][-1], 4, {4 * units_}, forgetting_bias());
}

Tensors LstmCell::step(const Tensors& inputs) const {
  Tensor z = ops::matmul(with_dropout(inputs[0]), kernel()) +
             ops::matmul(dropped_state(inputs[1]), recurrent());
  if (use_bias_) z = z + bias();
  const Tensors gates = blocks(z, units_, 4);
  const Tensor i = apply_activation(gate_activation_, gates[0]),
               f = apply_activation(gate_activation_, gates[1]);
  const Tensor c = f * inputs[2] + i * apply_activation(activation_, gates[2]);
  const Tensor h = apply_activation(gate_activation_, gates[3]) * apply_activation(activation_, c);
  return {h, h, c};
}

// ---- GRU

void GruCell::describe(Schema<GruCell>& s) {
  s.doc("One step of a gated recurrent unit (Cho et al. 2014) with the gates z, r, h.");
  describe_units(s);
  s.field("recurrent_activation", &GruCell::gate_activation_, "Activation function of the gates.");
  describe_weights(s);
  describe_penalties(s);
  s.field("reset_after", &GruCell::reset_after_,
          "Apply the reset gate after the product with the recurrent kernel, with a second bias, "
          "instead of before.");
  describe_seed(s);
  s.field("implementation", &GruCell::implementation_, "Accepted from files of Keras 2; no effect.")
      .not_stored();
  describe_sizes(s);
}

void GruCell::build(const std::vector<Shape>& inputs) {
  build_weights(inputs[0][-1], 3, reset_after_ ? Shape{2, 3 * units_} : Shape{3 * units_},
                bias_rules_);
}

Tensors GruCell::step(const Tensors& inputs) const {
  const Tensor h0 = dropped_state(inputs[1]);
  Tensor x = ops::matmul(with_dropout(inputs[0]), kernel());
  const Tensor b = use_bias_ ? bias() : Tensor();
  if (b) x = x + (reset_after_ ? ops::squeeze(ops::slice_axis(b, 0, 0, 1), 0) : b);
  const Tensors input_parts = blocks(x, units_, 3);

  Tensor z, r, candidate;
  if (reset_after_) {
    Tensor state_product = ops::matmul(h0, recurrent());
    if (b) state_product = state_product + ops::squeeze(ops::slice_axis(b, 0, 1, 2), 0);
    const Tensors recurrent_parts = blocks(state_product, units_, 3);
    z = apply_activation(gate_activation_, input_parts[0] + recurrent_parts[0]);
    r = apply_activation(gate_activation_, input_parts[1] + recurrent_parts[1]);
    candidate = apply_activation(activation_, input_parts[2] + r * recurrent_parts[2]);
  } else {
    const Tensors weights = blocks(recurrent(), units_, 3);
    z = apply_activation(gate_activation_, input_parts[0] + ops::matmul(h0, weights[0]));
    r = apply_activation(gate_activation_, input_parts[1] + ops::matmul(h0, weights[1]));
    candidate = apply_activation(activation_, input_parts[2] + ops::matmul(r * h0, weights[2]));
  }
  const Tensor h = z * h0 + (1.0 - z) * candidate;
  return {h, h};
}

CRESCENT_REGISTER(cells) {
  registry.add<SimpleRnnCell>("SimpleRNNCell");
  registry.add<LstmCell>("LSTMCell");
  registry.add<GruCell>("GRUCell");
}

}  // namespace crescent
