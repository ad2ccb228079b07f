// Checks that a layer can be restored: from its configuration, and from the files of a model that
// contains it.
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "check/checked_layer.h"
#include "crescent/io/format.h"

namespace crescent::check {

TemporaryFile::TemporaryFile(const char* ending) {
  static int count = 0;
  path_ = (std::filesystem::temp_directory_path() /
           concat("crescent_check_", getpid(), "_", ++count, ending))
              .string();
}

TemporaryFile::~TemporaryFile() { std::remove(path_.c_str()); }

namespace {

/// A model with this layer only, after two training calls that may have changed its state.
ModelPtr model_of(const CheckedLayer& checked, LayerPtr layer) {
  const std::vector<Symbol> symbols = checked.symbols();
  ModelPtr model = Functional::make(symbols, (*layer)(symbols));
  CallOptions training;
  training.training = true;
  for (int i = 0; i < 2; ++i) (*model)(checked.inputs(), training);
  return model;
}

/// The predictions of the model from the initial states of stateful layers, because files do not
/// contain these states.
Tensors predicted_outputs(const CheckedLayer& checked, Model& model) {
  for (Layer* layer : model.flatten_layers())
    if (layer->stateful()) layer->reset_states();
  return model.predict(checked.inputs(), {{"batch_size", checked.batch()}});
}

std::string check_file(const CheckedLayer& checked, const char* ending) {
  const LayerPtr layer = checked.make();
  const ModelPtr model = model_of(checked, layer);
  if (layer->trainable_weights().empty()) skip("no weight is trained");
  const Tensors predictions = predicted_outputs(checked, *model);
  const TemporaryFile file(ending);
  save_model(*model, file.path());
  const ModelPtr loaded_model = load_model(file.path(), {{"compile", false}});
  expect_near(predicted_outputs(checked, *loaded_model), predictions, 1e-6,
              concat("the model of the ", ending, " file, beside the one that was saved"));
  return "the model of the file predicts the same, after calls in training too";
}

/// Fails if the configuration lacks an option that was given, unless the class declares it as not
/// stored.
void expect_options_kept(const CheckedLayer& checked, const Layer& layer, const Dict& config) {
  const SchemaData& schema = layer.info()->schema;
  for (const DictEntry& option : checked.options()) {
    const Field* field = schema.find(option.key);
    if (field && (!field->stored || field->keyword_only)) continue;
    expect(config.contains(field ? field->name : option.key), "get_config has no '", option.key,
           "', which was given");
  }
}

}  // namespace

std::string check_options(const CheckedLayer& checked) {
  const LayerPtr layer = checked.make_built();
  const Dict config = layer->get_config();
  expect_options_kept(checked, *layer, config);
  const Value parsed_config = parse_json(to_json(config));
  const LayerPtr reloaded_layer =
      crescent::make<Layer>(checked.class_name(), parsed_config.as_dict());
  expect(to_json(reloaded_layer->get_config()) == to_json(config),
         "a layer made of get_config has ", to_json(reloaded_layer->get_config()), ", expected ",
         to_json(config));
  const Tensors inputs = checked.inputs();
  (*reloaded_layer)(inputs);
  reloaded_layer->set_weights(layer->get_weights());
  const LayerCaller call_original(*layer, false), call_copy(*reloaded_layer, false);
  expect_near(call_copy(inputs), call_original(inputs), 1e-6,
              "a layer made of get_config, with the same weights");
  return "a layer made of get_config computes the same";
}

std::string check_keras_file(const CheckedLayer& checked) { return check_file(checked, ".keras"); }

std::string check_h5_file(const CheckedLayer& checked) { return check_file(checked, ".h5"); }

std::string check_weights_file(const CheckedLayer& checked) {
  const ModelPtr model = model_of(checked, checked.make());
  const Tensors predictions = predicted_outputs(checked, *model);
  const TemporaryFile file(".weights.h5");
  save_weights(*model, file.path());
  const ModelPtr other_model = model_of(checked, checked.make());
  load_weights(*other_model, file.path());
  expect_near(predicted_outputs(checked, *other_model), predictions, 1e-6,
              "a model that loaded the weights, beside the one that saved them");
  return "another model that loads the weights predicts the same";
}

std::string check_training(const CheckedLayer& checked) {
  const LayerPtr layer = checked.make();
  const ModelPtr model = model_of(checked, layer);
  if (layer->trainable_weights().empty()) skip("no weight is trained");
  const Tensors predictions = predicted_outputs(checked, *model);
  Tensors targets;
  for (const Tensor& y : predictions) {
    if (!is_floating(y.dtype())) skip("an output is no tensor of floating-point numbers");
    targets.push_back(ops::zeros_like(y));
  }
  model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  model->fit(checked.inputs(), targets,
             {{"epochs", 2}, {"verbose", 0}, {"batch_size", checked.batch()}});
  for (const Variable& weight : layer->weights())
    expect_finite({weight.value()}, concat("weight '", weight.path(), "' after two steps"));
  return "two steps of training leave finite weights";
}

}  // namespace crescent::check
