// Mappings that call layers on elements.
#include <array>

#include "crescent/data/stream.h"
#include "crescent/layer/layer.h"
#include "crescent/ops/random.h"
#include "crescent/tensor/strings.h"

namespace crescent {
namespace {

/// Sets the states of the layer's random generators from global_random(), which belongs to the
/// element, so that the layer's draws do not depend on earlier elements.
void reseed(Layer& layer) {
  const int64_t drawn_seed = global_random().seed();
  for (Layer* sublayer : layer.flatten_layers())
    for (const SeedGenerator& generator : sublayer->seed_generators()) {
      const int64_t seed = generator.state().value().data<int64_t>()[0];
      generator.state().assign(Tensor::from(std::vector<int64_t>{seed, drawn_seed}, {2}));
    }
}

/// Returns the inputs of the layer that a part of an element holds: a text becomes one string
/// tensor, a list of tensors several inputs.
Tensors inputs_of(const Value& part) {
  if (part.is_string()) return {string_tensor(std::array{part.as_string()}, {})};
  const bool has_several_inputs =
      part.is_list() && !part.as_list().empty() && part.as_list().front().is_object();
  if (!has_several_inputs) return {Codec<Tensor>::decode(part)};
  Tensors inputs;
  for (const Value& input : part.as_list()) inputs.push_back(Codec<Tensor>::decode(input));
  return inputs;
}

}  // namespace

Mapping layer_mapping(const LayerPtr& layer, std::optional<bool> training) {
  const Mapper mapper = [layer, training](Element element) {
    if (element.empty()) fail("expected an element with a part for the layer");
    reseed(*layer);
    const Tensors inputs = inputs_of(element[0]);
    CallOptions options;
    options.training = training;
    List outputs;
    for (const Tensor& output : (*layer)(inputs, options))
      outputs.push_back(std::make_shared<BoxedTensor>(output));
    element[0] = outputs.size() == 1 ? outputs.front() : Value(outputs);
    return element;
  };
  Mapping mapping;
  mapping.make = [mapper] { return mapper; };
  return mapping;
}

}  // namespace crescent
