// Loads a model and predicts for two samples of three numbers. The input tensor uses the program's
// array without copying it:
//   predict_c MODEL
#include <crescent.h>
#include <stdio.h>

int main(int argc, char** argv) {
  float samples[2][3] = {{1, 0, 0}, {0, 1, 2}};
  const int64_t shape[] = {2, 3};
  crescent_model* model = NULL;
  crescent_tensor *x = NULL, *y = NULL;
  size_t output_count = 1;
  const void* values = NULL;
  crescent_error* error = crescent_model_load(argc > 1 ? argv[1] : NULL, NULL, &model);
  if (!error)
    error =
        crescent_tensor_wrap(CRESCENT_FLOAT32, shape, 2, samples, sizeof samples, NULL, NULL, &x);
  if (!error) {
    const crescent_tensor* inputs[] = {x};
    error = crescent_model_predict(model, inputs, 1, NULL, &y, &output_count);
  }
  if (!error) error = crescent_tensor_data(y, &values);
  if (!error) printf("%.2f %.2f\n", ((const float*)values)[0], ((const float*)values)[1]);
  const int has_failed = error != NULL;
  if (has_failed) fprintf(stderr, "%s\n", crescent_error_message(error));
  crescent_error_free(error);
  crescent_tensor_free(y);
  crescent_tensor_free(x);
  crescent_model_free(model);
  return has_failed;
}
