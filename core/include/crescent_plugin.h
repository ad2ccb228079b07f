// Plugins with a stable C ABI: a table of C structs, so that one binary loads into every later
// host.
//
// A plugin in C++ (crescent/plugin.h) has the whole interface and is built along with Crescent. One
// that exports this table links nothing of Crescent: it gets the functions of its host in a struct,
// and says how much of each struct it knows by struct_size. A host that is later reads what is
// there and takes the rest for zero; a plugin that is later compares host->struct_size before it
// calls what came later (CRESCENT_HOST_HAS). crescent_plugin.hpp wraps all this for C++.
//
//   static crescent_error* start(const crescent_host* given) { return host = given, NULL; }
//   static const crescent_layer_class* const layers[] = {&scale};
//   CRESCENT_EXPORT_TABLE = {CRESCENT_TABLE_HEAD("acme.scale", "1.0.0"), start, layers, 1};
//
// Callbacks return NULL or an error: one of host->error_new, or one that a function of the host
// gave. Handles that callbacks are given are lent for the call; those that they return go to the
// host. Tensors within a layer's call may have no values, since a step is traced once and compiled:
// a layer computes by host->call, not on values. An op computes on values.
#ifndef CRESCENT_PLUGIN_TABLE_H
#define CRESCENT_PLUGIN_TABLE_H

#include "crescent.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Incremented only if hosts can no longer read tables of earlier versions.
#define CRESCENT_TABLE_VERSION 1
#define CRESCENT_TABLE_MAGIC "crescent-table"
#define CRESCENT_TABLE_SECTION ".crescent.table"
/// The most results of a layer or an op.
#define CRESCENT_MAX_RESULTS 16

typedef struct crescent_layer crescent_layer;

/// Functions of the host; those that are in crescent.h too do the same.
typedef struct crescent_host {
  size_t struct_size;
  const char* crescent_version;
  crescent_error* (*error_new)(const char* message);
  const char* (*error_message)(const crescent_error* error);
  void (*error_free)(crescent_error* error);
  crescent_error* (*tensor_new)(int dtype, const int64_t* shape, int rank, const void* values,
                                size_t bytes, crescent_tensor** result);
  crescent_error* (*tensor_share)(const crescent_tensor* tensor, crescent_tensor** result);
  void (*tensor_free)(crescent_tensor* tensor);
  crescent_error* (*tensor_spec)(const crescent_tensor* tensor, crescent_spec* result);
  /// A number or a boolean (0, 1) of a JSON object: an option of a layer, an attribute of an op.
  crescent_error* (*get_number)(const char* json, const char* name, double* number);
  /// A text of a JSON object; of another value its JSON. It is freed by text_free.
  crescent_error* (*get_text)(const char* json, const char* name, char** text);
  void (*text_free)(char* text);
  /// A function of cr.ops, an op of this plugin among them.
  crescent_error* (*call)(const char* function, const crescent_tensor* const* inputs,
                          size_t input_count, const char* arguments, crescent_tensor** results,
                          size_t* count);
  /// Within build: adds a weight. `initializer` is JSON: a name in quotes, a configuration, or NULL
  /// for the default. Weights are numbered from 0.
  crescent_error* (*add_weight)(crescent_layer* layer, const char* name, const int64_t* shape,
                                int rank, const char* initializer, int trainable);
  /// The value of a weight.
  crescent_error* (*weight)(const crescent_layer* layer, size_t index, crescent_tensor** result);
  /// Within call: the value that the weight has after the step.
  crescent_error* (*assign)(crescent_layer* layer, size_t index, const crescent_tensor* value);
  /// Within call: a scalar that training adds to the loss.
  crescent_error* (*add_loss)(crescent_layer* layer, const crescent_tensor* value);
  /// What later or special hosts have beside this; NULL for an unknown name.
  const void* (*extension)(const char* name);
} crescent_host;

/// Whether a host, perhaps an older one, has this function.
#define CRESCENT_HOST_HAS(host, function) \
  ((host)->struct_size > offsetof(crescent_host, function) && (host)->function != NULL)

/// An option of a layer.
typedef struct crescent_option {
  size_t struct_size;
  const char* name;
  const char* doc;
  /// JSON; its type is that of the option: true, 1, 0.5, "a text". NULL: any value, null first.
  const char* default_value;
} crescent_option;

typedef struct crescent_layer_class {
  size_t struct_size;
  const char* name;
  const char* doc;
  const crescent_option* const* options;
  size_t option_count;
  /// Makes the state of a layer with these options, a JSON object. NULL: layers have no state.
  crescent_error* (*create)(const char* options, void** self);
  void (*destroy)(void* self);
  /// Adds weights for these inputs; sizes of batches are -1. NULL: layers have no weights.
  crescent_error* (*build)(void* self, crescent_layer* layer, const crescent_spec* const* inputs,
                           size_t count);
  /// `result_count` is the capacity of `results` before, and their number afterwards.
  crescent_error* (*call)(void* self, crescent_layer* layer, const crescent_tensor* const* inputs,
                          size_t count, int training, crescent_tensor** results,
                          size_t* result_count);
  size_t min_inputs, max_inputs;  ///< 0 and 0: one input
  int supports_masking;           ///< whether the mask of a single input is that of the output
} crescent_layer_class;

/// The values of an input or a result of an op, row by row.
typedef struct crescent_buffer {
  size_t struct_size;
  void* data;
  int32_t dtype;
  int32_t rank;
  const int64_t* shape;
  int64_t size;  ///< of elements
} crescent_buffer;

/// An op: a function of cr.ops under its name. It runs in compiled steps, on the host.
typedef struct crescent_op_class {
  size_t struct_size;
  const char* name;
  const char* doc;
  /// As in Python, inputs first: "x, limit=1.0". What is no input is an attribute.
  const char* parameters;
  size_t input_count;
  /// Dtypes and shapes of the results; all checks are here. Sizes may be -1. `attributes` are a
  /// JSON object. The host has set struct_size of the results, and takes those that are filled in.
  crescent_error* (*infer)(const char* attributes, const crescent_spec* const* inputs, size_t count,
                           crescent_spec* const* results, size_t* result_count);
  /// Threads may call it at the same time.
  crescent_error* (*compute)(const char* attributes, const crescent_buffer* const* inputs,
                             size_t count, crescent_buffer* const* results, size_t result_count);
  /// The gradient of each input, or NULL for none, by host->call. A gradient that is NULL is zero.
  /// NULL: the op cannot be differentiated.
  crescent_error* (*gradient)(const char* attributes, const crescent_tensor* const* inputs,
                              size_t count, const crescent_tensor* const* outputs,
                              const crescent_tensor* const* gradients, size_t output_count,
                              crescent_tensor** results);
} crescent_op_class;

/// The table. Up to `version` it is read from the file, before any code of the plugin runs.
typedef struct crescent_plugin {
  char magic[16];
  uint32_t struct_size;
  uint32_t table_version;
  char name[64];
  char version[32];
  /// Called once, first; the host lives as long as the process.
  crescent_error* (*start)(const crescent_host* host);
  const crescent_layer_class* const* layers;
  size_t layer_count;
  const crescent_op_class* const* ops;
  size_t op_count;
  const void* (*extension)(const char* name);  ///< what a host may ask a plugin for, or NULL
} crescent_plugin;

#define CRESCENT_TABLE_HEAD(plugin_name, plugin_version) \
  CRESCENT_TABLE_MAGIC, sizeof(crescent_plugin), CRESCENT_TABLE_VERSION, plugin_name, plugin_version

#ifdef __cplusplus
#define CRESCENT_TABLE_LINKAGE extern "C"
#else
#define CRESCENT_TABLE_LINKAGE
#endif
#define CRESCENT_EXPORT_TABLE                                                   \
  CRESCENT_TABLE_LINKAGE                                                        \
  __attribute__((visibility("default"), used, section(CRESCENT_TABLE_SECTION))) \
  const crescent_plugin crescent_plugin_table

#ifdef __cplusplus
}
#endif

#endif
