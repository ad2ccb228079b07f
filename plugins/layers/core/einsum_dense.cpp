#include "core_layers.h"

namespace crescent {
namespace {

/// "abc,cde->abde" in its three parts.
struct Equation {
  std::string input, kernel, output;
};

Equation parse(const std::string& text) {
  const size_t comma = text.find(','), arrow = text.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || arrow < comma)
    fail("equation: expected \"input,kernel->output\" such as \"abc,cd->abd\", got \"", text, "\"");
  return {text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1), text.substr(arrow + 2)};
}

class EinsumDense final : public UnaryLayer {
 public:
  static void describe(Schema<EinsumDense>& s) {
    s.doc("Fully connected along the axes that an einsum equation names: activation(einsum(equation, x, kernel) + bias).")
        .field("equation", &EinsumDense::equation_, "\"abc,cd->abd\": input, kernel, output.").required()
        .field("output_shape", &EinsumDense::output_shape_, "Shape of the output without the batch axis; null: as the input.").required()
        .field("activation", &EinsumDense::activation_, "Applied to the result.")
        .field("bias_axes", &EinsumDense::bias_axes_, "Letters of output axes that have a bias; null: none.")
        .field("kernel_initializer", &EinsumDense::kernel_initializer_, "How the kernel starts.")
        .field("bias_initializer", &EinsumDense::bias_initializer_, "How the bias starts.")
        .field("kernel_regularizer", &EinsumDense::kernel_regularizer_, "Penalty on the kernel.")
        .field("bias_regularizer", &EinsumDense::bias_regularizer_, "Penalty on the bias.")
        .field("activity_regularizer", &EinsumDense::activity_regularizer_, "Penalty on the output.").omit_null()
        .field("kernel_constraint", &EinsumDense::kernel_constraint_, "Projection of the kernel after updates.")
        .field("bias_constraint", &EinsumDense::bias_constraint_, "Projection of the bias after updates.");
  }
  void configured() override {
    UnaryLayer::configured();
    parsed_ = parse(equation_);
    set_activity_regularizer(activity_regularizer_.shared());
  }
  void build(const Shape& input) override {
    Shape kernel;
    for (char letter : without_dots(parsed_.kernel)) kernel.append(dim_of(letter, input));
    kernel_ = add_weight("kernel", kernel, kernel_initializer_, {kernel_regularizer_.shared(), kernel_constraint_.shared()});
    if (bias_axes_) bias_ = add_weight("bias", bias_shape(input), bias_initializer_, {bias_regularizer_.shared(), bias_constraint_.shared()});
  }
  Tensor call(const Tensor& x, const Call&) override {
    const Tensor operands[] = {x, kernel_};
    Tensor y = ops::einsum(equation_, operands);
    if (bias_) y = y + bias_;
    return activation_ ? (*activation_)(y) : y;
  }

 private:
  static std::string without_dots(const std::string& letters) {
    std::string text;
    for (char c : letters)
      if (c != '.') text += c;
    return text;
  }
  /// Position from the end, so that "..." in front does not matter.
  static int position(const std::string& letters, char letter) {
    const size_t at = letters.find(letter);
    return at == std::string::npos ? 0 : int(at) - int(letters.size());
  }
  int64_t dim_of(char letter, const Shape& input) const {
    if (const int at = position(parsed_.input, letter)) {
      const int64_t dim = input[at];
      if (dim < 0) fail("axis '", letter, "' of the input must have a known size, got shape ", input);
      return dim;
    }
    const int at = position(parsed_.output, letter);
    if (at == 0 || -at > output_shape_.rank()) fail("equation \"", equation_, "\": axis '", letter, "' of the kernel is in neither input nor output");
    return output_shape_[at];
  }
  /// One dim a bias axis, 1 for output axes after the first bias axis that have none.
  Shape bias_shape(const Shape& input) const {
    Shape shape;
    for (char letter : without_dots(parsed_.output)) {
      const bool has_bias = bias_axes_->find(letter) != std::string::npos;
      if (has_bias) shape.append(position(parsed_.input, letter) ? dim_of(letter, input) : output_shape_[position(parsed_.output, letter)]);
      else if (shape.rank() > 0) shape.append(1);
    }
    if (shape.rank() == 0) fail("bias_axes \"", *bias_axes_, "\" names no axis of the output of \"", equation_, "\"");
    return shape;
  }

  std::string equation_;
  Shape output_shape_;
  Ref<Activation> activation_ = "linear";
  std::optional<std::string> bias_axes_;
  Ref<Initializer> kernel_initializer_ = "glorot_uniform", bias_initializer_ = "zeros";
  Ref<Regularizer> kernel_regularizer_, bias_regularizer_, activity_regularizer_;
  Ref<Constraint> kernel_constraint_, bias_constraint_;
  Equation parsed_;
  Variable kernel_, bias_;
};

}  // namespace

void add_einsum_dense(Registry& registry) { registry.add<EinsumDense>("EinsumDense"); }

}  // namespace crescent
