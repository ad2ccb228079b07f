// Layers and ops that break the rules of the plugin interface: each mistake must give an error and
// never a crash.
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

/// Uses the handle of an input after the call that it belonged to.
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

/// Adds a weight during a call, which is too late.
static crescent_error* add_weight_in_call(void* self, crescent_layer* layer,
                                          const crescent_tensor* const* inputs, size_t count,
                                          int training, crescent_tensor** results,
                                          size_t* result_count) {
  const int64_t shape[] = {3};
  crescent_error* error = host->add_weight(layer, "late", shape, 1, NULL, 1);
  if (error) return error;
  return pass_on(self, layer, inputs, count, training, results, result_count);
}

/// Copies the spec of the input, with the given first size and dtype.
static void change_spec(const crescent_spec* input, crescent_spec* result, int64_t size,
                        int32_t dtype) {
  result->rank = input->rank;
  result->dtype = dtype;
  for (int i = 0; i < input->rank; ++i) result->shape[i] = i == 0 ? size : input->shape[i];
}

static crescent_error* infer_unknown(const char* attributes, const crescent_spec* const* inputs,
                                     size_t count, crescent_spec* const* results,
                                     size_t* result_count) {
  (void)attributes, (void)count;
  change_spec(inputs[0], results[0], -1, CRESCENT_FLOAT32);
  *result_count = 1;
  return NULL;
}

static crescent_error* infer_strings(const char* attributes, const crescent_spec* const* inputs,
                                     size_t count, crescent_spec* const* results,
                                     size_t* result_count) {
  (void)attributes, (void)count;
  change_spec(inputs[0], results[0], inputs[0]->shape[0], CRESCENT_STRING);
  *result_count = 1;
  return NULL;
}

static crescent_error* infer_nothing(const char* attributes, const crescent_spec* const* inputs,
                                     size_t count, crescent_spec* const* results,
                                     size_t* result_count) {
  (void)attributes, (void)inputs, (void)count, (void)results;
  *result_count = 0;
  return NULL;
}

static crescent_error* compute_nothing(const char* attributes, const crescent_buffer* const* inputs,
                                       size_t count, crescent_buffer* const* results,
                                       size_t result_count) {
  (void)attributes, (void)inputs, (void)count, (void)results, (void)result_count;
  return NULL;
}

#define OP(variable, given_name, given_infer)                                \
  static const crescent_op_class variable = {.struct_size = sizeof variable, \
                                             .name = given_name,             \
                                             .parameters = "x",              \
                                             .input_count = 1,               \
                                             .infer = given_infer,           \
                                             .compute = compute_nothing}
OP(unknown_op, "table_unknown", infer_unknown);
OP(strings_op, "table_strings", infer_strings);
OP(nothing_op, "table_nothing", infer_nothing);

/// Sets neither results nor their number.
static crescent_error* infer_idly(const char* attributes, const crescent_spec* const* inputs,
                                  size_t count, crescent_spec* const* results,
                                  size_t* result_count) {
  (void)attributes, (void)inputs, (void)count, (void)results, (void)result_count;
  return NULL;
}
OP(idle_op, "table_idle", infer_idly);
static const crescent_op_class* const ops[] = {&unknown_op, &strings_op, &nothing_op, &idle_op};

#define LAYER(variable, given_name, given_call)  \
  static const crescent_layer_class variable = { \
      .struct_size = sizeof variable, .name = given_name, .call = given_call}
LAYER(null_layer, "TableNull", give_null);
LAYER(many_layer, "TableMany", give_too_many);
LAYER(kept_layer, "TableKept", use_kept);
LAYER(weight_layer, "TableNoWeight", use_missing_weight);
LAYER(late_layer, "TableLate", add_weight_in_call);
static const crescent_layer_class* const layers[] = {&null_layer, &many_layer, &kept_layer,
                                                     &weight_layer, &late_layer};

CRESCENT_EXPORT_TABLE = {
    CRESCENT_TABLE_HEAD("table.careless", "1"), start, layers, 5, ops, 4, NULL};
