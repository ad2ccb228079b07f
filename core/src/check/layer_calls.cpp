// Checks of calls of a layer: shapes, reproducibility, precisions, batch sizes, masks, malformed
// inputs.
#include <algorithm>
#include <set>

#include "check/checked_layer.h"
#include "crescent/model/model.h"
#include "crescent/program/device.h"
#include "crescent/program/gradient.h"
#include "crescent/program/program.h"

namespace crescent::check {
namespace {

constexpr bool kTrainingModes[] = {false, true};

const char* mode_text(bool training) { return training ? "in training" : "at inference"; }

Tensors call(Layer& layer, const Tensors& inputs, bool training) {
  CallOptions options;
  options.training = training;
  return layer(inputs, options);
}

/// Compares an inferred spec with the actual output.
void expect_compatible(const TensorSpec& inferred, const Tensor& output, size_t i,
                       std::string_view inference) {
  expect(inferred.shape.compatible(output.shape()), "call gave shape ", output.shape(),
         " for output ", i + 1, ", ", inference, " says ", inferred.shape);
}

/// Fails if two weights of the layer have the same path; weights of sublayers are not compared.
void expect_distinct_names(const Layer& layer) {
  std::set<const void*> sublayer_weights;
  for (const LayerPtr& sublayer : layer.sublayers())
    for (const Variable& weight : sublayer->weights()) sublayer_weights.insert(weight.id());
  std::set<std::string> names;
  for (const Variable& weight : layer.weights())
    expect(sublayer_weights.contains(weight.id()) || names.insert(weight.path()).second,
           "two weights are called '", weight.path(), "'");
}

/// Sets the number of threads of the device while an object of this class lives.
class ThreadCountScope {
 public:
  explicit ThreadCountScope(int64_t count)
      : previous_thread_count_(device().information().at("threads").as_int()) {
    device().configure({{"threads", count}});
  }
  ~ThreadCountScope() { device().configure({{"threads", previous_thread_count_}}); }
  ThreadCountScope(const ThreadCountScope&) = delete;

 private:
  int64_t previous_thread_count_;
};

}  // namespace

std::string check_call(const CheckedLayer& checked) {
  const LayerPtr layer = checked.make();
  const Tensors outputs = (*layer)(checked.inputs());
  expect(layer->built(), "the layer is not built after a call");
  expect_finite(outputs, "a call on random inputs");
  expect_finite(call(*layer, checked.inputs(), true), "a call in training");
  return concat(specs_text(checked.inputs()), " gives ", specs_text(outputs));
}

std::string check_shapes(const CheckedLayer& checked) {
  const LayerPtr layer = checked.make_built();
  const Tensors inputs = checked.inputs(), outputs = (*layer)(inputs);
  std::vector<Shape> unknown_shapes = shapes_of(inputs);
  if (checked.takes_any_batch())
    for (Shape& shape : unknown_shapes) shape.set(0, -1);
  const std::vector<Shape> shapes = layer->compute_output_shape(unknown_shapes);
  expect(shapes.size() == outputs.size(), "compute_output_shape gave ", shapes.size(),
         " shapes, call ", outputs.size(), " outputs");
  for (size_t i = 0; i < outputs.size(); ++i)
    expect_compatible({outputs[i].dtype(), shapes[i]}, outputs[i], i, "compute_output_shape");
  const LayerPtr new_layer = checked.make();
  const std::vector<Symbol> symbols = (*new_layer)(checked.symbols());
  expect(symbols.size() == outputs.size(), "a call on symbols gave ", symbols.size(),
         " outputs, on tensors ", outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    expect_compatible(symbols[i].spec(), outputs[i], i, "a call on symbols");
    expect(symbols[i].spec().dtype == outputs[i].dtype(), "call gave dtype ", outputs[i].dtype(),
           " for output ", i + 1, ", a call on symbols says ", symbols[i].spec().dtype);
  }
  const Tensors training_outputs = call(*layer, inputs, true);
  for (size_t i = 0; i < outputs.size(); ++i)
    expect(training_outputs.size() == outputs.size() &&
               training_outputs[i].shape() == outputs[i].shape(),
           "other shapes in training than at inference");
  return concat("symbols, compute_output_shape and call agree: ", to_text(symbols[0].spec()));
}

std::string check_weights(const CheckedLayer& checked) {
  const LayerPtr layer = checked.make_built();
  const size_t count = layer->weights().size();
  for (const Layer* nested_layer : layer->flatten_layers()) expect_distinct_names(*nested_layer);
  (*layer)(checked.inputs());
  expect(layer->weights().size() == count, "a second call makes weights: ", count, " before, ",
         layer->weights().size(), " after");
  const LayerPtr new_layer = checked.make();
  if (!is_model(*new_layer)) new_layer->build_for(shapes_of(checked.inputs()));
  expect(is_model(*new_layer) || new_layer->weights().size() == count, "build makes ",
         new_layer->weights().size(), " weights, the first call ", count);
  return concat(count, " weights, ", layer->trainable_weights().size(), " of them trainable");
}

std::string check_repeats(const CheckedLayer& checked) {
  const LayerPtr layer = checked.make_built();
  const Tensors inputs = checked.inputs();
  for (const bool training : kTrainingModes) {
    const LayerCaller call_layer(*layer, training);
    const Tensors first_results = call_layer(inputs);
    expect_same_bits(call_layer(inputs), first_results,
                     concat("a second call ", mode_text(training),
                            " with the same weights, "
                            "states and random generators"));
  }
  return "the same bits from the same weights, states and random generators";
}

std::string check_threads(const CheckedLayer& checked) {
  if (!device().information().contains("threads")) skip("the device has no threads");
  const LayerPtr layer = checked.make_built();
  const LayerCaller call_layer(*layer, true);
  const Tensors inputs = checked.inputs(checked.takes_any_batch() ? 33 : checked.batch());
  Tensors first_results;
  for (const int64_t count : {1, 2, 3}) {
    const ThreadCountScope threads(count);
    const Tensors outputs = call_layer(inputs);
    if (first_results.empty()) first_results = outputs;
    expect_same_bits(outputs, first_results, concat("with ", count, " threads"));
  }
  return "the same bits with 1, 2 and 3 threads";
}

std::string check_compiled(const CheckedLayer& checked) {
  const LayerPtr layer = checked.make_built();
  const Tensors inputs = checked.inputs();
  for (const bool training : kTrainingModes) {
    const LayerCaller call_layer(*layer, training);
    const Tensors eager_outputs = call_layer(inputs);
    const Function function([&](const Tensors& x) { return call_layer(x); });
    for (int run = 0; run < 2; ++run)
      expect_near(function(inputs), eager_outputs, 1e-4,
                  concat("compiled, ", mode_text(training), ", beside op by op"));
  }
  return "compiled programs give what ops give one by one";
}

namespace {

Tensors check_batch(const CheckedLayer& checked, int64_t size) {
  if (!checked.takes_any_batch()) skip("the layer takes batches of ", checked.batch(), " only");
  const LayerPtr layer = checked.make_built();
  const Tensors inputs = checked.inputs(size), usual_outputs = (*layer)(checked.inputs());
  Tensors outputs;
  for (const bool training : {true, false}) {
    const LayerCaller call_layer(*layer, training);
    outputs = call_layer(inputs);
    const Function function([&](const Tensors& x) { return call_layer(x); });
    expect_near(function(inputs), outputs, 1e-4, concat("compiled for ", size, " samples"));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Shape &actual = outputs[i].shape(), &usual_shape = usual_outputs.at(i).shape();
    expect(actual.rank() == usual_shape.rank(), "output ", i + 1, " has shape ", actual, " for ",
           size, " samples, ", usual_shape, " for ", checked.batch());
  }
  return outputs;
}

}  // namespace

std::string check_batch_of_one(const CheckedLayer& checked) {
  return specs_text(check_batch(checked, 1));
}

std::string check_empty_batch(const CheckedLayer& checked) {
  return specs_text(check_batch(checked, 0));
}

std::string check_large_batch(const CheckedLayer& checked) {
  return specs_text(check_batch(checked, 257));
}

std::string check_zeros(const CheckedLayer& checked) {
  if (!checked.has_floating_input()) skip("no input is a tensor of floating-point numbers");
  const LayerPtr layer = checked.make_built();
  Tensors inputs;
  for (const Tensor& t : checked.inputs())
    inputs.push_back(is_floating(t.dtype()) ? ops::zeros_like(t) : t);
  for (const bool training : kTrainingModes) {
    const LayerCaller call_layer(*layer, training);
    GradientTape tape;
    for (const Tensor& t : inputs)
      if (is_floating(t.dtype())) tape.watch(t);
    const Tensors outputs = call_layer(inputs);
    tape.stop();
    expect_finite(outputs, concat("inputs of zeros ", mode_text(training)));
    Tensors gradients;
    for (const Tensor& g : tape.gradient(outputs, inputs, {}))
      if (g) gradients.push_back(g);
    expect_finite(gradients, "the gradient at inputs of zeros");
  }
  return "inputs of zeros give finite results and gradients";
}

std::string check_masks(const CheckedLayer& checked) {
  const LayerPtr layer = checked.make_built();
  if (!layer->supports_masking()) skip("the layer does not support masks");
  Tensors inputs = checked.inputs();
  Tensors masks;
  for (const Tensor& t : inputs) {
    if (t.rank() < 3) skip("masks are for inputs of steps");
    masks.push_back(ops::ones(t.shape().slice(0, 2), DType::boolean));
  }
  const LayerCaller call_layer(*layer, false);
  const Tensors unmasked_outputs = call_layer(inputs), masked_outputs = call_layer(inputs, masks);
  expect_near(masked_outputs, unmasked_outputs, 1e-5,
              "a mask that is true everywhere, beside no mask");
  std::string text = "a mask that is true everywhere changes nothing";
  for (const Tensor& y : masked_outputs) {
    if (!y.mask()) continue;
    const Shape &mask = y.mask().shape(), &shape = y.shape();
    expect(mask.rank() <= shape.rank() && mask.compatible(shape.slice(0, mask.rank())),
           "the mask of an output has shape ", mask, ", the output ", shape);
    text += concat("; the mask of the output is ", mask);
  }
  return text;
}

namespace {

std::string check_mixed(const CheckedLayer& checked, const char* policy, DType compute_dtype,
                        double tolerance) {
  const LayerPtr layer = checked.make_built();
  if (is_model(*layer)) skip("the layers of a model have dtypes of their own");
  const LayerPtr mixed_layer = checked.make_built(policy);
  mixed_layer->set_weights(layer->get_weights());
  for (const Variable& weight : mixed_layer->weights())
    expect(weight.dtype() == DType::float32 || !is_floating(weight.dtype()), "weight '",
           weight.path(), "' is ", weight.dtype(), ", expected float32");
  const Tensors inputs = checked.inputs();
  const LayerCaller call_plain_layer(*layer, false), call_layer(*mixed_layer, false);
  const Tensors exact_outputs = call_plain_layer(inputs), mixed_outputs = call_layer(inputs);
  for (size_t i = 0; i < mixed_outputs.size(); ++i)
    expect(!is_floating(exact_outputs[i].dtype()) || mixed_outputs[i].dtype() == compute_dtype,
           "output ", i + 1, " is ", mixed_outputs[i].dtype(), ", expected ", compute_dtype);
  expect_near(mixed_outputs, exact_outputs, tolerance, concat(policy, " beside float32"));
  const Variables weights = mixed_layer->trainable_weights();
  GradientTape tape;
  const Tensors outputs = call_layer(inputs);
  tape.stop();
  for (const Tensor& y : outputs) {
    if (!is_floating(y.dtype())) continue;
    for (const Tensor& g : tape.gradient(y, std::span<const Variable>(weights)))
      expect(!g || g.dtype() == DType::float32, "the gradient of a weight is ",
             g ? to_text(g.dtype()) : "", ", expected float32");
  }
  return concat(specs_text(mixed_outputs), " from weights in float32");
}

}  // namespace

std::string check_mixed_float16(const CheckedLayer& checked) {
  return check_mixed(checked, "mixed_float16", DType::float16, 0.02);
}

std::string check_mixed_bfloat16(const CheckedLayer& checked) {
  return check_mixed(checked, "mixed_bfloat16", DType::bfloat16, 0.1);
}

std::string check_float64(const CheckedLayer& checked) {
  const LayerPtr layer = checked.make_built();
  if (is_model(*layer)) skip("the layers of a model have dtypes of their own");
  const LayerPtr float64_layer = checked.make_built("float64");
  float64_layer->set_weights(layer->get_weights());
  const Tensors inputs = checked.inputs();
  const LayerCaller call_plain_layer(*layer, false), call_layer(*float64_layer, false);
  const Tensors actual = call_layer(with_float_dtype(inputs, DType::float64)),
                expected_outputs = call_plain_layer(inputs);
  for (size_t i = 0; i < actual.size(); ++i)
    expect(!is_floating(expected_outputs[i].dtype()) || actual[i].dtype() == DType::float64,
           "output ", i + 1, " is ", actual[i].dtype(), ", expected float64");
  expect_near(actual, expected_outputs, 1e-4, "float64 beside float32");
  return specs_text(actual);
}

namespace {

/// Calls the layer with inputs that it may reject by an Error, and returns 1 if it does, 0 if it
/// accepts them. An exception of the standard library is a failed check.
int is_refused(const CheckedLayer& checked, const LayerPtr& layer, const Tensors& inputs,
               std::string_view what) {
  try {
    (*layer)(inputs);
    return 0;
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& error) {
    const std::string_view text = error.what();
    expect(text.find(concat("(in ", checked.class_name(), " of ")) == text.npos, what,
           " raises no message of the layer but ", text);
    return 1;
  }
}

}  // namespace

std::string check_wrong_inputs(const CheckedLayer& checked) {
  const Tensors inputs = checked.inputs();
  int count = 0;
  const auto try_inputs = [&](const Tensors& bad_inputs, std::string_view what) {
    count += is_refused(checked, checked.make(), bad_inputs, what);
    count += is_refused(checked, checked.make_built(), bad_inputs, what);
  };
  try_inputs({}, "no input");
  Tensors extra_inputs = inputs;
  extra_inputs.insert(extra_inputs.end(), 8, inputs[0]);
  try_inputs(extra_inputs, "8 inputs more");
  for (const Shape& shape :
       {Shape{}, Shape{2}, Shape{2, 7}, Shape{2, 1, 1, 1, 1, 1, 1}, Shape{0}}) {
    Tensors wrong_inputs = inputs;
    wrong_inputs[0] = ops::zeros(shape, DType::float32);
    try_inputs(wrong_inputs, concat("an input of shape ", shape));
  }
  Tensors string_inputs = inputs;
  string_inputs[0] = Tensor(Shape{2, 2}, DType::string);
  try_inputs(string_inputs, "an input of strings");
  return concat(count, " calls on malformed inputs refused with a message, the others computed");
}

}  // namespace crescent::check
