#include "training/input/arrays.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "crescent/base/structure.h"
#include "crescent/ops/ops.h"
#include "layer/batch_axis.h"
#include "training/state/model_access.h"
#include "training/state/training.h"

namespace crescent {
namespace {

std::string shapes_text(const Tensors& tensors) {
  std::vector<std::string> texts;
  for (const Tensor& t : tensors) texts.push_back(to_text(t.shape()));
  return "[" + join(texts) + "]";
}

void check_rank(const Tensors& tensors, const char* description) {
  for (const Tensor& t : tensors) {
    if (!t) fail(description, ": expected arrays, got none");
    if (t.rank() == 0) fail(description, ": expected an array with a batch axis, got a scalar");
  }
}

void check_same_count(const Tensors& tensors, const char* description) {
  for (const Tensor& t : tensors)
    if (t.dim(0) != tensors.front().dim(0))
      fail("All ", description,
           " should have the same number of samples. Got array shapes: ", shapes_text(tensors));
}

/// Checks the shape of one input, with the messages of Keras; a last axis of size 1 may be missing
/// or superfluous, because fit_input() (graph.h) adds or removes it.
void check_input(const Tensor& array, const Shape& input_shape, const Model& model, size_t index) {
  const int rank = input_shape.rank();
  const bool is_adjustable = (array.rank() == rank + 1 && array.dim(-1) == 1) ||
                             (array.rank() == rank - 1 && rank > 1 && input_shape[-1] == 1);
  if (is_adjustable) return;
  if (array.rank() != rank)
    fail("Error when checking input: expected ", model.input_names()[index], " to have ", rank,
         " dimensions, but got array with shape ", array.shape(),
         batch_axis_hint(array.shape(), input_shape));
  for (int i = 1; i < rank; ++i)
    if (input_shape[i] >= 0 && input_shape[i] != array.dim(i))
      fail("Error when checking input: expected ", model.input_names()[index], " to have shape ",
           input_shape.slice(1, rank), " but got array with shape ", array.shape().slice(1, rank));
}

/// Whether the arrays have the shapes of the inputs of the graph.
bool has_input_shapes(const Tensors& x, const std::vector<Symbol>& graph_inputs) {
  return std::equal(
      x.begin(), x.end(), graph_inputs.begin(), graph_inputs.end(),
      [](const Tensor& t, const Symbol& input) { return t.shape().compatible(input.shape()); });
}

/// The inputs of a graph for which the data must have arrays: all inputs except the optional ones
/// that the data omit.
std::vector<Symbol> expected_inputs(const Model& graph) {
  std::vector<Symbol> inputs = graph.inputs();
  const Value structure = graph.Model::structures().inputs;
  const List present_inputs = structure.is_null() ? List() : leaves_of(structure);
  for (size_t i = present_inputs.size() == inputs.size() ? inputs.size() : 0; i > 0; --i)
    if (present_inputs[i - 1].is_null())
      inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(i) - 1);
  return inputs;
}

/// Checks the arrays against the inputs of a graph. Models that are not graphs accept any arrays.
void check_against_graph(const Model& model, const Tensors& x) {
  if (model.is_graph() && has_input_shapes(x, expected_inputs(model))) return;
  std::vector<Shape> shapes;
  for (const Tensor& t : x) shapes.push_back(t.shape());
  ModelAccess::adapt(model, shapes);
  if (!model.is_graph()) return;
  const std::vector<Symbol> graph_inputs = expected_inputs(model);
  if (graph_inputs.size() != x.size())
    fail(
        "Error when checking model input: the list of Numpy arrays that you are passing to your "
        "model is not the size the model "
        "expected. Expected to see ",
        graph_inputs.size(), " array(s), but instead got the following list of ", x.size(),
        " arrays: ", shapes_text(x));
  for (size_t i = 0; i < graph_inputs.size(); ++i)
    check_input(x[i], graph_inputs[i].shape(), model, i);
}

/// The class number of each sample: y itself or, if y has a row of numbers for each sample, the
/// index of the largest number in the row.
std::vector<int64_t> class_numbers_of(const Tensor& y) {
  if (y.rank() > 2) fail("`class_weight` not supported for 3+ dimensional targets.");
  const Tensor values = y.in_memory() ? y : y.clone();
  const Tensor label_tensor =
      values.rank() == 2 && values.dim(1) > 1 ? ops::argmax(values, 1) : values;
  std::vector<int64_t> classes;
  for (double value : label_tensor.to_vector()) {
    if (!(std::abs(value) < 1e15))
      fail("class_weight: expected class labels as targets, got ", value);
    classes.push_back(std::llround(value));
  }
  return classes;
}

int64_t class_label(const std::string& key) {
  int64_t label = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), label);
  if (error != std::errc() || end != key.data() + key.size())
    fail("class_weight: expected class labels (whole numbers from 0), got '", key, "'");
  return label;
}

std::map<int64_t, double> class_weights(const Value& value) {
  std::map<int64_t, double> weights;
  if (value.is_list()) {
    int64_t label = 0;
    for (const Value& weight : value.as_list()) weights[label++] = weight.as_float();
    return weights;
  }
  for (const DictEntry& entry : value.as_dict())
    weights[class_label(entry.key)] = entry.value.as_float();
  return weights;
}

/// The number of classes of an output; nullopt if it cannot be told without the values of the
/// targets.
std::optional<int64_t> class_count(const Model& model, size_t output, const Tensors& targets) {
  const Tensor& y = targets[output];
  if (y.rank() == 2 && y.dim(1) > 1) return y.dim(1);
  const ModelAccess::Training& state = ModelAccess::training(model);
  if (state.plan.outputs.size() != targets.size() ||
      state.plan.keys.outputs.size() != targets.size())
    return std::nullopt;
  const auto& loss = state.plan.outputs[output].loss;
  const int64_t width = state.plan.keys.outputs[output].width;
  if (!loss || width < 1) return std::nullopt;
  if (width == 1) return loss->binary_targets() ? std::optional<int64_t>(2) : std::nullopt;
  return loss->sparse_targets() ? std::optional<int64_t>(width) : std::nullopt;
}

/// Fails if there is a weight for a class that no target can have.
void check_labels(const std::map<int64_t, double>& weights,
                  std::optional<int64_t> known_class_count) {
  if (weights.empty()) return;
  const int64_t first_label = weights.begin()->first, last_label = weights.rbegin()->first;
  if (first_label >= 0 && (!known_class_count || last_label < *known_class_count)) return;
  fail("class_weight: there is no class ", first_label < 0 ? first_label : last_label,
       "; the classes are ",
       known_class_count ? concat("0 to ", *known_class_count - 1) : "numbers from 0",
       first_label == 1 && last_label == *known_class_count
           ? ": labels count from 0, write [0] = ..."
           : "");
}

/// Warns when a list of class weights seems to start at class 1 instead of 0.
void warn_of_shift(const std::vector<int64_t>& classes, const std::map<int64_t, double>& weights) {
  if (classes.empty() || weights.empty() || weights.begin()->first != 1) return;
  const auto [min_class, max_class] = std::minmax_element(classes.begin(), classes.end());
  if (*min_class != 0 || *max_class >= weights.rbegin()->first) return;
  warn("class_weight: the data has no class ", weights.rbegin()->first,
       ", and class 0 has no weight, so it counts as it is. Labels count from 0: write [0] = ...");
}

Tensor sample_weights_by_class(const Tensor& y, const Value& class_weight,
                               std::optional<int64_t> known_class_count) {
  const std::map<int64_t, double> weights = class_weights(class_weight);
  check_labels(weights, known_class_count);
  const std::vector<int64_t> classes = class_numbers_of(y);
  warn_of_shift(classes, weights);
  std::vector<float> result;
  for (int64_t label : classes) {
    const auto label_weight = weights.find(label);
    result.push_back(label_weight == weights.end() ? 1.0F
                                                   : static_cast<float>(label_weight->second));
  }
  const int64_t count = static_cast<int64_t>(result.size());
  return Tensor::from(result, {count});
}

/// Returns the class_weight of each output. `value` is the class_weight of the only output, or a
/// list or dictionary with one for each output.
std::vector<Value> values_per_output(const Value& value, const std::vector<std::string>& names,
                                     size_t output_count) {
  if (output_count == 1 &&
      !(value.is_dict() && !names.empty() && value.as_dict().contains(names.front())))
    return {value};
  std::vector<Value> values(output_count);
  if (value.is_list()) {
    if (value.as_list().size() != output_count)
      fail("class_weight: expected one entry for each of ", output_count, " outputs, got ",
           value.as_list().size());
    return value.as_list();
  }
  for (const DictEntry& entry : value.as_dict()) {
    const auto matching_name = std::find(names.begin(), names.end(), entry.key);
    if (matching_name == names.end())
      fail("class_weight: expected names of outputs (", join(names), "), got '", entry.key, "'",
           did_you_mean(entry.key, names));
    values[matching_name - names.begin()] = entry.value;
  }
  return values;
}

}  // namespace

namespace {

/// Decodes a tensor or nested lists of numbers as a tensor; returns an empty Tensor for null.
Tensor tensor_of(const Value& value, const char* option_name) try {
  return value.is_null() ? Tensor() : Codec<Tensor>::decode(value);
} catch (Error& error) {
  error.add_context(concat(option_name, ": "));
  throw;
}

/// Whether the items of the list are tensors. Otherwise they are numbers, and the list as a whole
/// is one tensor.
bool holds_tensors(const List& list) {
  return list.empty() || std::any_of(list.begin(), list.end(), [](const Value& item) {
           return item.is_object() || item.is_null() || item.is_dict() ||
                  (item.is_list() && !item.as_list().empty() && holds_tensors(item.as_list()));
         });
}

}  // namespace

Tensors tensors_in(const Value& value, const std::vector<std::string>& names,
                   const char* option_name) {
  if (auto boxed = value.object_as<BoxedTensor>()) return {boxed->tensor};
  Tensors tensors;
  const auto is_leaf = [](const Value& item) {
    return !item.is_dict() && !(item.is_list() && holds_tensors(item.as_list()));
  };
  if (is_deep(value, is_leaf)) {
    for (const Value& leaf : leaves_by_name(value, is_leaf, names))
      tensors.push_back(tensor_of(leaf, option_name));
    return tensors;
  }
  if (value.is_list() && !holds_tensors(value.as_list())) return {tensor_of(value, option_name)};
  if (value.is_list()) {
    for (const Value& item : value.as_list()) tensors.push_back(tensor_of(item, option_name));
    return tensors;
  }
  if (!value.is_dict())
    fail(option_name, ": expected a tensor, a list of tensors or a dict by name, got ", value);
  for (const std::string& key : value.as_dict().keys())
    if (std::find(names.begin(), names.end(), key) == names.end())
      fail(option_name, ": no '", key, "' in the model", did_you_mean(key, names),
           "; it has: ", join(names));
  for (const std::string& name : names) {
    const Value* item = value.as_dict().find(name);
    if ((!item || item->is_null()) && std::string_view(option_name) != "sample_weight") {
      std::vector<std::string> quoted_names;
      for (const std::string& n : names) quoted_names.push_back("'" + n + "'");
      fail("No data provided for \"", name, "\". Need data for each key in: [", join(quoted_names),
           "]");
    }
    tensors.push_back(item ? tensor_of(*item, option_name) : Tensor());
  }
  return tensors;
}

void check_inputs(const Model& model, const Tensors& x) {
  if (x.empty()) fail("expected input data, got none");
  check_rank(x, "input data");
  if (model.is_graph() || model.built()) check_against_graph(model, x);
  check_same_count(x, "input arrays (x)");
  if (x.front().dim(0) == 0)
    fail("expected at least one sample, got input of shape ", x.front().shape());
}

void check_arrays(const Model& model, const Arrays& arrays) {
  check_inputs(model, arrays.x);
  check_rank(arrays.y, "target data");
  check_same_count(arrays.y, "target arrays (y)");
  if (!arrays.y.empty() && arrays.y.front().dim(0) != arrays.samples())
    fail("Input arrays should have the same number of samples as target arrays. Found ",
         arrays.samples(), " input samples and ", arrays.y.front().dim(0), " target samples.");
  for (const Tensor& w : arrays.weights)
    if (w && (w.rank() == 0 || w.dim(0) != arrays.samples()))
      fail("sample_weight: expected one weight a sample, ", arrays.samples(), " in all, got shape ",
           w.shape());
}

Tensors sample_weights(const Model& model, const Tensors& y, const Value& sample_weight) {
  if (sample_weight.is_null()) return {};
  Tensors weights =
      tensors_in(sample_weight, names_in_data(model.structures().outputs, model.output_names()),
                 "sample_weight");
  for (Tensor& weight : weights)
    if (weight && !is_floating(weight.dtype())) weight = ops::cast(weight, DType::float32);
  if (weights.size() == 1 && y.size() > 1) weights.resize(y.size(), weights.front());
  if (weights.size() != y.size())
    fail("sample_weight: expected one array for each of ", y.size(), " outputs, got ",
         weights.size());
  for (size_t i = 0; i < y.size(); ++i)
    if (weights[i] && weights[i].rank() > 0 && y[i].rank() > 0 && weights[i].dim(0) != y[i].dim(0))
      fail("sample_weight: expected one weight a sample, ", y[i].dim(0), " in all, got shape ",
           weights[i].shape());
  return weights;
}

Arrays checked_arrays(const Model& model, const Tensors& x, const Tensors& y,
                      const Value& sample_weight) {
  Arrays arrays{x, y, {}};
  check_arrays(model, arrays);
  arrays.weights = sample_weights(model, y, sample_weight);
  check_arrays(model, arrays);
  return arrays;
}

void weight_classes(const Model& model, Arrays& arrays, const Value& class_weight) {
  if (class_weight.is_null()) return;
  const std::vector<std::string> names =
      names_in_data(model.structures().outputs, model.output_names());
  const Tensors& y = arrays.y;
  Tensors& weights = arrays.weights;
  weights.resize(y.size());
  const std::vector<Value> values = values_per_output(class_weight, names, y.size());
  for (size_t i = 0; i < y.size(); ++i) {
    if (values[i].is_null()) continue;
    Tensor class_sample_weights =
        sample_weights_by_class(y[i], values[i], class_count(model, i, y));
    if (!weights[i]) {
      weights[i] = class_sample_weights;
      continue;
    }
    while (class_sample_weights.rank() < weights[i].rank())
      class_sample_weights = ops::expand_dims(class_sample_weights, -1);
    weights[i] = weights[i] * class_sample_weights;
  }
}

}  // namespace crescent
