// A plugin with a layer that has a weight, options and a state, and an op that has attributes and a
// gradient.
#include <math.h>
#include <stdlib.h>

#include "common.h"

// ---- the layer TableScale: y = x * factor * times, and in training a loss

typedef struct {
  float times;
  double penalty;
} Scale;

static crescent_error* create(const char* options, void** self) {
  double times = 0, penalty = 0;
  crescent_error* error = host->get_number(options, "times", &times);
  if (!error) error = host->get_number(options, "penalty", &penalty);
  if (error) return error;
  if (times == 0) return host->error_new("times = 0 learns nothing");
  Scale* scale = malloc(sizeof *scale);
  scale->times = (float)times;
  scale->penalty = penalty;
  *self = scale;
  return NULL;
}

static crescent_error* build(void* self, crescent_layer* layer, const crescent_spec* const* inputs,
                             size_t count) {
  (void)self, (void)count;
  if (inputs[0]->rank == 0) return host->error_new("expected at least one axis");
  const int64_t shape[] = {inputs[0]->shape[inputs[0]->rank - 1]};
  crescent_error* error = host->add_weight(layer, "factor", shape, 1, "\"ones\"", 1);
  if (!error) error = host->add_weight(layer, "calls", NULL, 0, "\"zeros\"", 0);
  return error;
}

static crescent_error* number(double value, crescent_tensor** result) {
  const float single = (float)value;
  return host->tensor_new(CRESCENT_FLOAT32, NULL, 0, &single, sizeof single, result);
}

/// Sets calls = calls + 1.
static crescent_error* count_call(crescent_layer* layer) {
  crescent_tensor *calls = NULL, *one = NULL, *sum = NULL;
  crescent_error* error = host->weight(layer, 1, &calls);
  if (!error) error = number(1, &one);
  if (!error) error = call_two("add", calls, one, &sum);
  if (!error) error = host->assign(layer, 1, sum);
  host->tensor_free(calls);
  host->tensor_free(one);
  host->tensor_free(sum);
  return error;
}

static crescent_error* call(void* self, crescent_layer* layer, const crescent_tensor* const* inputs,
                            size_t count, int training, crescent_tensor** results,
                            size_t* result_count) {
  (void)count;
  const Scale* scale = self;
  crescent_tensor *factor = NULL, *times = NULL, *scaled = NULL, *penalty = NULL;
  crescent_error* error = host->weight(layer, 0, &factor);
  if (!error) error = number(scale->times, &times);
  if (!error) error = call_two("multiply", factor, times, &scaled);
  if (!error) error = call_two("multiply", inputs[0], scaled, &results[0]);
  if (!error && training) error = count_call(layer);
  if (!error && scale->penalty != 0) {
    error = number(scale->penalty, &penalty);
    if (!error) error = host->add_loss(layer, penalty);
  }
  *result_count = 1;
  host->tensor_free(factor);
  host->tensor_free(times);
  host->tensor_free(scaled);
  host->tensor_free(penalty);
  return error;
}

static const crescent_option times = {sizeof times, "times", "A fixed factor.", "1.0"};
static const crescent_option penalty = {sizeof penalty, "penalty", "Added to the loss.", "0.0"};
static const crescent_option* const options[] = {&times, &penalty};
static const crescent_layer_class scale = {.struct_size = sizeof scale,
                                           .name = "TableScale",
                                           .doc = "Multiplies by learned factors.",
                                           .options = options,
                                           .option_count = 2,
                                           .create = create,
                                           .destroy = free,
                                           .build = build,
                                           .call = call};

// ---- a layer with two inputs, and a layer that passes on the mask of its input

static crescent_error* add(void* self, crescent_layer* layer, const crescent_tensor* const* inputs,
                           size_t count, int training, crescent_tensor** results,
                           size_t* result_count) {
  (void)self, (void)layer, (void)count, (void)training;
  *result_count = 1;
  return call_two("add", inputs[0], inputs[1], results);
}

static const crescent_layer_class sum = {
    .struct_size = sizeof sum, .name = "TableSum", .call = add, .min_inputs = 2, .max_inputs = 2};
static const crescent_layer_class masked = {
    .struct_size = sizeof masked, .name = "TableMasked", .call = pass_on, .supports_masking = 1};
static const crescent_layer_class* const layers[] = {&scale, &sum, &masked};

// ---- the op table_softcap: y = limit * tanh(x / limit)

static crescent_error* infer(const char* attributes, const crescent_spec* const* inputs,
                             size_t count, crescent_spec* const* results, size_t* result_count) {
  double limit = 0;
  crescent_error* error = host->get_number(attributes, "limit", &limit);
  if (error) return error;
  if (limit <= 0) return host->error_new("limit must be positive");
  if (inputs[0]->dtype != CRESCENT_FLOAT32) return host->error_new("x must be float32");
  (void)count;
  results[0]->dtype = inputs[0]->dtype;
  results[0]->rank = inputs[0]->rank;
  for (int i = 0; i < inputs[0]->rank; ++i) results[0]->shape[i] = inputs[0]->shape[i];
  *result_count = 1;
  return NULL;
}

static crescent_error* compute(const char* attributes, const crescent_buffer* const* inputs,
                               size_t count, crescent_buffer* const* results, size_t result_count) {
  double limit = 0;
  crescent_error* error = host->get_number(attributes, "limit", &limit);
  if (error) return error;
  (void)count, (void)result_count;
  const float* x = inputs[0]->data;
  float* y = results[0]->data;
  for (int64_t i = 0; i < inputs[0]->size; ++i) y[i] = (float)(limit * tanh(x[i] / limit));
  return NULL;
}

/// The gradient is g * (1 - (y / limit)^2).
static crescent_error* gradient(const char* attributes, const crescent_tensor* const* inputs,
                                size_t count, const crescent_tensor* const* outputs,
                                const crescent_tensor* const* gradients, size_t output_count,
                                crescent_tensor** results) {
  (void)inputs, (void)count, (void)output_count;
  double limit = 0;
  crescent_tensor *bound = NULL, *one = NULL, *share = NULL, *square = NULL, *slope = NULL;
  crescent_error* error = host->get_number(attributes, "limit", &limit);
  if (!error) error = number(limit, &bound);
  if (!error) error = number(1, &one);
  if (!error) error = call_two("true_divide", outputs[0], bound, &share);
  if (!error) error = call_two("multiply", share, share, &square);
  if (!error) error = call_two("subtract", one, square, &slope);
  if (!error) error = call_two("multiply", gradients[0], slope, &results[0]);
  crescent_tensor* const used[] = {bound, one, share, square, slope};
  for (int i = 0; i < 5; ++i) host->tensor_free(used[i]);
  return error;
}

static const crescent_op_class softcap = {
    sizeof softcap, "table_softcap", "A number between -limit and limit.", "x, limit=1.0", 1, infer,
    compute,        gradient};
static const crescent_op_class* const ops[] = {&softcap};

CRESCENT_EXPORT_TABLE = {
    CRESCENT_TABLE_HEAD("table.scale", "1.0.0"), start, layers, 3, ops, 1, NULL};
