#include "golden/applications/rule.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>

namespace crescent::golden {
namespace {

/// A number in [0, 1) for element i of weight number n.
double hash_fraction(uint32_t n, uint32_t i) {
  uint32_t h = i * 2654435761u + n * 40503u + 12345u;
  h ^= h >> 16, h *= 0x85EBCA6Bu;
  h ^= h >> 13, h *= 0xC2B2AE35u;
  h ^= h >> 16;
  return double(h >> 8) / double(1 << 24);
}

template <class F>
Tensor filled_by_rule(uint32_t n, const Shape& shape, F&& value) {
  std::vector<float> values(size_t(shape.size()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(value(hash_fraction(n, uint32_t(i))));
  return Tensor::from(values, shape);
}

double fan_in(const Shape& shape, bool counts_channels) {
  return double(counts_channels ? shape[0] * shape[1] : shape.slice(0, -1).size());
}

/// The values of weight number n by the rule; an undefined tensor for weights that keep their
/// initial values.
Tensor value_by_rule(uint32_t n, const Variable& weight, const Layer& layer,
                     const std::string& leaf) {
  const Shape& shape = weight.shape();
  const std::set<std::string> initial_names{"count", "iterations", "seeds"};
  const std::set<std::string> positive_names{"gamma", "moving_variance", "variance"};
  const std::set<std::string> near_zero_names{"beta", "bias", "moving_mean", "mean"};
  if (layer.class_name() == "Normalization" || initial_names.contains(leaf)) return {};
  if (positive_names.contains(leaf))
    return filled_by_rule(n, shape, [](double u) { return 0.5 + u; });
  if (near_zero_names.contains(leaf))
    return filled_by_rule(n, shape, [](double u) { return (u - 0.5) * 0.2; });
  const bool counts_channels =
      leaf == "depthwise_kernel" || layer.class_name() == "DepthwiseConv2D";
  const double half_range = std::sqrt(4.5 / fan_in(shape, counts_channels));
  return filled_by_rule(n, shape, [&](double u) { return (u - 0.5) * 2 * half_range; });
}

std::map<const void*, const Layer*> layers_of_weights(Model& model) {
  std::map<const void*, const Layer*> layers_of_weights;
  for (const Layer* layer : model.flatten_layers())
    if (layer->sublayers().empty())
      for (const Variable& weight : layer->weights()) layers_of_weights[weight.id()] = layer;
  return layers_of_weights;
}

}  // namespace

void set_weights(Model& model, const List& recorded) {
  const Variables weights = model.weights_in_keras_order();
  REQUIRE(weights.size() == recorded.size());
  const auto layers = layers_of_weights(model);
  for (size_t i = 0; i < weights.size(); ++i) {
    const std::string path = recorded[i].as_list().at(0).as_string();
    INFO("weight " << i << ", " << path << " of Keras, " << weights[i].path() << " here");
    REQUIRE(weights[i].shape() == Codec<Shape>::decode(recorded[i].as_list().at(1)));
    const std::string leaf = path.substr(path.rfind('/') + 1);
    const Tensor value = value_by_rule(uint32_t(i), weights[i], *layers.at(weights[i].id()), leaf);
    if (value) weights[i].assign(value);
  }
}

}  // namespace crescent::golden
