// Errors returned as values, and handles that are NULL, freed, or of another kind.
#include "support.h"

static void error_is_a_value(void) {
  crescent_model* model = NULL;
  crescent_error* error = crescent_model_load("no_such_file.keras", NULL, &model);
  CHECK(crescent_error_code_of(error) == CRESCENT_ERROR_FAILED);
  CHECK(has_text(crescent_error_message(error), "no_such_file.keras"));
  CHECK(model == NULL);
  crescent_error_free(error);
  CHECK(crescent_error_code_of(error) == CRESCENT_ERROR_ARGUMENT);
  CHECK(has_text(crescent_error_message(error), "freed"));
  crescent_error_free(error);
}

static void no_error_is_none(void) {
  CHECK(crescent_error_code_of(NULL) == CRESCENT_OK);
  CHECK(strcmp(crescent_error_message(NULL), "") == 0);
  crescent_error_free(NULL);
  crescent_text_free(NULL);
}

static void null_is_an_error(void) {
  const int code = CRESCENT_ERROR_ARGUMENT;
  size_t count = 1;
  void* values = NULL;
  char* text = NULL;
  crescent_tensor* tensor = NULL;
  crescent_model* model = NULL;
  crescent_model* small = small_model();
  FAILS(code, "crescent_tensor_new: 'result'", crescent_tensor_new(0, NULL, 0, NULL, 4, NULL));
  FAILS(code, "'shape'", crescent_tensor_new(0, NULL, 1, NULL, 4, &tensor));
  FAILS(code, "'memory'", crescent_tensor_wrap(0, NULL, 0, NULL, 4, NULL, NULL, &tensor));
  FAILS(code, "'texts'", crescent_tensor_from_texts(NULL, 1, &tensor));
  FAILS(code, "'tensor'", crescent_tensor_share(NULL, &tensor));
  FAILS(code, "'tensor'", crescent_tensor_spec(NULL, NULL));
  FAILS(code, "'values'", crescent_tensor_data(NULL, NULL));
  FAILS(code, "'tensor'", crescent_tensor_mutable_data(NULL, &values));
  FAILS(code, "'tensor'", crescent_tensor_text_at(NULL, 0, &text));
  FAILS(code, "'tensor'", crescent_tensor_rows(NULL, 0, 0, &tensor));
  FAILS(code, "'tensor'", crescent_tensor_reshape(NULL, NULL, 0, &tensor));
  FAILS(code, "'text'", crescent_tensor_print(NULL, NULL));
  FAILS(code, "'path'", crescent_tensor_load(NULL, NULL, &tensor));
  FAILS(code, "'path'", crescent_tensors_save(NULL, NULL, NULL, 0));
  FAILS(code, "'count'", crescent_call("softmax", NULL, 0, NULL, NULL, NULL));
  FAILS(code, "'function'", crescent_call(NULL, NULL, 0, NULL, NULL, &count));
  FAILS(code, "'path'", crescent_model_load(NULL, NULL, &model));
  FAILS(code, "'json'", crescent_model_from_json(NULL, &model));
  FAILS(code, "'model'", crescent_model_save(NULL, "a.h5", NULL));
  FAILS(code, "'path'", crescent_model_save(small, NULL, NULL));
  FAILS(code, "'model'", crescent_model_to_json(NULL, &text));
  FAILS(code, "'model'", crescent_model_clone(NULL, &model));
  FAILS(code, "'model'", crescent_model_load_weights(NULL, "a.h5", NULL));
  FAILS(code, "'model'", crescent_model_save_weights(NULL, "a.h5", NULL));
  FAILS(code, "'model'", crescent_model_summary(NULL, NULL, &text));
  FAILS(code, "'json'", crescent_model_describe(small, NULL));
  FAILS(code, "'count'", crescent_model_count(small, CRESCENT_INPUTS, NULL));
  FAILS(code, "'result'", crescent_model_spec(small, CRESCENT_INPUTS, 0, NULL));
  FAILS(code, "'path'", crescent_model_get_weight(small, NULL, &tensor));
  FAILS(code, "'values'", crescent_model_set_weight(small, "line/kernel", NULL));
  FAILS(code, "'inputs'", crescent_model_predict(small, NULL, 1, NULL, &tensor, &count));
  FAILS(code, "'inputs[0]'",
        crescent_model_predict(small, (const crescent_tensor* const[]){NULL}, 1, NULL, &tensor,
                               &count));
  FAILS(code, "'model'", crescent_model_compile(NULL, NULL));
  FAILS(code, "'data'", crescent_model_fit(small, NULL, NULL, NULL, NULL, NULL));
  FAILS(code, "'batch'", crescent_model_train_on_batch(small, NULL, NULL, NULL));
  FAILS(code, "'batch'", crescent_model_test_on_batch(small, NULL, NULL, NULL));
  FAILS(code, "'data'", crescent_model_evaluate(small, NULL, NULL, NULL, NULL));
  FAILS(code, "'names'", crescent_list_classes("layer", NULL));
  FAILS(code, "'kind'", crescent_list_classes(NULL, &text));
  FAILS(code, "'name'", crescent_describe_class("layer", NULL, &text));
  FAILS(code, "'path_or_name'", crescent_load_plugin(NULL));
  FAILS(code, "'name'", crescent_set_device(NULL, NULL));
  FAILS(code, "'result'", crescent_interruption_of_thread(NULL));
  FAILS(code, "'interruption'", crescent_interruption_request(NULL));
  crescent_tensor_free(NULL);
  crescent_model_free(NULL);
  crescent_interruption_free(NULL);
  crescent_model_free(small);
}

static void freed_handle_is_an_error(void) {
  crescent_tensor* x = samples_x();
  crescent_model* model = small_model();
  size_t count = 0;
  crescent_spec spec = {sizeof spec};
  crescent_tensor_free(x);
  crescent_tensor_free(x);
  crescent_model_free(model);
  crescent_tensor* later = samples_x();
  CHECK(later != x);
  FAILS(CRESCENT_ERROR_ARGUMENT, "freed", crescent_tensor_spec(x, &spec));
  FAILS(CRESCENT_ERROR_ARGUMENT, "freed", crescent_model_count(model, CRESCENT_WEIGHTS, &count));
  OK(crescent_tensor_spec(later, &spec));
  crescent_tensor_free(later);
}

static void handle_of_another_kind_is_an_error(void) {
  crescent_tensor* x = samples_x();
  size_t count = 0;
  FAILS(CRESCENT_ERROR_ARGUMENT, "no model",
        crescent_model_count((const crescent_model*)x, CRESCENT_WEIGHTS, &count));
  crescent_model_free((crescent_model*)x);
  CHECK(values_of(x)[3] == 1);
  CHECK(crescent_error_code_of((const crescent_error*)x) == CRESCENT_ERROR_ARGUMENT);
  crescent_tensor_free(x);
}

static void memory_that_is_not_there_is_an_error(void) {
  const int64_t shape[] = {(int64_t)1 << 45};
  crescent_tensor* tensor = NULL;
  crescent_error* error =
      crescent_tensor_new(CRESCENT_UINT8, shape, 1, NULL, (size_t)1 << 45, &tensor);
  CHECK(crescent_error_code_of(error) == CRESCENT_ERROR_MEMORY);
  CHECK(has_text(crescent_error_message(error), "not enough memory for 35184372088832 bytes"));
  crescent_error_free(error);
}

void test_errors(void) {
  error_is_a_value();
  no_error_is_none();
  null_is_an_error();
  freed_handle_is_an_error();
  handle_of_another_kind_is_an_error();
  memory_that_is_not_there_is_an_error();
}
