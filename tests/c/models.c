// Models of the C interface: files, configurations, properties, weights.
#include "support.h"

static void set_kernel(crescent_model* model) {
  const float values[] = {2, -1};
  crescent_tensor* kernel = floats(values, 2, 1);
  OK(crescent_model_set_weight(model, "line/kernel", kernel));
  crescent_tensor_free(kernel);
}

/// Checks that the model computes 2 a - b.
static void check_predictions(const crescent_model* model) {
  crescent_tensor *x = samples_x(), *y = samples_y(), *predicted = NULL;
  size_t count = 1;
  OK(crescent_model_predict(model, (const crescent_tensor* const*)&x, 1, NULL, &predicted, &count));
  CHECK(count == 1);
  if (predicted) CHECK(memcmp(values_of(predicted), values_of(y), 8 * sizeof(float)) == 0);
  crescent_tensor_free(x);
  crescent_tensor_free(y);
  crescent_tensor_free(predicted);
}

static void files_and_copies(void) {
  crescent_model *model = small_model(), *other = NULL;
  set_kernel(model);
  check_predictions(model);
  static const char* const files[] = {"c_model.keras", "c_model.h5"};
  for (int i = 0; i < 2; ++i) {
    OK(crescent_model_save(model, files[i], NULL));
    OK(crescent_model_load(files[i], "{\"compile\": false}", &other));
    check_predictions(other);
    crescent_model_free(other);
    remove(files[i]);
  }
  OK(crescent_model_save_weights(model, "c_model.weights.h5", NULL));
  OK(crescent_model_clone(model, &other));
  OK(crescent_model_load_weights(other, "c_model.weights.h5", NULL));
  check_predictions(other);
  crescent_model_free(other);
  remove("c_model.weights.h5");
  FAILS(CRESCENT_ERROR_FAILED, "c_model.none", crescent_model_save(model, "c_model.none", NULL));
  FAILS(CRESCENT_ERROR_FAILED, "overwrit", crescent_model_save(model, "a.h5", "{\"overwrit\": 1}"));
  FAILS(CRESCENT_ERROR_FAILED, "none.h5", crescent_model_load_weights(model, "none.h5", NULL));
  FAILS(CRESCENT_ERROR_FAILED, "no/folder",
        crescent_model_save_weights(model, "no/folder/a.h5", NULL));
  crescent_model_free(model);
}

static void configurations(void) {
  crescent_model *model = small_model(), *other = NULL;
  char* json = NULL;
  OK(crescent_model_to_json(model, &json));
  OK(crescent_model_from_json(json, &other));
  set_kernel(other);
  check_predictions(other);
  crescent_text_free(json);
  crescent_model_free(other);
  crescent_model_free(model);
  FAILS(CRESCENT_ERROR_FAILED, "Dens",
        crescent_model_from_json(
            "{\"class_name\": \"Sequential\", \"config\": {\"layers\": [{\"class_name\": \"Dens\","
            " \"config\": {}}]}}",
            &other));
  FAILS(CRESCENT_ERROR_FAILED, "line 1", crescent_model_from_json("{", &other));
}

static void inspection(void) {
  crescent_model* model = small_model();
  crescent_spec spec = {sizeof spec};
  char* text = NULL;
  size_t count = 0;
  OK(crescent_model_count(model, CRESCENT_INPUTS, &count));
  CHECK(count == 1);
  OK(crescent_model_spec(model, CRESCENT_INPUTS, 0, &spec));
  CHECK(spec.shape[0] == -1 && spec.shape[1] == 2 && spec.size == -1 && spec.bytes == 0);
  OK(crescent_model_spec(model, CRESCENT_OUTPUTS, 0, &spec));
  CHECK(spec.shape[1] == 1);
  OK(crescent_model_count(model, CRESCENT_WEIGHTS, &count));
  CHECK(count == 2);
  OK(crescent_model_spec(model, CRESCENT_WEIGHTS, 1, &spec));
  CHECK(strcmp(spec.name, "line/bias") == 0 && spec.bytes == 4);
  OK(crescent_model_count(model, CRESCENT_TRAINABLE_WEIGHTS, &count));
  CHECK(count == 2);
  FAILS(CRESCENT_ERROR_ARGUMENT, "'index' is 2",
        crescent_model_spec(model, CRESCENT_WEIGHTS, 2, &spec));
  FAILS(CRESCENT_ERROR_ARGUMENT, "'part' is 9", crescent_model_count(model, 9, &count));
  OK(crescent_model_summary(model, NULL, &text));
  CHECK(has_text(text, "line (Dense)"));
  crescent_text_free(text);
  OK(crescent_model_describe(model, &text));
  CHECK(has_text(text, "\"shape\": [null, 2]") && has_text(text, "\"parameters\": 3"));
  crescent_text_free(text);
  crescent_model_free(model);
}

static void weights(void) {
  crescent_model* model = small_model();
  crescent_tensor *kernel = NULL, *again = NULL, *x = samples_x();
  set_kernel(model);
  OK(crescent_model_get_weight(model, "line/kernel", &kernel));
  CHECK(values_of(kernel)[1] == -1);
  void* copy = NULL;
  OK(crescent_tensor_mutable_data(kernel, &copy));
  *(float*)copy = 5;
  OK(crescent_model_get_weight(model, "line/kernel", &again));
  CHECK(values_of(again)[0] == 2);
  FAILS(CRESCENT_ERROR_FAILED, "did you mean 'line/kernel'",
        crescent_model_get_weight(model, "line/kernl", &again));
  FAILS(CRESCENT_ERROR_FAILED, "(8, 2)", crescent_model_set_weight(model, "line/kernel", x));
  crescent_tensor_free(kernel);
  crescent_tensor_free(again);
  crescent_tensor_free(x);
  crescent_model_free(model);
}

void test_models(void) {
  files_and_copies();
  configurations();
  inspection();
  weights();
}
