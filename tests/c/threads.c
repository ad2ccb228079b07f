// Threads that predict at the same time, handles that are freed meanwhile, and interruptions.
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

static crescent_model* model;
static crescent_tensor *x, *expected;
static atomic_int wrong;

static void* predict_often(void* unused) {
  (void)unused;
  for (int i = 0; i < 200; ++i) {
    crescent_tensor* y = NULL;
    size_t count = 1;
    crescent_error* error =
        crescent_model_predict(model, (const crescent_tensor* const*)&x, 1, NULL, &y, &count);
    const void* values = NULL;
    if (!error) error = crescent_tensor_data(y, &values);
    if (error || memcmp(values, values_of(expected), 8 * sizeof(float)) != 0) ++wrong;
    crescent_error_free(error);
    crescent_tensor_free(y);
  }
  return NULL;
}

static void several_threads_predict(void) {
  pthread_t threads[4];
  size_t count = 1;
  OK(crescent_model_predict(model, (const crescent_tensor* const*)&x, 1, NULL, &expected, &count));
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, &predict_often, NULL);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  CHECK(wrong == 0);
  crescent_tensor_free(expected);
}

/// Predicts until another thread frees the handle. The prediction must then return an error and
/// never crash.
static void* predict_until_freed(void* unused) {
  (void)unused;
  for (;;) {
    crescent_tensor* y = NULL;
    size_t count = 1;
    crescent_error* error =
        crescent_model_predict(model, (const crescent_tensor* const*)&x, 1, NULL, &y, &count);
    crescent_tensor_free(y);
    if (!error) continue;
    if (crescent_error_code_of(error) != CRESCENT_ERROR_ARGUMENT) ++wrong;
    crescent_error_free(error);
    return NULL;
  }
}

static void model_is_freed_while_it_predicts(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, &predict_until_freed, NULL);
  for (int i = 0; i < 20; ++i) predict_often(NULL);
  crescent_model_free(model);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  CHECK(wrong == 0);
}

static atomic_int described;

static void* describe_often(void* unused) {
  (void)unused;
  while (!described) {
    char *text = NULL, *json = NULL;
    crescent_model* clone = NULL;
    crescent_spec spec = {sizeof spec};
    OK(crescent_model_describe(model, &json));
    OK(crescent_model_summary(model, NULL, &text));
    OK(crescent_model_spec(model, CRESCENT_WEIGHTS, 0, &spec));
    OK(crescent_model_clone(model, &clone));
    crescent_text_free(text);
    crescent_text_free(json);
    crescent_model_free(clone);
  }
  return NULL;
}

/// Compiling replaces the metrics that a description of the model lists. Describing the model at
/// the same time must not crash.
static void model_is_described_while_it_is_compiled(void) {
  pthread_t threads[3];
  described = 0;
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, &describe_often, NULL);
  for (int i = 0; i < 3000; ++i)
    OK(crescent_model_compile(model, "{\"loss\": \"mse\", \"metrics\": [\"mae\", \"mse\"]}"));
  described = 1;
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
}

static crescent_interruption* trainer;

static void* interrupt_trainer(void* unused) {
  (void)unused;
  OK(crescent_interruption_request(trainer));
  return NULL;
}

static int request(void* user, int64_t batch, const crescent_value* logs, size_t count) {
  (void)user, (void)logs, (void)count;
  if (batch != 1) return 0;
  pthread_t other;
  pthread_create(&other, NULL, &interrupt_trainer, NULL);
  pthread_join(other, NULL);
  return 0;
}

static int interrupt_itself(void* user, int64_t batch, const crescent_value* logs, size_t count) {
  (void)user, (void)logs, (void)count;
  if (batch == 1) crescent_interrupt();
  return 0;
}

static void fit_and_evaluate(crescent_progress* progress, int* epochs_of_fit) {
  crescent_model* trained = small_model();
  crescent_tensor* y = samples_y();
  OK(crescent_model_compile(trained, "{\"loss\": \"mse\"}"));
  const crescent_data data = {.struct_size = sizeof data,
                              .x = (const crescent_tensor* const*)&x,
                              .x_count = 1,
                              .y = (const crescent_tensor* const*)&y,
                              .y_count = 1};
  char* history = NULL;
  OK(crescent_model_fit(trained, &data, NULL, "{\"epochs\": 9, \"batch_size\": 2}", progress,
                        &history));
  *epochs_of_fit = has_text(history, "\"loss\"");
  crescent_text_free(history);
  crescent_tensor_free(y);
  crescent_model_free(trained);
}

static void interruptions(void) {
  int epochs = 1;
  crescent_progress progress = {sizeof progress, NULL, &request, NULL};
  OK(crescent_interruption_of_thread(&trainer));
  fit_and_evaluate(&progress, &epochs);
  CHECK(epochs == 0);
  crescent_interruption_free(trainer);
  FAILS(CRESCENT_ERROR_ARGUMENT, "freed", crescent_interruption_request(trainer));
  progress.batch_end = &interrupt_itself;
  epochs = 1;
  fit_and_evaluate(&progress, &epochs);
  CHECK(epochs == 0);
}

void test_threads(void) {
  model = small_model();
  x = samples_x();
  several_threads_predict();
  model_is_described_while_it_is_compiled();
  size_t count = 1;
  OK(crescent_model_predict(model, (const crescent_tensor* const*)&x, 1, NULL, &expected, &count));
  model_is_freed_while_it_predicts();
  crescent_tensor_free(expected);
  interruptions();
  crescent_tensor_free(x);
}
