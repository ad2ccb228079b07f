// Keras' applications, from the JSON that it writes of them: NAME.json.gz beside NAME.io.h5. Their
// weights are not recorded but follow a rule (RULE.md of the recorded set).
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>

#include "crescent/file.h"
#include "golden/recorded.h"

using namespace crescent;
using namespace crescent::golden;

namespace {

/// In [0, 1), of element i of weight number n.
double hashed(uint32_t n, uint32_t i) {
  uint32_t h = i * 2654435761u + n * 40503u + 12345u;
  h ^= h >> 16, h *= 0x85EBCA6Bu;
  h ^= h >> 13, h *= 0xC2B2AE35u;
  h ^= h >> 16;
  return double(h >> 8) / double(1 << 24);
}

template <class F>
Tensor by_rule(uint32_t n, const Shape& shape, F&& value) {
  std::vector<float> values(size_t(shape.size()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(value(hashed(n, uint32_t(i))));
  return Tensor::from(values, shape);
}

double fan_in(const Shape& shape, bool of_channels) {
  return double(of_channels ? shape[0] * shape[1] : shape.slice(0, -1).size());
}

/// What the rule gives weight number n; nothing for those that stay as they were built.
Tensor ruled(uint32_t n, const Variable& weight, const Layer& layer, const std::string& leaf) {
  const Shape& shape = weight.shape();
  const std::set<std::string> kept{"count", "iterations", "seeds"};
  const std::set<std::string> positive{"gamma", "moving_variance", "variance"};
  const std::set<std::string> small{"beta", "bias", "moving_mean", "mean"};
  if (layer.class_name() == "Normalization" || kept.contains(leaf)) return {};
  if (positive.contains(leaf)) return by_rule(n, shape, [](double u) { return 0.5 + u; });
  if (small.contains(leaf)) return by_rule(n, shape, [](double u) { return (u - 0.5) * 0.2; });
  const bool of_channels = leaf == "depthwise_kernel" || layer.class_name() == "DepthwiseConv2D";
  const double reach = std::sqrt(4.5 / fan_in(shape, of_channels));
  return by_rule(n, shape, [&](double u) { return (u - 0.5) * 2 * reach; });
}

std::map<const void*, const Layer*> owners(Model& model) {
  std::map<const void*, const Layer*> owners;
  for (const Layer* layer : model.flatten_layers())
    if (layer->sublayers().empty())
      for (const Variable& weight : layer->weights()) owners[weight.id()] = layer;
  return owners;
}

/// The weights are those of Keras, by number and shape; then they follow the rule.
void set_weights(Model& model, const List& recorded) {
  const Variables weights = model.weights_in_order();
  REQUIRE(weights.size() == recorded.size());
  const auto layers = owners(model);
  for (size_t i = 0; i < weights.size(); ++i) {
    const std::string path = recorded[i].as_list().at(0).as_string();
    INFO("weight " << i << ", " << path << " of Keras, " << weights[i].path() << " here");
    REQUIRE(weights[i].shape() == Codec<Shape>::decode(recorded[i].as_list().at(1)));
    const std::string leaf = path.substr(path.rfind('/') + 1);
    const Tensor value = ruled(uint32_t(i), weights[i], *layers.at(weights[i].id()), leaf);
    if (value) weights[i].assign(value);
  }
}

/// Keras' own float32 is that far from float64, as a share of the largest output (RULE.md), and so
/// are we: what was rounded in one of hundreds of layers is spread over all outputs.
constexpr double kShare = 1e-5;

void check_application(const std::string& json_path, const std::string& io_path) {
  const ModelPtr model = model_from_json(read_file_unpacked(json_path));
  const Recording io(io_path);
  set_weights(*model, io.json("/", "weights").as_list());
  const Tensor wanted = io.tensor("outputs/0");
  const Tensor got = model->predict({io.tensor("inputs/0")}).front();
  CHECK(difference(got, wanted, {0, kShare * ops::max(ops::abs(wanted)).item()}) == "");
}

}  // namespace

TEST_CASE("Keras' applications predict what they predict there") {
  const std::string applications = folder() + "/applications";
  if (source() == Source::own || !there(applications)) return;
  Tally tally;
  const std::string ending = ".json.gz";
  for (const std::string& file : files_ending(applications, ending)) {
    const std::string name = file.substr(0, file.size() - ending.size());
    INFO(name);
    try {
      check_application(applications + "/" + file, applications + "/" + name + ".io.h5");
      tally.compared();
    } catch (const Error& error) {
      FAIL_CHECK(name << ": " << error.what());
    }
  }
  tally.check();
}
