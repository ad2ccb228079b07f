#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"
#include "quantized_layer.h"

namespace crescent {
namespace {

class EinsumDense final : public QuantizableLayer {
 public:
  static void describe(Schema<EinsumDense>& s) {
    constexpr NamedWeight<EinsumDense, WeightRules> kWeights[] = {
        {"kernel", &EinsumDense::kernel_rules_}, {"bias", &EinsumDense::bias_rules_}};
    s.doc(
         "Fully connected layer over the axes of an einsum equation: activation(einsum(equation, "
         "x, kernel) + bias).")
        .field("equation", &EinsumDense::equation_,
               "Equation such as \"abc,cd->abd\" for input, kernel and output; \"...\" stands for "
               "further axes of input and output.")
        .required()
        .field("output_shape", &EinsumDense::output_shape_,
               "Shape of the output without the batch axis and \"...\"; null sizes are those of "
               "the input.")
        .required()
        .field("activation", &EinsumDense::activation_, "Activation function of the output.")
        .field("bias_axes", &EinsumDense::bias_axes_,
               "Letters of the output axes that have a bias; null: no bias.")
        .initializers(kWeights)
        .regularizers(kWeights)
        .field("activity_regularizer", &EinsumDense::activity_regularizer_,
               "Penalty on the output that is added to the loss.")
        .omit_null()
        .constraints(kWeights);
    describe_lora(s);
    describe_quantization(s);
  }
  void configured() override {
    QuantizableLayer::configured();
    parsed_equation_ = Equation::parse(equation_);
  }
  void build(const Shape& input) override {
    check_input(input);
    Shape kernel;
    for (char letter : parsed_equation_->kernel.all_letters) kernel.append(dim_of(letter, input));
    kernel_.layout = layout_of(kernel, parsed_equation_->input.dot_axis_count(input));
    add_quantizable(kernel_, kernel_rules_);
    if (bias_axes_) bias_ = add_weight("bias", bias_shape(input), bias_rules_);
    build_lora();
  }
  Tensor call(const Tensor& x, const Call&) override {
    Tensor y = is_quantized() ? multiply_integers(x) : einsum(x, adapted_value(x.dtype()));
    if (bias_) y = y + bias_;
    return apply_activation(activation_, y);
  }

 protected:
  const WeightRules& adapted_rules() const override { return kernel_rules_; }

 private:
  Tensor einsum(const Tensor& x, const Tensor& kernel) const {
    const Tensor operands[] = {x, kernel};
    return ops::einsum(equation_, operands);
  }
  Tensor multiply_integers(const Tensor& x) const {
    const Tensor y = product(equation_, x, kernel_);
    return adapter() ? y + einsum(x, ops::cast(adapter()->weight_term(), x.dtype())) : y;
  }
  /// The layout of the kernel. The scale of the quantized kernel has the axes of the output, with
  /// size 1 for axes that the kernel lacks.
  QuantizedLayout layout_of(const Shape& kernel, int dot_axis_count) const {
    const Letters& output_letters = parsed_equation_->output;
    QuantizedLayout layout{kernel, {}, {}, {}};
    for (int i = 0; i < kernel.rank(); ++i)
      if (!output_letters.has(parsed_equation_->kernel.all_letters[i]))
        layout.summed_axes.push_back(i);
    for (size_t i = 0; i <= output_letters.all_letters.size(); ++i) {
      for (int dot_axis_index = 0; i == output_letters.letters_before_dots &&
                                   output_letters.has_dots && dot_axis_index < dot_axis_count;
           ++dot_axis_index)
        layout.scale_shape.append(1);
      if (i == output_letters.all_letters.size()) break;
      const size_t letter_index =
          parsed_equation_->kernel.all_letters.find(output_letters.all_letters[i]);
      if (letter_index != std::string::npos)
        layout.other_axes.push_back(static_cast<int>(letter_index));
      layout.scale_shape.append(
          letter_index == std::string::npos ? 1 : kernel[static_cast<int>(letter_index)]);
    }
    return layout;
  }
  void check_input(const Shape& input) const {
    const Letters &input_letters = parsed_equation_->input,
                  &output_letters = parsed_equation_->output;
    if (input_letters.dot_axis_count(input) < 0 ||
        (input_letters.dot_axis_count(input) > 0 && !input_letters.has_dots))
      fail("equation \"", equation_, "\" gives the input ", input_letters.all_letters.size(),
           " axes, got shape ", input);
    for (size_t i = 0; i < output_letters.all_letters.size(); ++i) {
      const char letter = output_letters.all_letters[i];
      const int letter_index = int(i) - int(output_letters.all_letters.size());
      if (!input_letters.has(letter) || -letter_index > output_shape_.rank()) continue;
      const int64_t declared_size = output_shape_[letter_index],
                    input_size = input[input_letters.axis(letter)];
      if (declared_size >= 0 && input_size >= 0 && declared_size != input_size)
        fail("input ", input, " and output_shape ", output_shape_,
             " do not match at the shared axis '", letter, "'");
    }
  }
  /// The size of the axis with this letter: that of the input if the input has the axis, else that
  /// of the output in the option output_shape. This option does not contain the first axis, the
  /// batch, unless the output begins with "...".
  int64_t dim_of(char letter, const Shape& input) const {
    const Letters &input_letters = parsed_equation_->input,
                  &output_letters = parsed_equation_->output;
    const int64_t letter_index = int64_t(output_letters.all_letters.find(letter)) -
                                 int64_t(output_letters.all_letters.size());
    const bool is_given = output_letters.has(letter) && -letter_index <= output_shape_.rank();
    if (!input_letters.has(letter) && !is_given)
      fail("equation \"", equation_, "\": axis '", letter,
           "' is in neither input nor output_shape");
    const int64_t dim = input_letters.has(letter) ? input[input_letters.axis(letter)]
                                                  : output_shape_[int(letter_index)];
    if (dim < 0) fail("axis '", letter, "' of the input must have a known size, got shape ", input);
    return dim;
  }
  /// The shape of the bias, which begins with the first bias axis of the output and has size 1
  /// along later axes that are not bias axes.
  Shape bias_shape(const Shape& input) const {
    const Letters& output_letters = parsed_equation_->output;
    for (char letter : *bias_axes_)
      if (!output_letters.has(letter))
        fail("bias_axes \"", *bias_axes_, "\": '", letter, "' is no axis of the output of \"",
             equation_, "\"");
    const size_t first_letter_index = output_letters.all_letters.find_first_of(*bias_axes_);
    if (first_letter_index == std::string::npos)
      fail("bias_axes: expected at least one letter of the output, got none");
    Shape shape;
    for (size_t i = first_letter_index; i <= output_letters.all_letters.size(); ++i) {
      for (int dot_axis_index = 0;
           i == output_letters.letters_before_dots && output_letters.has_dots &&
           i > first_letter_index && dot_axis_index < parsed_equation_->input.dot_axis_count(input);
           ++dot_axis_index)
        shape.append(1);
      if (i == output_letters.all_letters.size()) break;
      const bool has_bias = bias_axes_->find(output_letters.all_letters[i]) != std::string::npos;
      shape.append(has_bias ? dim_of(output_letters.all_letters[i], input) : 1);
    }
    return shape;
  }

  std::string equation_;
  Shape output_shape_;
  Ref<Activation> activation_ = "linear";
  std::optional<std::string> bias_axes_;
  WeightRules kernel_rules_{"glorot_uniform"}, bias_rules_{"zeros"};
  std::optional<Equation> parsed_equation_;
  QuantizedWeight kernel_{"kernel", {}};
  Variable bias_;
};

}  // namespace

CRESCENT_REGISTER(einsum_dense) { registry.add<EinsumDense>("EinsumDense"); }

}  // namespace crescent
