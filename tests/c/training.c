// Training with the C interface: compile, fit, steps, evaluate, predict.
#include <math.h>

#include "support.h"

static crescent_tensor *x, *y, *twice;

static crescent_data all_data(void) {
  const crescent_data data = {.struct_size = sizeof data,
                              .x = (const crescent_tensor* const*)&x,
                              .x_count = 1,
                              .y = (const crescent_tensor* const*)&y,
                              .y_count = 1};
  return data;
}

static crescent_model* compiled_model(void) {
  crescent_model* model = small_model();
  OK(crescent_model_compile(
      model,
      "{\"optimizer\": {\"class_name\": \"SGD\", \"config\": "
      "{\"learning_rate\": 0.1}}, \"loss\": \"mse\", \"metrics\": [\"mae\"]}"));
  return model;
}

/// What the callbacks have counted. They stop the training after a number of epochs or batches.
typedef struct {
  int epochs, batches, last_epoch, last_batch;
  double loss;
} Seen;

static int note_batch(void* user, int64_t batch, const crescent_value* logs, size_t count) {
  Seen* seen = user;
  CHECK(batch >= 0 && count == 2 && strcmp(logs[0].name, "loss") == 0);
  return ++seen->batches == seen->last_batch;
}

static int note_epoch(void* user, int64_t epoch, const crescent_value* logs, size_t count) {
  Seen* seen = user;
  CHECK(epoch == seen->epochs && count >= 2);
  seen->loss = logs[0].value;
  return ++seen->epochs == seen->last_epoch;
}

static void fit_learns(void) {
  crescent_model* model = compiled_model();
  const crescent_data data = all_data();
  Seen seen = {0};
  const crescent_progress progress = {sizeof progress, &seen, &note_batch, &note_epoch};
  char* history = NULL;
  OK(crescent_model_fit(model, &data, &data, "{\"epochs\": 200, \"batch_size\": 4}", &progress,
                        &history));
  CHECK(seen.epochs == 200 && seen.batches == 400 && seen.loss < 1e-6);
  CHECK(has_text(history, "\"val_mae\": ["));
  crescent_text_free(history);
  crescent_value values[1];
  size_t count = 1;
  OK(crescent_model_evaluate(model, &data, NULL, values, &count));
  CHECK(count == 2 && strcmp(values[0].name, "loss") == 0 && values[0].value < 1e-6);
  crescent_model_free(model);
}

static void callbacks_stop(void) {
  crescent_model* model = compiled_model();
  const crescent_data data = all_data();
  Seen seen = {.last_epoch = 3};
  crescent_progress progress = {sizeof progress, &seen, NULL, &note_epoch};
  OK(crescent_model_fit(model, &data, NULL, "{\"epochs\": 9}", &progress, NULL));
  CHECK(seen.epochs == 3);
  seen = (Seen){.last_batch = 5};
  progress.batch_end = &note_batch;
  OK(crescent_model_fit(model, &data, NULL, "{\"epochs\": 9, \"batch_size\": 2}", &progress, NULL));
  CHECK(seen.batches == 5);
  crescent_model_free(model);
}

static void steps(void) {
  crescent_model* model = compiled_model();
  crescent_data data = all_data();
  crescent_value before[4], after[4];
  size_t count = 4;
  OK(crescent_model_test_on_batch(model, &data, before, &count));
  CHECK(count == 2 && strcmp(before[1].name, "mae") == 0);
  for (int i = 0; i < 100; ++i) {
    count = 4;
    OK(crescent_model_train_on_batch(model, &data, after, &count));
  }
  CHECK(after[0].value < before[0].value / 100);
  OK(crescent_model_train_on_batch(model, &data, NULL, NULL));
  crescent_model_free(model);
}

static void sample_weights_count(void) {
  static const float weights[8] = {0};
  const int64_t shape[] = {8};
  crescent_model* model = compiled_model();
  crescent_data data = all_data();
  crescent_tensor* weight = NULL;
  OK(crescent_tensor_new(CRESCENT_FLOAT32, shape, 1, weights, sizeof weights, &weight));
  data.sample_weight = weight;
  crescent_value value;
  size_t count = 1;
  OK(crescent_model_train_on_batch(model, &data, &value, &count));
  CHECK(value.value == 0);
  OK(crescent_model_test_on_batch(model, &data, &value, &count));
  CHECK(value.value == 0);
  count = 1;
  OK(crescent_model_evaluate(model, &data, NULL, &value, &count));
  CHECK(value.value == 0);
  char* history = NULL;
  OK(crescent_model_fit(model, &data, &data, NULL, NULL, &history));
  CHECK(has_text(history, "\"loss\": [0.0]") && has_text(history, "\"val_loss\": [0.0]"));
  crescent_text_free(history);
  crescent_tensor_free(weight);
  crescent_model_free(model);
}

/// JSON has no NaN: losses that are NaN are null in the history, so that other programs can read
/// it.
static void history_is_strict_json(void) {
  static const float unknown[] = {NAN, 0, 0, 0, 0, 0, 0, 0};
  crescent_model* model = compiled_model();
  crescent_tensor* targets = floats(unknown, 8, 1);
  crescent_data data = all_data();
  data.y = (const crescent_tensor* const*)&targets;
  char* history = NULL;
  OK(crescent_model_fit(model, &data, NULL, "{\"epochs\": 2}", NULL, &history));
  CHECK(has_text(history, "\"loss\": [null, null]") && !has_text(history, "NaN"));
  crescent_text_free(history);
  crescent_tensor_free(targets);
  crescent_model_free(model);
}

static void mistakes_are_told(void) {
  crescent_model* model = small_model();
  crescent_data data = all_data();
  FAILS(CRESCENT_ERROR_FAILED, "compile", crescent_model_fit(model, &data, NULL, NULL, NULL, NULL));
  FAILS(CRESCENT_ERROR_FAILED, "optimizer",
        crescent_model_compile(model, "{\"optimzer\": \"adam\"}"));
  FAILS(CRESCENT_ERROR_ARGUMENT, "options", crescent_model_compile(model, "[1]"));
  OK(crescent_model_compile(model, "{\"loss\": \"mse\"}"));
  FAILS(CRESCENT_ERROR_FAILED, "epochs",
        crescent_model_fit(model, &data, NULL, "{\"epoch\": 3}", NULL, NULL));
  FAILS(CRESCENT_ERROR_FAILED, "shape (1,)",
        crescent_model_predict(model, (const crescent_tensor* const*)&y, 1, NULL, &twice,
                               &(size_t){1}));
  data.struct_size = 1;
  FAILS(CRESCENT_ERROR_ARGUMENT, "struct_size",
        crescent_model_train_on_batch(model, &data, NULL, NULL));
  crescent_model_free(model);
}

/// Data that a compiled program rejects, such as labels out of range, gives an error code of its
/// own.
static void labels_out_of_range(void) {
  static const float labels[8] = {0, 1, 2, 9, 0, 0, 0, 0};
  crescent_model* model = NULL;
  OK(crescent_model_from_json(
      "{\"class_name\": \"Sequential\", \"config\": {\"layers\": [{\"class_name\": \"Dense\","
      " \"config\": {\"units\": 3, \"activation\": \"softmax\","
      " \"batch_input_shape\": [null, 2]}}]}}",
      &model));
  OK(crescent_model_compile(model, "{\"loss\": \"sparse_categorical_crossentropy\"}"));
  crescent_tensor* classes = floats(labels, 8, 1);
  crescent_data data = all_data();
  data.y = (const crescent_tensor* const*)&classes;
  FAILS(CRESCENT_ERROR_DATA, "9", crescent_model_train_on_batch(model, &data, NULL, NULL));
  crescent_tensor_free(classes);
  crescent_model_free(model);
}

void test_training(void) {
  x = samples_x();
  y = samples_y();
  fit_learns();
  callbacks_stop();
  steps();
  sample_weights_count();
  history_is_strict_json();
  mistakes_are_told();
  labels_out_of_range();
  crescent_tensor_free(x);
  crescent_tensor_free(y);
}
