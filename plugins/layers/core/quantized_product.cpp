#include "quantized_product.h"

#include "crescent/program/gradient.h"

namespace crescent {
namespace {

/// The axes of the input that the result lacks.
std::vector<int> summed_axes(const Equation& e, const Shape& input) {
  std::vector<int> axes;
  for (char letter : e.input.all_letters)
    if (!e.output.has(letter)) {
      const int axis = e.input.axis(letter);
      axes.push_back(axis < 0 ? axis + input.rank() : axis);
    }
  std::sort(axes.begin(), axes.end());
  return axes;
}

/// The letters of the operand `of` that the operand `wanted` also has, with "..." if `of` has it,
/// for an equation.
std::string kept_letters(const Letters& of, const Letters& wanted) {
  std::string text;
  for (size_t i = 0; i <= of.all_letters.size(); ++i) {
    if (i == of.letters_before_dots && of.has_dots) text += "...";
    if (i < of.all_letters.size() && wanted.has(of.all_letters[i])) text += of.all_letters[i];
  }
  return text;
}

/// Brings the scales of the input, which have size 1 along summed axes, to the axes of the result,
/// with size 1 along axes that the input lacks.
Tensor placed_in_output(const Equation& e, const Tensor& scale, const std::vector<int>& summed) {
  Tensor output_scale = scale;
  for (auto axis = summed.rbegin(); axis != summed.rend(); ++axis)
    output_scale = ops::squeeze(output_scale, *axis);
  const std::string from = kept_letters(e.input, e.output), to = kept_letters(e.output, e.input);
  if (from != to) {
    const Tensor operands[] = {output_scale};
    output_scale = ops::einsum(from + "->" + to, operands);
  }
  const int dots = e.input.dots(scale.shape());
  for (size_t i = 0; i < e.output.all_letters.size(); ++i)
    if (!e.input.has(e.output.all_letters[i]))
      output_scale = ops::expand_dims(
          output_scale, static_cast<int>(i) + (i < e.output.letters_before_dots ? 0 : dots));
  return output_scale;
}

/// Whether each letter of the input is in the kernel or in the result, so that no axis of the input
/// is summed alone.
bool is_plain(const Equation& e) {
  return std::all_of(e.input.all_letters.begin(), e.input.all_letters.end(),
                     [&](char letter) { return e.kernel.has(letter) || e.output.has(letter); });
}

Tensor einsum_of(const std::string& equation, const Tensor& x, const Tensor& values) {
  const Tensor operands[] = {x, values};
  return ops::einsum(equation, operands);
}

}  // namespace

TensorSpecs QuantizedProduct::infer(std::span<const TensorSpec> in) const {
  const Equation e = Equation::parse(equation);
  const Letters &input = e.input, &kernel = e.kernel, &output = e.output;
  const Shape &x = in[0].shape, &values = in[1].shape;
  const int dots = input.dots(x);
  if (!is_floating(in[0].dtype) || in[1].dtype != DType::int8)
    fail("expected floats and int8, got ", in[0], " and ", in[1]);
  if (values.rank() != int(kernel.all_letters.size()) || (input.has_dots ? dots < 0 : dots != 0))
    fail("equation \"", equation, "\" does not fit shapes ", x, " and ", values);
  Shape shape;
  for (size_t i = 0; i <= output.all_letters.size(); ++i) {
    for (int dot = 0; i == output.letters_before_dots && output.has_dots && dot < dots; ++dot)
      shape.append(x[static_cast<int>(input.letters_before_dots) + dot]);
    if (i == output.all_letters.size()) break;
    const char letter = output.all_letters[i];
    shape.append(kernel.has(letter) ? values[kernel.axis(letter)] : x[input.axis(letter)]);
  }
  return {{in[0].dtype, shape}};
}

Tensors QuantizedProduct::decompose(std::span<const Tensor> inputs) const {
  const Tensor &x = inputs[0], &values = inputs[1], &scale = inputs[2];
  if (!rounds) return {einsum_of(equation, x, ops::cast(values, x.dtype())) / scale};
  const Equation e = Equation::parse(equation);
  const std::vector<int> summed = summed_axes(e, x.shape());
  const Quantized rounded = range(x, summed);
  const DType integers = is_plain(e) ? DType::int8 : DType::int32;
  const Tensor sums =
      einsum_of(equation, ops::cast(rounded.values, integers), ops::cast(values, integers));
  return {ops::cast(sums, x.dtype()) / (scale * placed_in_output(e, rounded.scale, summed))};
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
                         const Tensor& scale, const std::optional<AbsMax>& inputs) {
  QuantizedProduct op;
  op.equation = equation, op.rounds = inputs.has_value();
  op.range = inputs.value_or(AbsMax());
  return apply1(op, {x, values, ops::cast(scale, x.dtype())});
}

Tensor product_of_decoded(const QuantizationConfig& config, const std::string& equation,
                          const Tensor& x, const QuantizedLayout& layout, const Tensors& parts) {
  const Quantized weight = config.decoded(layout, parts);
  if (weight.scale)
    return quantized_product(equation, x, weight.values, weight.scale, config.inputs());
  return einsum_of(equation, x, ops::cast(weight.values, x.dtype()));
}

}  // namespace crescent
