// Models in the C interface: reading and writing files, configurations, descriptions, weights.
#include "arguments.h"
#include "crescent/base/strict_json.h"
#include "crescent/io/format.h"
#include "errors.h"

namespace crescent::c {
namespace {

std::string lines_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// Holds the model of a handle and a StepLock, which prevents other threads from running steps of
/// the model.
class LockedModel {
 public:
  explicit LockedModel(const crescent_model* model) : model_(model_of(model)), lock_(*model_) {}
  Model& operator*() const { return *model_; }
  Model* operator->() const { return model_.get(); }

 private:
  ModelPtr model_;
  StepLock lock_;
};

/// The name, dtype and shape of an input, an output or a weight of a model.
struct NamedSpec {
  std::string name;
  TensorSpec spec;
};

std::vector<NamedSpec> named_specs(const std::vector<Symbol>& symbols,
                                   const std::vector<std::string>& names) {
  std::vector<NamedSpec> list;
  for (size_t i = 0; i < symbols.size(); ++i)
    list.push_back({i < names.size() ? names[i] : symbols[i].name(), symbols[i].spec()});
  return list;
}

std::vector<NamedSpec> named_specs(const Variables& weights) {
  std::vector<NamedSpec> list;
  for (const Variable& weight : weights) list.push_back({weight.path(), weight.spec()});
  return list;
}

std::vector<NamedSpec> specs_of_part(const Model& model, int part) {
  switch (part) {
    case CRESCENT_INPUTS:
      return named_specs(model.inputs(), model.input_names());
    case CRESCENT_OUTPUTS:
      return named_specs(model.outputs(), model.output_names());
    case CRESCENT_WEIGHTS:
      return named_specs(model.weights_in_keras_order());
    case CRESCENT_TRAINABLE_WEIGHTS:
      return named_specs(model.trainable_weights());
  }
  fail_argument("'part' is ", part, ", which is none");
}

Dict describe(const NamedSpec& spec) {
  return {{"name", spec.name},
          {"dtype", name_of(spec.spec.dtype)},
          {"shape", Codec<Shape>::encode(spec.spec.shape)}};
}

List describe(const std::vector<NamedSpec>& list) {
  List described;
  for (const NamedSpec& named_spec : list) described.push_back(describe(named_spec));
  return described;
}

int64_t elements_of(const Variables& weights) {
  int64_t count = 0;
  for (const Variable& weight : weights) count += weight.shape().size();
  return count;
}

Dict describe(const Layer& layer) {
  return {{"name", layer.name()},
          {"class_name", layer.class_name()},
          {"trainable", layer.trainable()},
          {"parameters", elements_of(layer.weights())}};
}

Dict describe(const Model& model) {
  List layers;
  for (const LayerPtr& layer : model.operations()) layers.push_back(describe(*layer));
  Dict entry = describe(static_cast<const Layer&>(model));
  entry.set("trainable_parameters", elements_of(model.trainable_weights()));
  entry.set("compiled", model.compiled());
  entry.set("layers", std::move(layers));
  for (const auto& [key, part] :
       {std::pair("inputs", CRESCENT_INPUTS), std::pair("outputs", CRESCENT_OUTPUTS)})
    entry.set(key, model.is_graph() ? describe(specs_of_part(model, part)) : List{});
  entry.set("weights", describe(specs_of_part(model, CRESCENT_WEIGHTS)));
  const auto metrics = model.compiled() ? model.metrics_names() : std::vector<std::string>{};
  entry.set("metrics", List(metrics.begin(), metrics.end()));
  return entry;
}

Variable weight_of(const Model& model, const std::string& path) {
  std::vector<std::string> paths;
  Variables matching;
  for (const Variable& weight : model.weights()) {
    paths.push_back(weight.path());
    if (weight.path() == path) matching.push_back(weight);
  }
  if (matching.empty()) fail("no weight '", path, "'", did_you_mean(path, paths));
  if (matching.size() > 1) fail("'", path, "' is the path of ", matching.size(), " weights");
  return matching.front();
}

}  // namespace
}  // namespace crescent::c

using namespace crescent;
using namespace crescent::c;

// ---- files and configurations

crescent_error* crescent_model_load(const char* path, const char* options,
                                    crescent_model** result) {
  return guarded(__func__, [&] {
    require(result, "result");
    *result = new_handle(load_model(text_of(path, "path"), options_of(options)));
  });
}

crescent_error* crescent_model_save(const crescent_model* model, const char* path,
                                    const char* options) {
  return guarded(__func__, [&] {
    const LockedModel locked_model(model);
    save_model(*locked_model, text_of(path, "path"), options_of(options));
  });
}

crescent_error* crescent_model_from_json(const char* json, crescent_model** result) {
  return guarded(__func__, [&] {
    require(result, "result");
    *result = new_handle(model_from_json(text_of(json, "json")));
  });
}

crescent_error* crescent_model_to_json(const crescent_model* model, char** json) {
  return guarded(__func__, [&] {
    require(json, "json");
    *json = new_text(LockedModel(model)->to_json());
  });
}

crescent_error* crescent_model_clone(const crescent_model* model, crescent_model** result) {
  return guarded(__func__, [&] {
    require(result, "result");
    *result = new_handle(clone_model(*LockedModel(model)));
  });
}

crescent_error* crescent_model_load_weights(crescent_model* model, const char* path,
                                            const char* options) {
  return guarded(__func__, [&] {
    const LockedModel locked_model(model);
    load_weights(*locked_model, text_of(path, "path"), options_of(options));
  });
}

crescent_error* crescent_model_save_weights(const crescent_model* model, const char* path,
                                            const char* options) {
  return guarded(__func__, [&] {
    const LockedModel locked_model(model);
    save_weights(*locked_model, text_of(path, "path"), options_of(options));
  });
}

void crescent_model_free(crescent_model* model) { remove_handle(HandleKind::model, model); }

// ---- descriptions

crescent_error* crescent_model_summary(const crescent_model* model, const char* options,
                                       char** text) {
  return guarded(__func__, [&] {
    require(text, "text");
    *text = new_text(lines_of(LockedModel(model)->summary(options_of(options))));
  });
}

crescent_error* crescent_model_describe(const crescent_model* model, char** json) {
  return guarded(__func__, [&] {
    require(json, "json");
    *json = new_text(to_strict_json(describe(*LockedModel(model))));
  });
}

crescent_error* crescent_model_count(const crescent_model* model, int part, size_t* count) {
  return guarded(__func__, [&] {
    require(count, "count");
    *count = specs_of_part(*LockedModel(model), part).size();
  });
}

crescent_error* crescent_model_spec(const crescent_model* model, int part, size_t index,
                                    crescent_spec* result) {
  return guarded(__func__, [&] {
    const auto object = object_of(model);
    const auto list = specs_of_part(*LockedModel(model), part);
    if (index >= list.size()) fail_argument("'index' is ", index, ", the list has ", list.size());
    write_spec(list[index].spec, object->keep(list[index].name), result);
  });
}

// ---- weights

crescent_error* crescent_model_get_weight(const crescent_model* model, const char* path,
                                          crescent_tensor** result) {
  return guarded(__func__, [&] {
    require(result, "result");
    const LockedModel locked_model(model);
    *result = new_handle(weight_of(*locked_model, text_of(path, "path")).value().clone(nullptr));
  });
}

crescent_error* crescent_model_set_weight(crescent_model* model, const char* path,
                                          const crescent_tensor* values) {
  return guarded(__func__, [&] {
    const LockedModel locked_model(model);
    const Tensor new_value = tensor_of(values, "values");
    weight_of(*locked_model, text_of(path, "path")).assign(new_value.clone());
  });
}
