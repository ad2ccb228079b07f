#include "quantized_product.h"

#include "crescent/program/gradient.h"

namespace crescent {
namespace {

/// The axes of the input that the result lacks.
std::vector<int> summed_axes(const Equation& parsed_equation, const Shape& input) {
  std::vector<int> axes;
  for (char letter : parsed_equation.input.all_letters)
    if (!parsed_equation.output.has(letter)) {
      const int axis = parsed_equation.input.axis(letter);
      axes.push_back(axis < 0 ? axis + input.rank() : axis);
    }
  std::sort(axes.begin(), axes.end());
  return axes;
}

/// The letters of `operand` that `other_operand` also has, with "..." if `operand` has it, for an
/// equation.
std::string kept_letters(const Letters& operand, const Letters& other_operand) {
  std::string text;
  for (size_t i = 0; i <= operand.all_letters.size(); ++i) {
    if (i == operand.letters_before_dots && operand.has_dots) text += "...";
    if (i < operand.all_letters.size() && other_operand.has(operand.all_letters[i]))
      text += operand.all_letters[i];
  }
  return text;
}

/// Brings the scales of the input, which have size 1 along summed axes, to the axes of the result,
/// with size 1 along axes that the input lacks.
Tensor scale_in_output_axes(const Equation& parsed_equation, const Tensor& scale,
                            const std::vector<int>& summed_input_axes) {
  Tensor output_scale = scale;
  for (auto axis = summed_input_axes.rbegin(); axis != summed_input_axes.rend(); ++axis)
    output_scale = ops::squeeze(output_scale, *axis);
  const std::string input_letters = kept_letters(parsed_equation.input, parsed_equation.output),
                    output_letters = kept_letters(parsed_equation.output, parsed_equation.input);
  if (input_letters != output_letters) {
    const Tensor operands[] = {output_scale};
    output_scale = ops::einsum(input_letters + "->" + output_letters, operands);
  }
  const int dot_axis_count = parsed_equation.input.dot_axis_count(scale.shape());
  for (size_t i = 0; i < parsed_equation.output.all_letters.size(); ++i)
    if (!parsed_equation.input.has(parsed_equation.output.all_letters[i]))
      output_scale = ops::expand_dims(
          output_scale, static_cast<int>(i) +
                            (i < parsed_equation.output.letters_before_dots ? 0 : dot_axis_count));
  return output_scale;
}

/// Whether each letter of the input is in the kernel or in the result, so that no axis of the input
/// is summed alone.
bool is_plain(const Equation& parsed_equation) {
  return std::all_of(parsed_equation.input.all_letters.begin(),
                     parsed_equation.input.all_letters.end(), [&](char letter) {
                       return parsed_equation.kernel.has(letter) ||
                              parsed_equation.output.has(letter);
                     });
}

Tensor einsum_of(const std::string& equation, const Tensor& x, const Tensor& values) {
  const Tensor operands[] = {x, values};
  return ops::einsum(equation, operands);
}

}  // namespace

TensorSpecs QuantizedProduct::infer(std::span<const TensorSpec> in) const {
  const Equation parsed_equation = Equation::parse(equation);
  const Letters &input = parsed_equation.input, &kernel = parsed_equation.kernel,
                &output = parsed_equation.output;
  const Shape &x = in[0].shape, &values = in[1].shape;
  const int dot_axis_count = input.dot_axis_count(x);
  if (!is_floating(in[0].dtype) || in[1].dtype != DType::int8)
    fail("expected floats and int8, got ", in[0], " and ", in[1]);
  if (values.rank() != int(kernel.all_letters.size()) ||
      (input.has_dots ? dot_axis_count < 0 : dot_axis_count != 0))
    fail("equation \"", equation, "\" does not fit shapes ", x, " and ", values);
  Shape shape;
  for (size_t i = 0; i <= output.all_letters.size(); ++i) {
    for (int dot = 0; i == output.letters_before_dots && output.has_dots && dot < dot_axis_count;
         ++dot)
      shape.append(x[static_cast<int>(input.letters_before_dots) + dot]);
    if (i == output.all_letters.size()) break;
    const char letter = output.all_letters[i];
    shape.append(kernel.has(letter) ? values[kernel.axis(letter)] : x[input.axis(letter)]);
  }
  return {{in[0].dtype, shape}};
}

Tensors QuantizedProduct::decompose(std::span<const Tensor> inputs) const {
  const Tensor &x = inputs[0], &values = inputs[1], &scale = inputs[2];
  if (!rounds_input) return {einsum_of(equation, x, ops::cast(values, x.dtype())) / scale};
  const Equation parsed_equation = Equation::parse(equation);
  const std::vector<int> summed_input_axes = summed_axes(parsed_equation, x.shape());
  const Quantized rounded_input = range(x, summed_input_axes);
  const DType integer_type = is_plain(parsed_equation) ? DType::int8 : DType::int32;
  const Tensor sums = einsum_of(equation, ops::cast(rounded_input.values, integer_type),
                                ops::cast(values, integer_type));
  return {ops::cast(sums, x.dtype()) /
          (scale * scale_in_output_axes(parsed_equation, rounded_input.scale, summed_input_axes))};
}

Tensors QuantizedProduct::vjp(const Vjp& v) const {
  Tensors gradients(3);
  if (!v.wanted[0]) return gradients;
  const Tensor &x = v.inputs[0], &values = v.inputs[1], &scale = v.inputs[2];
  GradientTape tape;
  tape.watch(x);
  const Tensor y = einsum_of(equation, x, ops::cast(values, x.dtype())) / scale;
  tape.stop();
  const Tensor sources[] = {x};
  gradients[0] = tape.gradient(y, sources, v.gradients[0]).front();
  return gradients;
}

Tensor quantized_product(const std::string& equation, const Tensor& x, const Tensor& values,
                         const Tensor& scale, const std::optional<AbsMax>& input_rounding) {
  QuantizedProduct op;
  op.equation = equation, op.rounds_input = input_rounding.has_value();
  op.range = input_rounding.value_or(AbsMax());
  return apply1(op, {x, values, ops::cast(scale, x.dtype())});
}

Tensor product_of_decoded(const QuantizationConfig& config, const std::string& equation,
                          const Tensor& x, const QuantizedLayout& layout,
                          const Tensors& component_values) {
  const Quantized weight = config.decode(layout, component_values);
  if (weight.scale)
    return quantized_product(equation, x, weight.values, weight.scale, config.input_rounding());
  return einsum_of(equation, x, ops::cast(weight.values, x.dtype()));
}

}  // namespace crescent
