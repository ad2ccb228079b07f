// Helpers of the tests in C: checks that print and count failures, and a small model.
#ifndef SUPPORT_H
#define SUPPORT_H

#include <crescent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int failures;

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                    \
    }                                                                \
  } while (0)

/// Checks that the call succeeds.
#define OK(call) check_error((call), CRESCENT_OK, NULL, __FILE__, __LINE__)
/// Checks that the call fails with this code and a message that contains `part`.
#define FAILS(code, part, call) check_error((call), (code), (part), __FILE__, __LINE__)

void check_error(crescent_error* error, int code, const char* part, const char* file, int line);

/// A trained model of one unit that computes y = 2 a - b.
crescent_model* small_model(void);
crescent_tensor* floats(const float* values, int64_t rows, int64_t columns);
crescent_tensor* samples_x(void);
crescent_tensor* samples_y(void);
const float* values_of(const crescent_tensor* tensor);
int has_text(const char* text, const char* part);

void test_errors(void);
void test_process(void);
void test_tensors(void);
void test_models(void);
void test_training(void);
void test_threads(void);

#endif
