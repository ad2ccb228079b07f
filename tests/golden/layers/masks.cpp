// How each layer handles a mask (masks.json): whether it supports masking, the result of its
// compute_mask, and the masks of its outputs.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "golden/recorded.h"

using namespace crescent;
using namespace crescent::golden;

namespace {

/// Classes that are recorded but not available here; Lambda is a Lua class.
const std::set<std::string> kMissingMasks = {"Lambda"};

Dict object(const char* name, const Dict& config) {
  return {{"class_name", name}, {"config", config}};
}

/// Options for layers whose defaults do not give the recorded shapes.
struct OptionsForShapes {
  const char* name;
  Dict options;
};
const OptionsForShapes kOptions[] = {
    {"Activation", {{"activation", "relu"}}},
    {"AdaptiveAveragePooling1D", {{"output_size", 2}}},
    {"AdaptiveMaxPooling1D", {{"output_size", 2}}},
    {"AlphaDropout", {{"rate", 0.5}}},
    {"Bidirectional", {{"layer", object("LSTM", {{"units", 3}})}}},
    {"Bidirectional(LSTM(return_sequences))",
     {{"layer", object("LSTM", {{"units", 3}, {"return_sequences", true}})}}},
    {"CategoryEncoding", {{"num_tokens", 5}}},
    {"Concatenate(axis=1)", {{"axis", 1}}},
    {"Conv1D", {{"filters", 3}, {"kernel_size", 2}}},
    {"Conv1DTranspose", {{"filters", 3}, {"kernel_size", 2}}},
    {"Dense", {{"units", 3}}},
    {"DepthwiseConv1D", {{"kernel_size", 2}}},
    {"Discretization", {{"bin_boundaries", List{0.5}}}},
    {"Dot", {{"axes", -1}}},
    {"Dot(axes=-1)", {{"axes", -1}}},
    {"Dropout", {{"rate", 0.5}}},
    {"EinsumDense", {{"equation", "abc,cd->abd"}, {"output_shape", List{Value(), 5}}}},
    {"Embedding", {{"input_dim", 10}, {"output_dim", 3}}},
    {"Embedding(mask_zero)", {{"input_dim", 10}, {"output_dim", 3}, {"mask_zero", true}}},
    {"GRU", {{"units", 3}}},
    {"GRU(return_sequences)", {{"units", 3}, {"return_sequences", true}}},
    {"GaussianDropout", {{"rate", 0.5}}},
    {"GaussianNoise", {{"stddev", 0.5}}},
    {"GroupNormalization", {{"groups", 3}}},
    {"GroupQueryAttention", {{"head_dim", 2}, {"num_query_heads", 2}, {"num_key_value_heads", 1}}},
    {"LSTM", {{"units", 3}}},
    {"LSTM(return_sequences)", {{"units", 3}, {"return_sequences", true}}},
    {"LSTM(return_state)", {{"units", 3}, {"return_state", true}}},
    {"LSTM(return_sequences, return_state)",
     {{"units", 3}, {"return_sequences", true}, {"return_state", true}}},
    {"MultiHeadAttention", {{"num_heads", 2}, {"key_dim", 2}}},
    {"Normalization", {{"mean", 0}, {"variance", 1}}},
    {"Permute", {{"dims", List{2, 1}}}},
    {"RNN", {{"cell", object("SimpleRNNCell", {{"units", 3}})}}},
    {"RepeatVector", {{"n", 3}}},
    {"Rescaling", {{"scale", 2}}},
    {"Reshape", {{"target_shape", List{2, 6}}}},
    {"ReversibleEmbedding", {{"input_dim", 10}, {"output_dim", 3}}},
    {"SeparableConv1D", {{"filters", 3}, {"kernel_size", 2}}},
    {"SimpleRNN", {{"units", 3}}},
    {"SimpleRNN(return_sequences)", {{"units", 3}, {"return_sequences", true}}},
    {"SpatialDropout1D", {{"rate", 0.5}}},
    {"SpectralNormalization", {{"layer", object("Dense", {{"units", 3}})}}},
    {"TimeDistributed", {{"layer", object("Dense", {{"units", 3}})}}},
    {"TimeDistributed(LayerNormalization)", {{"layer", object("LayerNormalization", {})}}},
};

Dict options_for(const std::string& name) {
  for (const OptionsForShapes& options_of_class : kOptions)
    if (name == options_of_class.name) return options_of_class.options;
  return {};
}

Tensor mask_tensor(const Value& rows) {
  std::vector<float> values;
  const List& list = rows.as_list();
  for (const Value& row : list)
    for (const Value& number : row.as_list())
      values.push_back(static_cast<float>(number.as_float()));
  const auto columns = static_cast<int64_t>(list.front().as_list().size());
  return ops::cast(Tensor::from(values, {static_cast<int64_t>(list.size()), columns}),
                   DType::boolean);
}

/// Whether the value is one mask, as lists of numbers: not null, and not a list of masks and nulls
/// for several outputs.
bool is_mask(const Value& value) {
  return value.is_list() && value.as_list().front().is_list() &&
         value.as_list().front().as_list().front().is_number();
}

Tensors masks_of(const Value& recorded) {
  Tensors masks;
  for (const Value& mask :
       is_mask(recorded) || recorded.is_null() ? List{recorded} : recorded.as_list())
    masks.push_back(mask.is_null() ? Tensor() : mask_tensor(mask));
  return masks;
}

void compare_masks(Tensors got, const Value& recorded, const char* description) {
  const Tensors want = masks_of(recorded);
  got.resize(std::max(got.size(), want.size()));
  for (size_t i = 0; i < got.size(); ++i) {
    INFO(description << " of output " << i);
    const Tensor wanted = i < want.size() ? want[i] : Tensor();
    REQUIRE(bool(got[i]) == bool(wanted));
    if (wanted) CHECK(got[i].to_vector() == wanted.to_vector());
  }
}

/// Inputs of this shape that carry the mask; two equal ones for layers that need two inputs. Masked
/// steps are zeros for layers that look up integers.
Tensors inputs_for(const Layer& layer, const std::string& shape, const Tensor& mask) {
  const size_t count = layer.class_name() == "Concatenate" ? 2 : layer.input_count().min;
  Tensor x =
      shape == "(2,4)" ? ops::cast(mask, DType::float32) : ops::ones({2, 4, 3}, DType::float32);
  x = x.with_mask(mask);
  return Tensors(count, x);
}

/// Compares masks with the recorded ones. Where Keras loses a mask Crescent may keep it, but then
/// the mask must fit the output.
void check_masks(Layer& layer, const Dict& recorded, const Tensor& mask) {
  const bool supports_masking = recorded.at("supports_masking").as_bool(),
             keeps_extra_mask = !supports_masking && layer.supports_masking();
  CHECK((layer.supports_masking() || !supports_masking));
  const Value* recorded_masks = recorded.find("mask_after_call");
  if (!recorded_masks) return;  // Keras raised an error in this case
  const Tensors inputs = inputs_for(layer, recorded.at("input").as_string(), mask);
  const Tensors outputs = layer(inputs);
  Tensors got;
  for (const Tensor& output : outputs) got.push_back(output.mask());
  if (keeps_extra_mask) {
    if (!got[0]) return;  // there is no mask for these options
    CHECK(got[0].shape() == outputs[0].shape().slice(0, got[0].rank()));
    return;
  }
  compare_masks(got, *recorded_masks, "mask");
  if (supports_masking)
    compare_masks(layer.compute_mask(inputs, Tensors(inputs.size(), mask), outputs),
                  recorded.at("compute_mask"), "compute_mask");
}

}  // namespace

TEST_CASE("layers make of a mask what they make of it in Keras") {
  const std::string path = folder() + "/masks.json";
  if (source() == Source::own || !is_there(path)) return;
  std::ifstream file(path);
  const Value recorded = parse_json(std::string(std::istreambuf_iterator<char>(file), {}));
  const Tensor mask = mask_tensor(recorded.as_dict().at("mask"));
  Tally tally(kMissingMasks);
  for (const auto& [name, value] : recorded.as_dict().at("layers").as_dict()) {
    INFO(name);
    const std::string class_name = name.substr(0, name.find('('));
    if (!is_registered(Layer::kKind, class_name)) {
      tally.count_skipped(class_name);
      continue;
    }
    try {
      const LayerPtr layer = make<Layer>(class_name, options_for(name));
      check_masks(*layer, value.as_dict(), mask);
      tally.count_compared();
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
  tally.check();
}
