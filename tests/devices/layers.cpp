// Outputs and gradients of layers on the device equal those on the cpu, for the same weights.
#include "crescent/program/gradient.h"
#include "support.h"

namespace crescent::test {
namespace {

struct LayerCase {
  std::string name;
  Dict options;
  Shape input;
  bool training = true;  ///< whether the layer is tested in training mode too
};

const std::vector<LayerCase>& layer_cases() {
  static const std::vector<LayerCase> all{
      {"Dense", {{"units", 5}, {"activation", "gelu"}}, {3, 4}},
      {"Dense", {{"units", 5}, {"use_bias", false}}, {2, 3, 4}},
      {"EinsumDense", {{"equation", "abc,cd->abd"}, {"output_shape", List{Value(), 6}}}, {2, 3, 4}},
      {"Activation", {{"activation", "softmax"}}, {3, 4}},
      {"Flatten", {}, {2, 3, 4}},
      {"Reshape", {{"target_shape", List{4, 3}}}, {2, 3, 4}},
      {"Permute", {{"dims", List{2, 1}}}, {2, 3, 4}},
      {"RepeatVector", {{"n", 3}}, {2, 4}},
      {"LeakyReLU", {}, {3, 4}},
      {"PReLU", {}, {3, 4}},
      {"ELU", {}, {3, 4}},
      {"Softmax", {}, {3, 4}},
      {"Conv1D", {{"filters", 3}, {"kernel_size", 3}, {"padding", "causal"}}, {2, 7, 2}},
      {"Conv2D", {{"filters", 3}, {"kernel_size", 3}, {"padding", "same"}}, {2, 6, 5, 2}},
      {"Conv2D", {{"filters", 4}, {"kernel_size", 3}, {"strides", 2}, {"groups", 2}}, {2, 7, 7, 4}},
      {"Conv2D", {{"filters", 3}, {"kernel_size", 2}, {"dilation_rate", 2}}, {2, 6, 5, 2}},
      {"Conv3D", {{"filters", 2}, {"kernel_size", 2}}, {1, 4, 3, 4, 2}},
      {"Conv2DTranspose", {{"filters", 3}, {"kernel_size", 3}, {"strides", 2}}, {2, 3, 4, 2}},
      {"MaxPooling2D", {{"pool_size", 2}}, {2, 5, 6, 3}},
      {"MaxPooling2D", {{"pool_size", 3}, {"strides", 2}, {"padding", "same"}}, {2, 5, 6, 3}},
      {"MaxPooling1D", {{"pool_size", 2}}, {2, 6, 3}},
      {"AveragePooling2D", {{"pool_size", 3}, {"strides", 1}, {"padding", "same"}}, {2, 5, 6, 3}},
      {"GlobalAveragePooling2D", {}, {2, 4, 5, 3}},
      {"GlobalMaxPooling1D", {}, {2, 4, 3}},
      {"BatchNormalization", {}, {6, 4}},
      {"BatchNormalization", {}, {2, 4, 5, 3}},
      {"LayerNormalization", {}, {3, 5}},
      {"SimpleRNN", {{"units", 3}}, {2, 5, 4}},
      {"LSTM", {{"units", 3}, {"return_sequences", true}}, {2, 5, 4}},
      {"LSTM", {{"units", 3}, {"go_backwards", true}}, {2, 5, 4}},
      {"GRU", {{"units", 3}}, {2, 5, 4}},
      {"GRU", {{"units", 3}, {"reset_after", false}}, {2, 5, 4}},
      {"Dropout", {{"rate", 0.5}, {"seed", 3}}, {4, 6}},
      {"GaussianNoise", {{"stddev", 0.5}, {"seed", 3}}, {4, 6}},
  };
  return all;
}

struct Outcome {
  Tensor inference, training;
  Tensors gradients, weights;
};

/// The outputs and gradients of the layer; if `weights` is given, they replace the layer's initial
/// weights.
Outcome outcome_of(const LayerCase& layer_case, const Tensor& x, const Tensors* weights) {
  set_random_seed(3);
  const LayerPtr layer = make<Layer>(layer_case.name, layer_case.options);
  Outcome outcome;
  outcome.inference = (*layer)(x, {});
  if (weights) layer->set_weights(*weights);
  outcome.weights = layer->get_weights();
  CallOptions options;
  options.training = false;
  const Function predict([&](const Tensors& in) { return Tensors{(*layer)(in[0], options)}; });
  outcome.inference = predict({x})[0];
  const Function train([&](const Tensors& in) {
    CallOptions training;
    training.training = true;
    GradientTape tape;
    tape.watch(in[0]);
    const Tensor y = (*layer)(in[0], training);
    const Tensor loss = ops::sum(ops::square(y + 0.5));
    Tensors results = tape.gradient(loss, std::span<const Variable>(layer->trainable_weights()));
    results.push_back(y);
    return results;
  });
  outcome.gradients = train({x});
  outcome.training = outcome.gradients.back();
  outcome.gradients.pop_back();
  return outcome;
}

}  // namespace

TEST_CASE("layers: as on the cpu") {
  for (const LayerCase& layer_case : layer_cases()) {
    DYNAMIC_SECTION(layer_case.name << " " << to_json(layer_case.options) << " on "
                                    << to_text(layer_case.input)) {
      const Tensor x = numbers(layer_case.input, 1);
      const Outcome expected = on_cpu([&] { return outcome_of(layer_case, x, nullptr); });
      const Outcome got = outcome_of(layer_case, x, &expected.weights);
      CHECK(difference(got.inference, expected.inference) < 3e-6);
      CHECK(difference(got.training, expected.training) < 1e-5);
      REQUIRE(got.gradients.size() == expected.gradients.size());
      for (size_t i = 0; i < got.gradients.size(); ++i)
        CHECK(difference(got.gradients[i], expected.gradients[i]) < 2e-5);
    }
  }
}

TEST_CASE("layers: embeddings with a mask") {
  auto embed = [] {
    set_random_seed(3);
    const LayerPtr layer =
        make<Layer>("Embedding", {{"input_dim", 5}, {"output_dim", 3}, {"mask_zero", true}});
    const LayerPtr lstm = make<Layer>("LSTM", {{"units", 2}});
    const Tensor ids = Tensor::from(std::vector<int32_t>{1, 2, 0, 4, 3, 0}, {2, 3});
    return (*lstm)((*layer)(ids, {}), {});
  };
  CHECK(difference(embed(), on_cpu(embed)) < 1e-5);
}

TEST_CASE("layers: initial weights are the same bits everywhere") {
  for (const char* name : {"glorot_uniform", "he_normal", "random_normal", "truncated_normal",
                           "orthogonal", "zeros", "ones", "identity"}) {
    DYNAMIC_SECTION(name) {
      auto initialize = [&] {
        set_random_seed(11);
        return (*get<Initializer>(name))({4, 4}, DType::float32);
      };
      CHECK(difference(initialize(), on_cpu(initialize)) < 2e-6);
    }
  }
}

}  // namespace crescent::test
