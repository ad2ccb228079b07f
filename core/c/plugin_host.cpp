// The functions of crescent_host, which plugins with a C table call.
#include "crescent/base/export.h"
#include "errors.h"
#include "table_layer.h"

namespace crescent::c {
namespace {

crescent_error* get_number(const char* json, const char* name, double* number) {
  return guarded("get_number", [&] {
    require(number, "number");
    const Value value = options_of(json).at(text_of(name, "name"));
    *number = value.is_bool() ? double(value.as_bool()) : value.as_float();
  });
}

crescent_error* get_text(const char* json, const char* name, char** text) {
  return guarded("get_text", [&] {
    require(text, "text");
    const Value value = options_of(json).at(text_of(name, "name"));
    *text = new_text(value.is_string() ? value.as_string() : to_json(value));
  });
}

crescent_error* add_weight(crescent_layer* layer, const char* name, const int64_t* shape, int rank,
                           const char* initializer, int trainable) {
  return guarded("add_weight", [&] {
    TableLayer& table_layer = layer_of(layer);
    if (!table_layer.is_building()) fail_argument("weights are added within build, and not later");
    WeightOptions options;
    options.trainable = trainable != 0;
    const Value rule = initializer ? parse_json(initializer) : Value("glorot_uniform");
    table_layer.added_weights.push_back(
        table_layer.add_weight(text_of(name, "name"), shape_of(shape, rank),
                               Codec<Ref<Initializer>>::decode(rule), options));
  });
}

Variable& weight_of(const crescent_layer* layer, size_t index) {
  TableLayer& table_layer = layer_of(layer);
  if (index >= table_layer.added_weights.size())
    fail_argument("'index' is ", index, ", the layer has ", table_layer.added_weights.size(),
                  " weights");
  return table_layer.added_weights[index];
}

crescent_error* weight(const crescent_layer* layer, size_t index, crescent_tensor** result) {
  return guarded("weight", [&] {
    require(result, "result");
    *result = new_handle(weight_of(layer, index).value());
  });
}

crescent_error* assign(crescent_layer* layer, size_t index, const crescent_tensor* value) {
  return guarded("assign", [&] {
    const Tensor new_value = tensor_of(value, "value");
    layer_of(layer).add_update(weight_of(layer, index), new_value);
  });
}

crescent_error* add_loss(crescent_layer* layer, const crescent_tensor* value) {
  return guarded("add_loss", [&] { layer_of(layer).add_loss(tensor_of(value, "value")); });
}

const void* extension(const char*) { return nullptr; }

}  // namespace

const crescent_host& plugin_host() {
  static const crescent_host host = {sizeof(crescent_host),
                                     CRESCENT_VERSION,
                                     &new_error,
                                     &crescent_error_message,
                                     &crescent_error_free,
                                     &crescent_tensor_new,
                                     &crescent_tensor_share,
                                     &crescent_tensor_free,
                                     &crescent_tensor_spec,
                                     &get_number,
                                     &get_text,
                                     &crescent_text_free,
                                     &crescent_call,
                                     &add_weight,
                                     &weight,
                                     &assign,
                                     &add_loss,
                                     &extension};
  return host;
}

}  // namespace crescent::c
