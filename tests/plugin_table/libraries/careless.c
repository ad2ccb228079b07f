// Layers that break the rules of the interface: each is an error, never a crash.
#include "common.h"

static crescent_error* give_null(void* self, crescent_layer* layer,
                                 const crescent_tensor* const* inputs, size_t count, int training,
                                 crescent_tensor** results, size_t* result_count) {
  (void)self, (void)layer, (void)inputs, (void)count, (void)training, (void)results;
  *result_count = 1;
  return NULL;
}

static crescent_error* give_too_many(void* self, crescent_layer* layer,
                                     const crescent_tensor* const* inputs, size_t count,
                                     int training, crescent_tensor** results,
                                     size_t* result_count) {
  (void)self, (void)layer, (void)inputs, (void)count, (void)training, (void)results;
  *result_count = 1000;
  return NULL;
}

/// Keeps the handle of an input beyond the call.
static crescent_error* use_kept(void* self, crescent_layer* layer,
                                const crescent_tensor* const* inputs, size_t count, int training,
                                crescent_tensor** results, size_t* result_count) {
  (void)self, (void)layer, (void)count, (void)training;
  static const crescent_tensor* kept = NULL;
  if (!kept) kept = inputs[0];
  *result_count = 1;
  return host->tensor_share(kept, results);
}

static crescent_error* use_missing_weight(void* self, crescent_layer* layer,
                                          const crescent_tensor* const* inputs, size_t count,
                                          int training, crescent_tensor** results,
                                          size_t* result_count) {
  (void)self, (void)inputs, (void)count, (void)training, (void)result_count;
  return host->weight(layer, 3, results);
}

#define LAYER(variable, given_name, given_call)  \
  static const crescent_layer_class variable = { \
      .struct_size = sizeof variable, .name = given_name, .call = given_call}
LAYER(null_layer, "TableNull", give_null);
LAYER(many_layer, "TableMany", give_too_many);
LAYER(kept_layer, "TableKept", use_kept);
LAYER(weight_layer, "TableNoWeight", use_missing_weight);
static const crescent_layer_class* const layers[] = {&null_layer, &many_layer, &kept_layer,
                                                     &weight_layer};

CRESCENT_EXPORT_TABLE = {
    CRESCENT_TABLE_HEAD("table.careless", "1"), start, layers, 4, NULL, 0, NULL};
