// The C interface of Crescent, for bindings of other languages: plain C11, without types of C++.
//
//   crescent_model* model = NULL;
//   crescent_error* error = crescent_model_load("digits.keras", NULL, &model);
//   if (error) { puts(crescent_error_message(error)); crescent_error_free(error); }
//
// Programs link libcrescent_c.so.1. The number in its soname stays while the interface only grows:
// functions and codes are added, none changes its meaning or is removed. Structs that may grow
// start with struct_size, which the caller sets to sizeof the struct that it was compiled with.
//
// Errors. A function that can fail returns NULL on success, else an error, which the caller frees;
// results are written on success only. No exception leaves a function, and no function ends the
// process.
//
// Handles. A tensor, model, interruption or error is identified by an opaque number in the form of
// a pointer; no number is used twice. NULL, a freed handle and a handle of another kind give
// errors, not crashes. The crescent_..._free functions ignore NULL and handles that were freed
// before.
//
// Strings are null-terminated UTF-8. A char** result belongs to the caller, who frees it by
// crescent_text_free. Options are JSON objects ("{\"epochs\": 3}") whose keys are the option names
// of Keras; NULL means no options. The error for an unknown name suggests a similar one. The option
// `verbose` is 0 unless it is given.
//
// Threads. Every function may be called by every thread. Several threads may call
// crescent_model_predict of one model at once, also while another one trains it; a second thread
// that trains, evaluates or compiles the same model meanwhile is refused. Callbacks run on the
// calling thread. A tensor may be read by several threads; its values must not be written
// meanwhile.
#ifndef CRESCENT_H
#define CRESCENT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define CRESCENT_C_API __attribute__((visibility("default")))
#define CRESCENT_MAY_FAIL __attribute__((visibility("default"), warn_unused_result))
#else
#define CRESCENT_C_API
#define CRESCENT_MAY_FAIL
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// The version of the interface that this header declares; each addition increments it.
/// crescent_c_version() returns the version of the library.
#define CRESCENT_C_VERSION 1

typedef struct crescent_tensor crescent_tensor;
typedef struct crescent_model crescent_model;
typedef struct crescent_interruption crescent_interruption;
typedef struct crescent_error crescent_error;

enum crescent_error_code {
  CRESCENT_OK = 0,
  CRESCENT_ERROR_FAILED = 1,       ///< the operation cannot be done, as the message explains
  CRESCENT_ERROR_ARGUMENT = 2,     ///< NULL, a freed handle, a wrong size, text that is no JSON
  CRESCENT_ERROR_DATA = 3,         ///< a value in a batch, such as a label out of range
  CRESCENT_ERROR_INTERRUPTED = 4,  ///< stopped by crescent_interruption_request
  CRESCENT_ERROR_MEMORY = 5,       ///< out of memory
  CRESCENT_ERROR_OTHER = 6         ///< an exception of another library or of a plugin
};

enum crescent_dtype {
  CRESCENT_FLOAT32 = 0,
  CRESCENT_FLOAT64 = 1,
  CRESCENT_BFLOAT16 = 2,
  CRESCENT_FLOAT16 = 3,
  CRESCENT_INT32 = 4,
  CRESCENT_INT64 = 5,
  CRESCENT_UINT8 = 6,
  CRESCENT_BOOL = 7,  ///< a byte, 0 or 1
  CRESCENT_INT8 = 8,
  CRESCENT_INT16 = 9,
  CRESCENT_COMPLEX64 = 10,  ///< two floats
  CRESCENT_STRING = 11      ///< an element is the id of a text; see crescent_tensor_from_texts
};

#define CRESCENT_MAX_RANK 8

/// The name, dtype and shape of a tensor, or of an input, output or weight of a model.
typedef struct crescent_spec {
  size_t struct_size;
  const char* name;  ///< lives as long as the model's handle; NULL for a tensor
  int32_t dtype;
  int32_t rank;
  int64_t shape[CRESCENT_MAX_RANK];    ///< -1: any size
  int64_t strides[CRESCENT_MAX_RANK];  ///< in elements, row-major; 0 while a size is unknown
  int64_t size;                        ///< number of elements; -1 while a size is unknown
  size_t bytes;                        ///< 0 while a size is unknown
} crescent_spec;

/// The name and the value of a loss or a metric. The name lives as long as the model's handle or,
/// in the logs of a crescent_progress, only during the call.
typedef struct crescent_value {
  const char* name;
  double value;
} crescent_value;

/// Samples, or one batch of samples: the inputs `x`, the targets `y`, and the sample weights (NULL:
/// none).
typedef struct crescent_data {
  size_t struct_size;
  const crescent_tensor* const* x;
  size_t x_count;
  const crescent_tensor* const* y;
  size_t y_count;
  const crescent_tensor* sample_weight;
} crescent_data;

/// Functions that training calls; any may be NULL. Epochs and batches count from 0. If a function
/// returns another value than 0, training stops after the batch or epoch that has ended. The names
/// in `logs` are valid only during the call.
typedef struct crescent_progress {
  size_t struct_size;
  void* user;
  int (*batch_end)(void* user, int64_t batch, const crescent_value* logs, size_t count);
  int (*epoch_end)(void* user, int64_t epoch, const crescent_value* logs, size_t count);
} crescent_progress;

/// Selects the inputs, the outputs or the weights of a model.
enum crescent_part {
  CRESCENT_INPUTS = 0,
  CRESCENT_OUTPUTS = 1,
  CRESCENT_WEIGHTS = 2,  ///< all weights, in the order of Keras' get_weights
  CRESCENT_TRAINABLE_WEIGHTS = 3
};

// ---- versions, errors, texts

/// The version of Crescent: "0.2.0".
CRESCENT_C_API const char* crescent_version(void);
/// The CRESCENT_C_VERSION with which the library was built; a program can compare it to learn
/// whether the library has a function that a later version added.
CRESCENT_C_API int crescent_c_version(void);
/// The code of the error; CRESCENT_OK for NULL.
CRESCENT_C_API int crescent_error_code_of(const crescent_error* error);
/// The message, which lives until the error is freed; "" for NULL.
CRESCENT_C_API const char* crescent_error_message(const crescent_error* error);
CRESCENT_C_API void crescent_error_free(crescent_error* error);
CRESCENT_C_API void crescent_text_free(char* text);
/// Sets a function that is called for each warning, on the thread that raises it, in place of
/// printing to stderr; NULL restores printing.
CRESCENT_C_API void crescent_set_warning_handler(void (*handler)(void* user, const char* text),
                                                 void* user);

// ---- the process

/// Sets the seed of initial weights and random draws that have no seed of their own.
CRESCENT_MAY_FAIL crescent_error* crescent_set_seed(int64_t seed);
/// Sets the device that computes, such as "cpu", and its options, such as "{\"threads\": 2}".
CRESCENT_MAY_FAIL crescent_error* crescent_set_device(const char* name, const char* options);
/// Loads a plugin, by the path of its library or by its name on the search path.
CRESCENT_MAY_FAIL crescent_error* crescent_load_plugin(const char* path_or_name);
/// Lists the names of all classes of a kind ("layer", "optimizer", "loss", "operation", ...) as
/// JSON.
CRESCENT_MAY_FAIL crescent_error* crescent_list_classes(const char* kind, char** names);
/// Gets the documentation and the options of a class as a JSON object.
CRESCENT_MAY_FAIL crescent_error* crescent_describe_class(const char* kind, const char* name,
                                                          char** description);
/// Returns a handle by which other threads can interrupt operations of the calling thread.
CRESCENT_MAY_FAIL crescent_error* crescent_interruption_of_thread(crescent_interruption** result);
/// Asks the running operation of the thread of this handle to stop: fit ends after the current
/// batch, other operations fail with CRESCENT_ERROR_INTERRUPTED.
CRESCENT_MAY_FAIL crescent_error* crescent_interruption_request(
    const crescent_interruption* interruption);
CRESCENT_C_API void crescent_interruption_free(crescent_interruption* interruption);
/// Asks the running operation of the calling thread to stop. A signal handler may call this
/// function.
CRESCENT_C_API void crescent_interrupt(void);

// ---- tensors

/// The name of the dtype, "float32"; NULL for a number that is no dtype.
CRESCENT_C_API const char* crescent_dtype_name(int dtype);
/// Makes a tensor from a copy of `bytes` bytes of values in row-major order; if `values` is NULL,
/// all elements are zero.
CRESCENT_MAY_FAIL crescent_error* crescent_tensor_new(int dtype, const int64_t* shape, int rank,
                                                      const void* values, size_t bytes,
                                                      crescent_tensor** result);
/// Makes a tensor over memory of the caller, without a copy. `release` (or NULL) is called with
/// `user` once, perhaps by another thread, when nothing needs the memory any more; it is not called
/// if crescent_tensor_wrap() fails. The address must be a multiple of the size of an element (of 4
/// bytes for complex64).
CRESCENT_MAY_FAIL crescent_error* crescent_tensor_wrap(int dtype, const int64_t* shape, int rank,
                                                       void* memory, size_t bytes,
                                                       void (*release)(void* user), void* user,
                                                       crescent_tensor** result);
/// Makes a tensor of strings with one axis.
CRESCENT_MAY_FAIL crescent_error* crescent_tensor_from_texts(const char* const* texts, size_t count,
                                                             crescent_tensor** result);
/// Makes another handle of the same values; it stays valid when the first one is freed.
CRESCENT_MAY_FAIL crescent_error* crescent_tensor_share(const crescent_tensor* tensor,
                                                        crescent_tensor** result);
CRESCENT_C_API void crescent_tensor_free(crescent_tensor* tensor);
/// Gets the dtype and shape of the tensor.
CRESCENT_MAY_FAIL crescent_error* crescent_tensor_spec(const crescent_tensor* tensor,
                                                       crescent_spec* result);
/// Gets a pointer to the values, without a copy, which is valid as long as the handle.
CRESCENT_MAY_FAIL crescent_error* crescent_tensor_data(const crescent_tensor* tensor,
                                                       const void** values);
/// Gets a pointer for writing values. Writing does not change weights of a model that were set from
/// the tensor before.
CRESCENT_MAY_FAIL crescent_error* crescent_tensor_mutable_data(crescent_tensor* tensor,
                                                               void** values);
/// Gets an element of a tensor of strings; `index` counts in row-major order.
CRESCENT_MAY_FAIL crescent_error* crescent_tensor_text_at(const crescent_tensor* tensor,
                                                          size_t index, char** text);
/// Makes a tensor of the rows [first, first + count) of the leading axis, on the same memory.
CRESCENT_MAY_FAIL crescent_error* crescent_tensor_rows(const crescent_tensor* tensor, int64_t first,
                                                       int64_t count, crescent_tensor** result);
/// Makes a tensor of another shape with the same values, on the same memory.
CRESCENT_MAY_FAIL crescent_error* crescent_tensor_reshape(const crescent_tensor* tensor,
                                                          const int64_t* shape, int rank,
                                                          crescent_tensor** result);
/// Gets the values as text in the layout of NumPy; long tensors are abbreviated.
CRESCENT_MAY_FAIL crescent_error* crescent_tensor_print(const crescent_tensor* tensor, char** text);
/// Reads an array from a file (.npy, .npz, .h5, .safetensors, an image, ...). If the file has
/// several arrays, `name` is the path of one inside the file; else it is NULL.
CRESCENT_MAY_FAIL crescent_error* crescent_tensor_load(const char* path, const char* name,
                                                       crescent_tensor** result);
/// Writes named arrays into a file, which is replaced as a whole or not at all.
CRESCENT_MAY_FAIL crescent_error* crescent_tensors_save(const char* path, const char* const* names,
                                                        const crescent_tensor* const* tensors,
                                                        size_t count);
/// Calls a function of cr.ops, such as "softmax", "matmul" or "concatenate". `inputs` are its
/// tensor arguments by position, or the elements of the list if the function takes a list of
/// tensors; `arguments` is a JSON object of the other arguments by name. `count` is the capacity of
/// `results` before the call and the number of results after it.
CRESCENT_MAY_FAIL crescent_error* crescent_call(const char* function,
                                                const crescent_tensor* const* inputs,
                                                size_t input_count, const char* arguments,
                                                crescent_tensor** results, size_t* count);

// ---- models: files and configurations

/// Opens a model of Keras 1, 2.3.1, tf.keras, Keras 3 or Crescent; no code of the file is run.
CRESCENT_MAY_FAIL crescent_error* crescent_model_load(const char* path, const char* options,
                                                      crescent_model** result);
/// Saves the model; the file name extension (.keras, .h5, ...) determines the format. The file is
/// replaced as a whole or not at all.
CRESCENT_MAY_FAIL crescent_error* crescent_model_save(const crescent_model* model, const char* path,
                                                      const char* options);
/// Makes a model from the JSON that Keras' model.to_json() writes, {"class_name": "Sequential",
/// "config": ...}.
CRESCENT_MAY_FAIL crescent_error* crescent_model_from_json(const char* json,
                                                           crescent_model** result);
/// Gets the JSON that crescent_model_from_json and Keras read.
CRESCENT_MAY_FAIL crescent_error* crescent_model_to_json(const crescent_model* model, char** json);
/// Makes a model with the same configuration and new weights, which is not compiled.
CRESCENT_MAY_FAIL crescent_error* crescent_model_clone(const crescent_model* model,
                                                       crescent_model** result);
/// Sets the weights of the model from a file; fails for shapes that do not fit.
CRESCENT_MAY_FAIL crescent_error* crescent_model_load_weights(crescent_model* model,
                                                              const char* path,
                                                              const char* options);
/// Saves the weights. The file is replaced as a whole or not at all.
CRESCENT_MAY_FAIL crescent_error* crescent_model_save_weights(const crescent_model* model,
                                                              const char* path,
                                                              const char* options);
CRESCENT_C_API void crescent_model_free(crescent_model* model);

// ---- models: what they are

/// Returns the summary of the model as text in the layout of Keras.
CRESCENT_MAY_FAIL crescent_error* crescent_model_summary(const crescent_model* model,
                                                         const char* options, char** text);
/// Gets the name, layers, inputs, outputs, weights, metrics and numbers of parameters as a JSON
/// object.
CRESCENT_MAY_FAIL crescent_error* crescent_model_describe(const crescent_model* model, char** json);
/// Counts the inputs, outputs or weights, as `part` (a crescent_part) selects.
CRESCENT_MAY_FAIL crescent_error* crescent_model_count(const crescent_model* model, int part,
                                                       size_t* count);
/// Gets the name, dtype and shape of an input, output or weight; CRESCENT_ERROR_ARGUMENT for an
/// index out of range.
CRESCENT_MAY_FAIL crescent_error* crescent_model_spec(const crescent_model* model, int part,
                                                      size_t index, crescent_spec* result);
/// Gets a copy of the weight with this path ("dense_1/kernel", as crescent_model_spec names it).
CRESCENT_MAY_FAIL crescent_error* crescent_model_get_weight(const crescent_model* model,
                                                            const char* path,
                                                            crescent_tensor** result);
/// Assigns a copy of the values to the weight with this path.
CRESCENT_MAY_FAIL crescent_error* crescent_model_set_weight(crescent_model* model, const char* path,
                                                            const crescent_tensor* values);

// ---- models: computing

/// Computes the outputs for all samples of the inputs. `count` is the capacity of `outputs` before
/// the call and the number of outputs after it.
CRESCENT_MAY_FAIL crescent_error* crescent_model_predict(const crescent_model* model,
                                                         const crescent_tensor* const* inputs,
                                                         size_t input_count, const char* options,
                                                         crescent_tensor** outputs, size_t* count);
/// Compiles the model. `options` is JSON: {"optimizer": "adam", "loss": "mse", "metrics": ["mae"]}.
CRESCENT_MAY_FAIL crescent_error* crescent_model_compile(crescent_model* model,
                                                         const char* options);
/// Trains. `validation` and `progress` may be NULL; `history` (or NULL) becomes a JSON object of
/// lists, {"loss": [0.5, 0.25]}, with null for values that are not finite.
CRESCENT_MAY_FAIL crescent_error* crescent_model_fit(
    crescent_model* model, const crescent_data* data, const crescent_data* validation,
    const char* options, const crescent_progress* progress, char** history);
/// Trains on one batch. `values` receives the loss and the metrics, as many as it has room for.
/// `count` is the capacity of `values` before the call; after it, `count` is the number of values
/// that the model has. `values` and `count` may be NULL.
CRESCENT_MAY_FAIL crescent_error* crescent_model_train_on_batch(crescent_model* model,
                                                                const crescent_data* batch,
                                                                crescent_value* values,
                                                                size_t* count);
/// Computes the loss and metrics of one batch, without training.
CRESCENT_MAY_FAIL crescent_error* crescent_model_test_on_batch(crescent_model* model,
                                                               const crescent_data* batch,
                                                               crescent_value* values,
                                                               size_t* count);
/// Computes the loss and metrics over all samples; `values` and `count` are as in
/// crescent_model_train_on_batch.
CRESCENT_MAY_FAIL crescent_error* crescent_model_evaluate(crescent_model* model,
                                                          const crescent_data* data,
                                                          const char* options,
                                                          crescent_value* values, size_t* count);

#ifdef __cplusplus
}
#endif

#endif
