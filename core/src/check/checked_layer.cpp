#include "check/checked_layer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "crescent/tensor/strings.h"

namespace crescent::check {
namespace {

/// Returns the options with this dtype for the layer and its sublayers.
Dict with_dtype(Dict options, const char* dtype) {
  options.set("dtype", dtype);
  for (const char* option :
       {"layer", "forward_layer", "backward_layer", "cell", "cells", "layers"}) {
    Value* option_value = options.find(option);
    if (!option_value || option_value->is_null()) continue;
    const bool is_list = option_value->is_list();
    List layers = is_list ? option_value->as_list() : List{*option_value};
    for (Value& layer : layers)
      if (layer.is_dict())
        if (Value* config = layer.as_dict().find("config"); config && config->is_dict())
          *config = with_dtype(config->as_dict(), dtype);
    *option_value = is_list ? Value(layers) : layers.front();
  }
  return options;
}

Tensor as_strings(const Tensor& numbers) {
  std::vector<std::string> texts;
  for (const double number : numbers.to_vector())
    texts.push_back(std::to_string(static_cast<int64_t>(number)));
  return string_tensor(texts, numbers.shape());
}

}  // namespace

CheckedLayer::CheckedLayer(std::string class_name, Dict options, LayerCheckOptions checks)
    : class_name_(std::move(class_name)), options_(std::move(options)), checks_(std::move(checks)) {
  if (checks_.dtypes.empty()) checks_.dtypes = {DType::float32};
  if (checks_.shapes.empty())
    fail("check_layer: expected the shape of each input for one sample, such as (3,)");
  if (!(checks_.low <= checks_.high))
    fail("check_layer: expected 'low' to be at most 'high', got ", checks_.low, " and ",
         checks_.high);
}

LayerPtr CheckedLayer::make() const { return crescent::make<Layer>(class_name_, options_); }

LayerPtr CheckedLayer::make(const char* dtype) const try {
  return crescent::make<Layer>(class_name_, with_dtype(options_, dtype));
} catch (const Error& error) {
  if (is_of_exception(error)) throw;
  skip("no layer is made with dtype ", dtype, ": ", error.what());
}

LayerPtr CheckedLayer::make_built() const {
  const LayerPtr layer = make();
  (*layer)(inputs());
  return layer;
}

LayerPtr CheckedLayer::make_built(const char* dtype) const {
  const LayerPtr layer = make(dtype);
  (*layer)(inputs());
  return layer;
}

DType CheckedLayer::dtype_of(size_t input) const {
  return checks_.dtypes[std::min(input, checks_.dtypes.size() - 1)];
}

bool CheckedLayer::has_floating_input() const {
  for (size_t i = 0; i < checks_.shapes.size(); ++i)
    if (is_floating(dtype_of(i))) return true;
  return false;
}

/// Makes inputs with this batch size. The first samples are the same for every batch size.
Tensors CheckedLayer::inputs(int64_t batch) const {
  const SeedGenerator random(checks_.seed);
  Tensors inputs;
  for (size_t i = 0; i < checks_.shapes.size(); ++i) {
    const Shape whole_shape = Shape{std::max<int64_t>(batch, 1)}.concat(checks_.shapes[i]);
    const Tensor numbers =
        random.uniform(whole_shape, checks_.low, checks_.high).view_rows(0, batch).clone();
    const DType dtype = dtype_of(i);
    inputs.push_back(dtype == DType::string ? as_strings(numbers) : ops::cast(numbers, dtype));
  }
  return inputs;
}

CheckedLayer CheckedLayer::with_larger_samples() const {
  CheckedLayer larger_layer = *this;
  for (Shape& shape : larger_layer.checks_.shapes) {
    const int64_t larger_axis_sizes[] = {17, 33, 5};
    const int first_axis = shape.rank() < 2 ? 1 : 0,
              axis_count = std::max(1, shape.rank() - (shape.rank() > 2));
    for (int axis = 0; axis < std::min(shape.rank(), axis_count); ++axis)
      shape.set(axis, larger_axis_sizes[(first_axis + axis) % 3]);
  }
  return larger_layer;
}

std::vector<Symbol> CheckedLayer::symbols() const {
  std::vector<Symbol> symbols;
  for (const Tensor& t : inputs()) {
    InputOptions options;
    options.shape = t.shape().slice(1, t.rank());
    options.dtype = t.dtype();
    if (!takes_any_batch()) options.batch_size = batch();
    symbols.push_back(Input(options));
  }
  return symbols;
}

LayerCaller::LayerCaller(Layer& layer, bool training, RestoredWeights restored_weights)
    : layer_(layer) {
  options_.training = training;
  for (Layer* nested_layer : layer.flatten_layers()) {
    if (nested_layer->stateful()) nested_layer->reset_states();
    for (const SeedGenerator& generator : nested_layer->seed_generators())
      states_.push_back(generator.state());
    for (const Variable& state : nested_layer->states()) states_.push_back(state);
  }
  for (const Variable& weight :
       restored_weights == RestoredWeights::all ? layer.weights() : layer.non_trainable_weights())
    states_.push_back(weight);
  for (const Variable& state : states_) initial_values_.push_back(state.value().clone());
}

void LayerCaller::restore() const {
  for (size_t i = 0; i < states_.size(); ++i) states_[i].assign(initial_values_[i]);
}

Tensors LayerCaller::operator()(const Tensors& inputs, const Tensors& masks) const {
  restore();
  CallOptions options = options_;
  options.masks = masks;
  return layer_(inputs, options);
}

bool are_small(const Tensors& tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [](const Tensor& t) { return t.size() <= kMaxElements; });
}

std::vector<Shape> shapes_of(const Tensors& tensors) {
  std::vector<Shape> shapes;
  for (const Tensor& t : tensors) shapes.push_back(t.shape());
  return shapes;
}

std::string specs_text(const Tensors& tensors) {
  std::vector<std::string> texts;
  for (const Tensor& t : tensors) texts.push_back(to_text(t.spec()));
  return join(texts);
}

Tensors with_float_dtype(const Tensors& tensors, DType dtype) {
  Tensors result;
  for (const Tensor& t : tensors)
    result.push_back(is_floating(t.dtype()) ? ops::cast(t, dtype) : t);
  return result;
}

namespace {

bool has_numbers(const Tensor& t) { return t.dtype() != DType::string; }

/// The elements as numbers; a complex number gives its real and its imaginary part.
std::vector<double> numbers_of(const Tensor& t) {
  return (t.dtype() == DType::complex64 ? ops::view_as_real(t) : t).to_vector();
}

/// The largest absolute value of the finite numbers, at least 1.
double magnitude_scale(const std::vector<double>& values) {
  double scale = 1;
  for (const double value : values)
    if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
  return scale;
}

}  // namespace

void expect_near(const Tensors& actual, const Tensors& expected, double tolerance,
                 std::string_view what) {
  expect(actual.size() == expected.size(), what, ": ", actual.size(), " results, expected ",
         expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    expect(actual[i].shape() == expected[i].shape(), what, ": result ", i + 1, " has shape ",
           actual[i].shape(), ", expected ", expected[i].shape());
    if (!has_numbers(actual[i])) continue;
    const auto x = numbers_of(actual[i]), y = numbers_of(expected[i]);
    const double allowed_error = tolerance * magnitude_scale(y);
    for (size_t k = 0; k < x.size(); ++k) {
      const bool is_equal = x[k] == y[k] || (std::isnan(x[k]) && std::isnan(y[k]));
      expect(is_equal || std::abs(x[k] - y[k]) <= allowed_error, what, ": result ", i + 1, " has ",
             x[k], " where ", y[k], " was expected");
    }
  }
}

bool have_same_bits(const Tensors& a, const Tensors& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Tensor& x, const Tensor& y) {
    return x.spec() == y.spec() &&
           (x.dtype() == DType::string || std::memcmp(x.raw(), y.raw(), x.bytes()) == 0);
  });
}

void expect_same_bits(const Tensors& actual, const Tensors& expected, std::string_view what) {
  expect_near(actual, expected, 0, what);
}

bool is_finite(const Tensors& tensors) {
  for (const Tensor& t : tensors) {
    if (!is_floating(t.dtype())) continue;
    for (const double value : t.to_vector())
      if (!std::isfinite(value)) return false;
  }
  return true;
}

void expect_finite(const Tensors& tensors, std::string_view what) {
  for (const Tensor& t : tensors) {
    if (!is_floating(t.dtype())) continue;
    for (const double value : t.to_vector())
      expect(std::isfinite(value), what, ": a result has an element that is ", value);
  }
}

}  // namespace crescent::check
