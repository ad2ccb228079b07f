// Tensors of the C interface: passing values in and out, with and without a copy.
#include "support.h"

static void dtypes_have_names(void) {
  CHECK(strcmp(crescent_dtype_name(CRESCENT_FLOAT32), "float32") == 0);
  CHECK(strcmp(crescent_dtype_name(CRESCENT_BOOL), "bool") == 0);
  CHECK(strcmp(crescent_dtype_name(CRESCENT_STRING), "string") == 0);
  CHECK(crescent_dtype_name(-1) == NULL);
  CHECK(crescent_dtype_name(12) == NULL);
}

static void values_are_copied(void) {
  float values[] = {1, 2, 3, 4, 5, 6};
  crescent_tensor* tensor = floats(values, 3, 2);
  values[0] = 9;
  CHECK(values_of(tensor)[0] == 1);
  void* writable = NULL;
  OK(crescent_tensor_mutable_data(tensor, &writable));
  ((float*)writable)[5] = 7;
  CHECK(values_of(tensor)[5] == 7);
  crescent_tensor_free(tensor);
  const int64_t shape[] = {2};
  OK(crescent_tensor_new(CRESCENT_FLOAT32, shape, 1, NULL, 8, &tensor));
  CHECK(values_of(tensor)[1] == 0);
  crescent_tensor_free(tensor);
}

static void wrong_arguments_are_refused(void) {
  const int code = CRESCENT_ERROR_ARGUMENT;
  const int64_t shape[] = {2}, negative[] = {-1};
  float values[4] = {0};
  crescent_tensor* tensor = NULL;
  FAILS(code, "expected 8", crescent_tensor_new(0, shape, 1, values, 4, &tensor));
  FAILS(code, "'dtype' is 12", crescent_tensor_new(12, shape, 1, values, 8, &tensor));
  FAILS(code, "'rank' is 9", crescent_tensor_new(0, shape, 9, values, 8, &tensor));
  FAILS(code, "'shape[0]' is -1", crescent_tensor_new(0, negative, 1, values, 8, &tensor));
  FAILS(code, "from_texts", crescent_tensor_new(CRESCENT_STRING, shape, 1, values, 16, &tensor));
  FAILS(code, "multiple of 4",
        crescent_tensor_wrap(0, shape, 1, (char*)values + 1, 8, NULL, NULL, &tensor));
  CHECK(tensor == NULL);
}

static void spec_has_strides(void) {
  const float values[6] = {0};
  crescent_tensor* tensor = floats(values, 3, 2);
  crescent_spec spec = {sizeof spec};
  OK(crescent_tensor_spec(tensor, &spec));
  CHECK(spec.name == NULL && spec.dtype == CRESCENT_FLOAT32 && spec.rank == 2);
  CHECK(spec.shape[0] == 3 && spec.shape[1] == 2);
  CHECK(spec.strides[0] == 2 && spec.strides[1] == 1);
  CHECK(spec.size == 6 && spec.bytes == 24);
  crescent_tensor_free(tensor);
}

/// The caller may have been built against an earlier header, in which the struct is shorter. Then
/// only the fields of the shorter struct are written.
static void shorter_struct_is_respected(void) {
  const float values[6] = {0};
  crescent_tensor* tensor = floats(values, 3, 2);
  crescent_spec spec;
  memset(&spec, 0x55, sizeof spec);
  spec.struct_size = offsetof(crescent_spec, strides);
  OK(crescent_tensor_spec(tensor, &spec));
  CHECK(spec.shape[1] == 2);
  CHECK(spec.struct_size == offsetof(crescent_spec, strides));
  CHECK(spec.strides[0] == 0x5555555555555555);
  spec.struct_size = 0;
  FAILS(CRESCENT_ERROR_ARGUMENT, "struct_size", crescent_tensor_spec(tensor, &spec));
  crescent_tensor_free(tensor);
}

static void count_release(void* user) { ++*(int*)user; }

static void wrapped_memory_is_not_copied(void) {
  float memory[] = {1, 2, 3, 4};
  const int64_t shape[] = {2, 2};
  int released = 0;
  crescent_tensor *tensor = NULL, *row = NULL, *shared = NULL;
  OK(crescent_tensor_wrap(CRESCENT_FLOAT32, shape, 2, memory, sizeof memory, &count_release,
                          &released, &tensor));
  CHECK(values_of(tensor) == memory);
  OK(crescent_tensor_rows(tensor, 1, 1, &row));
  OK(crescent_tensor_share(row, &shared));
  CHECK(values_of(row) == memory + 2);
  memory[2] = 8;
  CHECK(values_of(shared)[0] == 8);
  crescent_tensor_free(tensor);
  crescent_tensor_free(row);
  CHECK(released == 0);
  crescent_tensor_free(shared);
  CHECK(released == 1);
  FAILS(CRESCENT_ERROR_ARGUMENT, "bytes",
        crescent_tensor_wrap(CRESCENT_FLOAT32, shape, 2, memory, 1, &count_release, &released,
                             &tensor));
  CHECK(released == 1);
}

/// Tensors may wrap memory of the caller. If such a tensor is an input, its memory is read anew at
/// each call; if it is set as a weight, its values are copied.
static void wrapped_memory_may_change_between_calls(void) {
  float kernel[] = {2, -1}, input[] = {1, 0};
  const int64_t of_kernel[] = {2, 1}, of_input[] = {1, 2};
  crescent_model* model = small_model();
  crescent_tensor *weight = NULL, *x = NULL, *y = NULL;
  OK(crescent_tensor_wrap(CRESCENT_FLOAT32, of_kernel, 2, kernel, sizeof kernel, NULL, NULL,
                          &weight));
  OK(crescent_tensor_wrap(CRESCENT_FLOAT32, of_input, 2, input, sizeof input, NULL, NULL, &x));
  OK(crescent_model_set_weight(model, "line/kernel", weight));
  kernel[0] = kernel[1] = 100;
  for (int i = 0; i < 3; ++i) {
    size_t count = 1;
    input[0] = (float)i;
    OK(crescent_model_predict(model, (const crescent_tensor* const*)&x, 1, NULL, &y, &count));
    CHECK(values_of(y)[0] == 2 * (float)i);
    crescent_tensor_free(y);
  }
  crescent_tensor_free(x);
  crescent_tensor_free(weight);
  crescent_model_free(model);
}

static void rows_and_shapes(void) {
  const int64_t flat[] = {16}, wrong[] = {15};
  crescent_tensor *x = samples_x(), *part = NULL;
  OK(crescent_tensor_reshape(x, flat, 1, &part));
  CHECK(values_of(part) == values_of(x));
  crescent_tensor_free(part);
  FAILS(CRESCENT_ERROR_FAILED, "15", crescent_tensor_reshape(x, wrong, 1, &part));
  FAILS(CRESCENT_ERROR_ARGUMENT, "rows", crescent_tensor_rows(x, 7, 2, &part));
  FAILS(CRESCENT_ERROR_ARGUMENT, "rows", crescent_tensor_rows(x, 1, INT64_MAX, &part));
  FAILS(CRESCENT_ERROR_ARGUMENT, "rows", crescent_tensor_rows(x, -1, 1, &part));
  crescent_tensor_free(x);
}

static void strings(void) {
  static const char* const texts[] = {"horn", "moon"};
  crescent_tensor* tensor = NULL;
  char* text = NULL;
  const void* values = NULL;
  OK(crescent_tensor_from_texts(texts, 2, &tensor));
  OK(crescent_tensor_text_at(tensor, 1, &text));
  CHECK(strcmp(text, "moon") == 0);
  crescent_text_free(text);
  FAILS(CRESCENT_ERROR_ARGUMENT, "'index' is 2", crescent_tensor_text_at(tensor, 2, &text));
  FAILS(CRESCENT_ERROR_ARGUMENT, "text_at", crescent_tensor_data(tensor, &values));
  crescent_tensor_free(tensor);
  tensor = samples_x();
  FAILS(CRESCENT_ERROR_FAILED, "string", crescent_tensor_text_at(tensor, 0, &text));
  OK(crescent_tensor_print(tensor, &text));
  CHECK(has_text(text, "[-1.  1.]]"));
  crescent_text_free(text);
  crescent_tensor_free(tensor);
}

static void files(void) {
  const char* const names[] = {"x", "y"};
  crescent_tensor* both[] = {samples_x(), samples_y()};
  crescent_tensor* read = NULL;
  OK(crescent_tensors_save("c_arrays.npz", names, (const crescent_tensor* const*)both, 2));
  OK(crescent_tensor_load("c_arrays.npz", "y", &read));
  CHECK(memcmp(values_of(read), values_of(both[1]), 8 * sizeof(float)) == 0);
  crescent_tensor_free(read);
  FAILS(CRESCENT_ERROR_FAILED, "z", crescent_tensor_load("c_arrays.npz", "z", &read));
  FAILS(CRESCENT_ERROR_FAILED, "no/folder",
        crescent_tensors_save("no/folder/a.npz", names, (const crescent_tensor* const*)both, 2));
  const char *const twice[] = {"x", "x"}, *const half[] = {"x", NULL};
  FAILS(CRESCENT_ERROR_ARGUMENT, "'names' has 'x' twice",
        crescent_tensors_save("c_arrays.npz", twice, (const crescent_tensor* const*)both, 2));
  FAILS(CRESCENT_ERROR_ARGUMENT, "'names[1]' is NULL",
        crescent_tensors_save("c_arrays.npz", half, (const crescent_tensor* const*)both, 2));
  OK(crescent_tensor_load("c_arrays.npz", "y", &read));
  crescent_tensor_free(read);
  remove("c_arrays.npz");
  crescent_tensor_free(both[0]);
  crescent_tensor_free(both[1]);
}

static void functions_of_ops(void) {
  crescent_tensor* both[] = {samples_x(), samples_y()};
  const crescent_tensor* const* inputs = (const crescent_tensor* const*)both;
  crescent_tensor* results[4] = {NULL};
  crescent_spec spec = {sizeof spec};
  size_t count = 1;
  OK(crescent_call("sum", inputs, 1, "{\"axis\": 0}", results, &count));
  CHECK(count == 1 && values_of(results[0])[0] == 6 && values_of(results[0])[1] == 8);
  crescent_tensor_free(results[0]);
  OK(crescent_call("concatenate", inputs, 2, "{\"axis\": 1}", results, &count));
  OK(crescent_tensor_spec(results[0], &spec));
  CHECK(spec.shape[0] == 8 && spec.shape[1] == 3);
  crescent_tensor_free(results[0]);
  count = 4;
  OK(crescent_call("split", inputs, 1, "{\"indices_or_sections\": 2}", results, &count));
  CHECK(count == 2 && values_of(results[1])[0] == 2);
  crescent_tensor_free(results[0]);
  crescent_tensor_free(results[1]);
  count = 1;
  FAILS(CRESCENT_ERROR_ARGUMENT, "2 results, and room for 1",
        crescent_call("split", inputs, 1, "{\"indices_or_sections\": 2}", results, &count));
  CHECK(count == 2);
  FAILS(CRESCENT_ERROR_FAILED, "softmx", crescent_call("softmx", inputs, 1, NULL, results, &count));
  FAILS(CRESCENT_ERROR_FAILED, "axs",
        crescent_call("sum", inputs, 1, "{\"axs\": 0}", results, &count));
  FAILS(CRESCENT_ERROR_ARGUMENT, "arguments: JSON",
        crescent_call("sum", inputs, 1, "{axis", results, &count));
  crescent_tensor_free(both[0]);
  crescent_tensor_free(both[1]);
}

void test_tensors(void) {
  dtypes_have_names();
  values_are_copied();
  wrong_arguments_are_refused();
  spec_has_strides();
  shorter_struct_is_respected();
  wrapped_memory_is_not_copied();
  wrapped_memory_may_change_between_calls();
  rows_and_shapes();
  strings();
  files();
  functions_of_ops();
}
