#include "support.h"

int failures = 0;

void check_error(crescent_error* error, int code, const char* part, const char* file, int line) {
  const int given = crescent_error_code_of(error);
  const char* message = crescent_error_message(error);
  if (given != code || (part && !strstr(message, part))) {
    printf("%s:%d: expected code %d and '%s', got %d: %s\n", file, line, code, part ? part : "",
           given, message);
    ++failures;
  }
  crescent_error_free(error);
}

static const char* const kModel =
    "{\"class_name\": \"Sequential\", \"config\": {\"name\": \"small\", \"layers\": ["
    "{\"class_name\": \"Dense\", \"config\": {\"name\": \"line\", \"units\": 1,"
    " \"batch_input_shape\": [null, 2]}}]}}";

crescent_model* small_model(void) {
  crescent_model* model = NULL;
  OK(crescent_model_from_json(kModel, &model));
  return model;
}

crescent_tensor* floats(const float* values, int64_t rows, int64_t columns) {
  const int64_t shape[] = {rows, columns};
  crescent_tensor* tensor = NULL;
  OK(crescent_tensor_new(CRESCENT_FLOAT32, shape, 2, values,
                         (size_t)(rows * columns) * sizeof(float), &tensor));
  return tensor;
}

crescent_tensor* samples_x(void) {
  static const float x[] = {0, 0, 0, 1, 1, 0, 1, 1, 2, 1, 1, 2, 2, 2, -1, 1};
  return floats(x, 8, 2);
}

crescent_tensor* samples_y(void) {
  static const float y[] = {0, -1, 2, 1, 3, 0, 2, -3};
  return floats(y, 8, 1);
}

const float* values_of(const crescent_tensor* tensor) {
  const void* values = NULL;
  OK(crescent_tensor_data(tensor, &values));
  return values;
}

int has_text(const char* text, const char* part) { return text && strstr(text, part) != NULL; }

int main(void) {
  test_errors();
  test_process();
  test_tensors();
  test_models();
  test_training();
  test_threads();
  if (failures == 0) puts("ok c");
  return failures == 0 ? 0 : 1;
}
