// Mappings that call layers on elements.
#include <algorithm>
#include <array>

#include "crescent/base/structure.h"
#include "crescent/data/stream.h"
#include "crescent/layer/layer.h"
#include "crescent/ops/random.h"
#include "crescent/tensor/strings.h"

namespace crescent {
namespace {

/// Sets the states of the layer's random generators from global_random(), which is a generator of
/// the element here, so that the layer's draws do not depend on earlier elements.
void reseed(Layer& layer) {
  const int64_t drawn_seed = global_random().seed();
  for (Layer* sublayer : layer.flatten_layers())
    for (const SeedGenerator& generator : sublayer->seed_generators()) {
      const int64_t seed = generator.state().value().data<int64_t>()[0];
      generator.state().assign(Tensor::from(std::vector<int64_t>{seed, drawn_seed}, {2}));
    }
}

Value boxed(const Tensor& tensor) { return Value(std::make_shared<BoxedTensor>(tensor)); }

/// The value as tensors in the same dictionaries and lists of tensors: a text becomes a string
/// tensor, a number or a list of numbers a tensor.
Value tensors_in(const Value& part) {
  if (part.is_string()) return boxed(string_tensor(std::array{part.as_string()}, {}));
  if (part.is_dict()) {
    Dict dict;
    for (const DictEntry& entry : part.as_dict()) dict.set(entry.key, tensors_in(entry.value));
    return dict;
  }
  const bool holds_tensors =
      part.is_list() && !part.as_list().empty() &&
      (part.as_list().front().is_object() || part.as_list().front().is_dict());
  if (!holds_tensors) return boxed(Codec<Tensor>::decode(part));
  List list;
  for (const Value& item : part.as_list()) list.push_back(tensors_in(item));
  return list;
}

List boxed(const Tensors& tensors) {
  List list;
  for (const Tensor& tensor : tensors) list.push_back(boxed(tensor));
  return list;
}

/// Whether the layer has an input for each name, as layers of images have for images and labels.
bool has_inputs(const Layer& layer, const Dict& inputs) {
  return std::all_of(inputs.begin(), inputs.end(), [&](const DictEntry& entry) {
    const std::vector<Argument>& arguments = layer.call_arguments();
    return std::any_of(arguments.begin(), arguments.end(), [&](const Argument& argument) {
      return argument.input && argument.name == entry.key;
    });
  });
}

/// Calls the layer on inputs that are named arguments of its call. If there are as many results as
/// inputs, returns them in a dictionary with the names of the inputs.
Value call_on_names(Layer& layer, const Dict& inputs, CallOptions options) {
  for (const DictEntry& entry : inputs) options.arguments.set(entry.key, entry.value);
  const List results = boxed(layer(Tensors{}, options));
  Dict ordered_inputs;
  size_t count = 0;
  for (const Argument& argument : layer.call_arguments())
    if (const Value* input = inputs.find(argument.name)) {
      ordered_inputs.set(argument.name, structure_of(*input));
      count += leaves_of(*input).size();
    }
  if (results.size() != count) return results.size() == 1 ? results.front() : Value(results);
  Dict named_results;
  auto next_result = results.begin();
  for (const DictEntry& entry : ordered_inputs) {
    const auto end = next_result + static_cast<ptrdiff_t>(tensor_count(entry.value));
    named_results.set(entry.key, packed(entry.value, List(next_result, end)));
    next_result = end;
  }
  return named_results;
}

/// Calls the layer on a part of an element: a tensor, a list of tensors, which are several inputs,
/// or a dictionary.
Value call_on_part(Layer& layer, const Value& part, CallOptions options) {
  const Value inputs = tensors_in(part);
  if (inputs.is_dict() && (!layer.takes_structures() || has_inputs(layer, inputs.as_dict())))
    return call_on_names(layer, inputs.as_dict(), options);
  if (layer.takes_structures()) options.structure = structure_of(inputs);
  Tensors tensors;
  for (const Value& leaf : leaves_of(inputs)) tensors.push_back(Codec<Tensor>::decode(leaf));
  const List results = boxed(layer(tensors, options));
  if (!layer.output_structure().is_null()) return packed(layer.output_structure(), results);
  return results.size() == 1 ? results.front() : Value(results);
}

}  // namespace

Mapping layer_mapping(const LayerPtr& layer, std::optional<bool> training) {
  const Mapper mapper = [layer, training](Element element) {
    if (element.empty()) fail("expected an element with a part for the layer");
    reseed(*layer);
    CallOptions options;
    options.training = training;
    element[0] = call_on_part(*layer, element[0], options);
    return element;
  };
  Mapping mapping;
  mapping.make = [mapper] { return mapper; };
  return mapping;
}

}  // namespace crescent
