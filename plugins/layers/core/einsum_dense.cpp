#include <algorithm>
#include <cctype>

#include "../lora.h"
#include "core_layers.h"

namespace crescent {
namespace {

/// The letters of an operand, and how many of them are before its "...".
struct Letters {
  explicit Letters(const std::string& text)
      : all(text), before(std::min(text.find("..."), text.size())) {
    has_dots = before < text.size();
    if (has_dots) all.erase(before, 3);
  }
  bool has(char letter) const { return all.find(letter) != std::string::npos; }
  /// The axis of a letter in a shape that has axes for "..." too; from the end behind it.
  int axis(char letter) const {
    const size_t at = all.find(letter);
    return at < before ? int(at) : int(at) - int(all.size());
  }
  /// Axes of such a shape that "..." stands for.
  int dots(const Shape& shape) const { return shape.rank() - int(all.size()); }

  std::string all;
  size_t before;
  bool has_dots;
};

/// "abc,cde->abde" in its three parts; "..." stands for further axes of input and output.
struct Equation {
  Letters input, kernel, output;
};

Equation parse(std::string text) {
  std::erase(text, ' ');
  const size_t comma = text.find(','), arrow = text.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || arrow < comma)
    fail(
        "equation: expected \"input,kernel->output\" such as \"abc,cd->abd\" or \"...c,cd->...d\", "
        "got \"",
        text, "\"");
  const Equation e{Letters(text.substr(0, comma)),
                   Letters(text.substr(comma + 1, arrow - comma - 1)),
                   Letters(text.substr(arrow + 2))};
  for (const Letters* letters : {&e.input, &e.kernel, &e.output})
    for (char c : letters->all)
      if (!std::isalpha(static_cast<unsigned char>(c)))
        fail("equation: expected letters, at most one '...' and \"->\", got \"", text, "\"");
  if (e.kernel.has_dots || e.input.has_dots != e.output.has_dots)
    fail("equation: '...' must be in input and output and not in the kernel, got \"", text, "\"");
  return e;
}

class EinsumDense final : public LoraLayer<QuantizedByKeras> {
 public:
  static void describe(Schema<EinsumDense>& s) {
    constexpr NamedWeight<EinsumDense, WeightRules> kWeights[] = {
        {"kernel", &EinsumDense::kernel_rules_}, {"bias", &EinsumDense::bias_rules_}};
    s.doc(
         "Fully connected along the axes that an einsum equation names: "
         "activation(einsum(equation, x, kernel) + bias).")
        .field("equation", &EinsumDense::equation_,
               "\"abc,cd->abd\": input, kernel, output; \"...\" of input and output: further axes.")
        .required()
        .field("output_shape", &EinsumDense::output_shape_,
               "Shape of the output without the batch axis and \"...\"; null: as the input.")
        .required()
        .field("activation", &EinsumDense::activation_, "Applied to the result.")
        .field("bias_axes", &EinsumDense::bias_axes_,
               "Letters of output axes that have a bias; null: none.")
        .initializers(kWeights)
        .regularizers(kWeights)
        .field("activity_regularizer", &EinsumDense::activity_regularizer_,
               "Penalty on the output.")
        .omit_null()
        .constraints(kWeights);
    describe_lora(s);
    describe_quantization(s);
  }
  void configured() override {
    LoraLayer::configured();
    parsed_ = parse(equation_);
  }
  void build(const Shape& input) override {
    check(input);
    Shape kernel;
    for (char letter : parsed_->kernel.all) kernel.append(dim_of(letter, input));
    kernel_ = add_weight("kernel", kernel, kernel_rules_);
    if (bias_axes_) bias_ = add_weight("bias", bias_shape(input), bias_rules_);
    build_lora();
  }
  Tensor call(const Tensor& x, const Call&) override {
    const Tensor operands[] = {x, adapted_value(x.dtype())};
    Tensor y = ops::einsum(equation_, operands);
    if (bias_) y = y + bias_;
    return activation_ ? (*activation_)(y) : y;
  }

 protected:
  const Variable& adapted() const override { return kernel_; }
  const WeightRules& adapted_rules() const override { return kernel_rules_; }

 private:
  void check(const Shape& input) const {
    const Letters &in = parsed_->input, &out = parsed_->output;
    if (in.dots(input) < 0 || (in.dots(input) > 0 && !in.has_dots))
      fail("equation \"", equation_, "\" gives the input ", in.all.size(), " axes, got shape ",
           input);
    for (size_t i = 0; i < out.all.size(); ++i) {
      const char letter = out.all[i];
      const int at = int(i) - int(out.all.size());
      if (!in.has(letter) || -at > output_shape_.rank()) continue;
      const int64_t given = output_shape_[at], found = input[in.axis(letter)];
      if (given >= 0 && found >= 0 && given != found)
        fail("input ", input, " and output_shape ", output_shape_,
             " do not match at the shared axis '", letter, "'");
    }
  }
  /// output_shape has the letters of the output; without the first, the batch, where "..." is not
  /// in front.
  int64_t dim_of(char letter, const Shape& input) const {
    const Letters &in = parsed_->input, &out = parsed_->output;
    const int64_t at = int64_t(out.all.find(letter)) - int64_t(out.all.size());
    const bool is_given = out.has(letter) && -at <= output_shape_.rank();
    if (!in.has(letter) && !is_given)
      fail("equation \"", equation_, "\": axis '", letter,
           "' is in neither input nor output_shape");
    const int64_t dim = in.has(letter) ? input[in.axis(letter)] : output_shape_[int(at)];
    if (dim < 0) fail("axis '", letter, "' of the input must have a known size, got shape ", input);
    return dim;
  }
  /// From the first bias axis on: its dim for a bias axis, 1 for the others.
  Shape bias_shape(const Shape& input) const {
    const Letters& out = parsed_->output;
    for (char letter : *bias_axes_)
      if (!out.has(letter))
        fail("bias_axes \"", *bias_axes_, "\": '", letter, "' is no axis of the output of \"",
             equation_, "\"");
    const size_t first = out.all.find_first_of(*bias_axes_);
    if (first == std::string::npos)
      fail("bias_axes: expected at least one letter of the output, got none");
    Shape shape;
    for (size_t i = first; i <= out.all.size(); ++i) {
      for (int dot = 0;
           i == out.before && out.has_dots && i > first && dot < parsed_->input.dots(input); ++dot)
        shape.append(1);
      if (i == out.all.size()) break;
      const bool has_bias = bias_axes_->find(out.all[i]) != std::string::npos;
      shape.append(has_bias ? dim_of(out.all[i], input) : 1);
    }
    return shape;
  }

  std::string equation_;
  Shape output_shape_;
  Ref<Activation> activation_ = "linear";
  std::optional<std::string> bias_axes_;
  WeightRules kernel_rules_{"glorot_uniform"}, bias_rules_{"zeros"};
  std::optional<Equation> parsed_;
  Variable kernel_, bias_;
};

}  // namespace

void add_einsum_dense(Registry& registry) { registry.add<EinsumDense>("EinsumDense"); }

}  // namespace crescent
