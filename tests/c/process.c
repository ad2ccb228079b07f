// Versions, classes, plugins, warnings.
#include "support.h"

static void versions(void) {
  CHECK(crescent_c_version() == CRESCENT_C_VERSION);
  CHECK(has_text(crescent_version(), "."));
}

static void classes_are_listed_and_described(void) {
  char* text = NULL;
  OK(crescent_list_classes("optimizer", &text));
  CHECK(has_text(text, "\"Adam\""));
  crescent_text_free(text);
  OK(crescent_describe_class("layer", "Dense", &text));
  CHECK(has_text(text, "\"units\""));
  CHECK(has_text(text, "\"glorot_uniform\""));
  crescent_text_free(text);
  FAILS(CRESCENT_ERROR_FAILED, "did you mean 'Dense'",
        crescent_describe_class("layer", "Dens", &text));
}

static void every_class_is_described(void) {
  static const char* const kinds[] = {"layer", "optimizer", "loss", "metric", "callback"};
  char *names = NULL, *text = NULL;
  int described = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    OK(crescent_list_classes(kinds[i], &names));
    for (char* name = strtok(names, "[\", ]"); name; name = strtok(NULL, "[\", ]")) {
      OK(crescent_describe_class(kinds[i], name, &text));
      crescent_text_free(text);
      ++described;
    }
    crescent_text_free(names);
  }
  CHECK(described > 150);
}

static void devices_and_plugins(void) {
  OK(crescent_set_device("cpu", "{\"threads\": 2}"));
  FAILS(CRESCENT_ERROR_FAILED, "thread", crescent_set_device("cpu", "{\"thread\": 2}"));
  FAILS(CRESCENT_ERROR_FAILED, "no_such_plugin", crescent_load_plugin("no_such_plugin"));
  FAILS(CRESCENT_ERROR_FAILED, "./none.so", crescent_load_plugin("./none.so"));
}

static void seed_repeats_weights(void) {
  float first = 0;
  for (int i = 0; i < 2; ++i) {
    OK(crescent_set_seed(7));
    crescent_model* model = small_model();
    crescent_tensor* kernel = NULL;
    OK(crescent_model_get_weight(model, "line/kernel", &kernel));
    const float value = values_of(kernel)[0];
    CHECK(value != 0);
    if (i == 1) CHECK(value == first);
    first = value;
    crescent_tensor_free(kernel);
    crescent_model_free(model);
  }
}

static void note(void* user, const char* text) {
  if (has_text(text, "val_none")) ++*(int*)user;
}

static void warnings_reach_the_handler(void) {
  int warnings = 0;
  crescent_set_warning_handler(&note, &warnings);
  crescent_model* model = small_model();
  crescent_tensor *x = samples_x(), *y = samples_y();
  OK(crescent_model_compile(model, "{\"loss\": \"mse\"}"));
  const crescent_data data = {.struct_size = sizeof data,
                              .x = (const crescent_tensor* const*)&x,
                              .x_count = 1,
                              .y = (const crescent_tensor* const*)&y,
                              .y_count = 1};
  OK(crescent_model_fit(model, &data, NULL,
                        "{\"callbacks\": [{\"class_name\": \"EarlyStopping\","
                        " \"config\": {\"monitor\": \"val_none\", \"mode\": \"min\"}}]}",
                        NULL, NULL));
  CHECK(warnings > 0);
  crescent_set_warning_handler(NULL, NULL);
  crescent_tensor_free(x);
  crescent_tensor_free(y);
  crescent_model_free(model);
}

void test_process(void) {
  versions();
  classes_are_listed_and_described();
  every_class_is_described();
  devices_and_plugins();
  seed_repeats_weights();
  warnings_reach_the_handler();
}
