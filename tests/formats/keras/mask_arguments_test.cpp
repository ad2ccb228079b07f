// Masks as call arguments in graphs of Keras 3: a mask that the input already carries is dropped;
// any other mask becomes an input of the call.
#include "crescent/model/model.h"
#include "keras/configs/config_in.h"
#include "keras/vocabulary/objects.h"
#include "models.h"

namespace crescent::keras {
namespace {

std::string tensor_argument(const std::string& layer) {
  return R"({"class_name": "__keras_tensor__", "config": {"keras_history": [")" + layer +
         R"(", 0, 0]}})";
}

/// The configuration of a graph's layer that is called once.
std::string layer_entry(const std::string& module, const std::string& class_name,
                        const std::string& name, const std::string& config, const std::string& args,
                        const std::string& kwargs) {
  const bool is_called = !args.empty();
  return concat(R"({"module": ")", module, R"(", "class_name": ")", class_name,
                R"(", "config": {"name": ")", name, R"(")", config.empty() ? "" : ", ", config,
                R"(}, "name": ")", name, R"(", "inbound_nodes": [)",
                is_called ? concat(R"({"args": [)", args, R"(], "kwargs": {)", kwargs, "}}") : "",
                "]}");
}

std::string mask_argument(const std::string& layer) {
  return R"("mask": )" + tensor_argument(layer);
}

/// A graph: an input of numbers, an Embedding, the layers `middle_layers`, and an LSTM whose mask
/// is given by `kwargs`.
ModelPtr model_with(const std::string& mask_zero, const std::string& middle_layers,
                    const std::string& lstm_input, const std::string& kwargs) {
  const std::string layers = "keras.layers";
  const std::string config = concat(
      R"({"module": "keras.src.models.functional", "class_name": "Functional", "config": {
        "name": "m", "layers": [)",
      layer_entry(layers, "InputLayer", "ids", R"("batch_shape": [null, 4], "dtype": "int32")", "",
                  ""),
      ", ",
      layer_entry(layers, "Embedding", "e",
                  R"("input_dim": 5, "output_dim": 3, "mask_zero": )" + mask_zero,
                  tensor_argument("ids"), ""),
      ", ",
      layer_entry("keras.src.ops.numpy", "NotEqual", "not_equal", "",
                  tensor_argument("ids") + ", 0", ""),
      ", ", middle_layers,
      layer_entry(layers, "LSTM", "r", R"("units": 2)", tensor_argument(lstm_input),
                  kwargs + R"(, "training": false)"),
      R"(], "input_layers": [["ids", 0, 0]], "output_layers": [["r", 0, 0]]}})");
  return model_from_config(ConfigIn({"3.15.1", "jax"}).model(parse_json(config)));
}

/// The number of tensors on which the LSTM is called, including its mask.
size_t input_count(const ModelPtr& model) {
  return model->get_layer("r")->inbound_nodes().front()->inputs.size();
}
bool is_masked(const ModelPtr& model) {
  const auto output_after = [&](int last) {
    return model->predict({Tensor::from(std::vector<int32_t>{3, 1, 0, last}, {1, 4})}).front();
  };
  const Tensor output_after_zero = output_after(0);
  const auto sequence = Tensor::from(std::vector<int32_t>{3, 1, 0, 0}, {1, 4});
  const auto& embedded_sequence = (*model->get_layer("e"))(sequence);
  const Tensor unmasked_output = (*model->get_layer("r"))(embedded_sequence.with_mask({}));
  return ops::max(ops::abs(output_after_zero - unmasked_output)).item() > 1e-6;
}

TEST_CASE("a mask that comes with the inputs is left to the layers") {
  const auto model = model_with("true", "", "e", mask_argument("not_equal"));
  CHECK(input_count(model) == 1);
  CHECK(is_masked(model));
  const auto model_without_mask_input = model_with(
      "true",
      layer_entry("keras.layers", "Dropout", "d", R"("rate": 0.5)", tensor_argument("e"), "") +
          ", ",
      "d", mask_argument("not_equal"));
  CHECK(input_count(model_without_mask_input) == 1);
  CHECK(is_masked(model_without_mask_input));
}

TEST_CASE("a mask that comes with the inputs stays if something else reads its operation") {
  const auto model = model_with("true",
                                layer_entry("keras.src.ops.numpy", "LogicalNot", "read", "",
                                            tensor_argument("not_equal"), "") +
                                    ", " +
                                    layer_entry("keras.layers", "Dropout", "d", R"("rate": 0.5)",
                                                tensor_argument("e"), mask_argument("not_equal")) +
                                    ", " +
                                    layer_entry("keras.layers", "Dropout", "f", R"("rate": 0.5)",
                                                tensor_argument("e"), mask_argument("read")) +
                                    ", ",
                                "f", mask_argument("not_equal"));
  CHECK(input_count(model) == 2);
  CHECK(is_masked(model));
}

TEST_CASE("a mask that somebody gave stays") {
  const auto model = model_with("false", "", "e", mask_argument("not_equal"));
  CHECK(input_count(model) == 2);
  CHECK(is_masked(model));
  const std::string convolution = layer_entry(
      "keras.layers", "Conv1D", "c", R"("filters": 3, "kernel_size": 1)", tensor_argument("e"), "");
  const auto unresolved_model =
      model_with("true", convolution + ", ", "c", mask_argument("not_equal"));
  CHECK(input_count(unresolved_model) == 2);
  for (const char* target : {"keras3", "crescent"}) {
    const auto reread_model = model_from_json(model->to_json({{"target", target}}));
    reread_model->set_weights(model->get_weights());
    CHECK(input_count(reread_model) == 2);
    CHECK(is_masked(reread_model));
  }
}

TEST_CASE("a list of masks may have none for an input") {
  const std::string layers = "keras.layers";
  const std::string config = concat(
      R"({"module": "keras.src.models.functional", "class_name": "Functional", "config": {
        "name": "m", "layers": [)",
      layer_entry(layers, "InputLayer", "x", R"("batch_shape": [null, 3, 2])", "", ""), ", ",
      layer_entry(layers, "InputLayer", "k", R"("batch_shape": [null, 3], "dtype": "bool")", "",
                  ""),
      ", ",
      layer_entry(layers, "Attention", "a", R"("score_mode": "dot")",
                  "[" + tensor_argument("x") + ", " + tensor_argument("x") + "]",
                  R"("mask": [null, )" + tensor_argument("k") + "]"),
      R"(], "input_layers": [["x", 0, 0], ["k", 0, 0]], "output_layers": [["a", 0, 0]]}})");
  const auto model = model_from_json(config);
  const Tensor x = hdf5::ramp({1, 3, 2}, 0.1);
  const Tensor steps =
      ops::cast(Tensor::from(std::vector<int32_t>{1, 0, 0}, {1, 3}), DType::boolean);
  for (const char* target : {"keras3", "crescent"}) {
    const auto reread_model = model_from_json(model->to_json({{"target", target}}));
    // With this mask every step attends only to the first step.
    const Tensor y = reread_model->predict({x, steps}).front();
    CHECK(ops::max(ops::abs(y - ops::slice(x, {0, 0, 0}, {1, 1, 2}))).item() < 1e-6);
  }
}

TEST_CASE("circles among the calls of a hostile file end") {
  const std::string circular_nodes =
      layer_entry("keras.layers", "Dropout", "d", R"("rate": 0.5)", tensor_argument("d"), "") +
      ", " + layer_entry("keras.src.ops.numpy", "Any", "any", "", tensor_argument("any"), "") +
      ", ";
  CHECK_THROWS_AS(model_with("true", circular_nodes, "d", mask_argument("any")), Error);
  CHECK_THROWS_AS(model_with("true", circular_nodes, "e", mask_argument("nobody")), Error);
}

}  // namespace
}  // namespace crescent::keras
