// Plugins with a stable C ABI: a table of C structs, so that one binary loads into every later
// host.
//
// A plugin in C++ (crescent/plugin.h) has the whole interface and must be built with the same
// version of Crescent. A plugin that exports this table links nothing of Crescent: it gets the
// functions of its host in a struct. Each struct begins with struct_size, the size that it has in
// the header with which its author compiled: a later host takes missing members of a plugin's
// structs as zero, and a later plugin checks host->struct_size before it calls a newer function
// (CRESCENT_HOST_HAS). crescent_plugin.hpp wraps all this for C++.
//
//   static crescent_error* start(const crescent_host* given) { return host = given, NULL; }
//   static const crescent_layer_class* const layers[] = {&scale};
//   CRESCENT_EXPORT_TABLE = {CRESCENT_TABLE_HEAD("acme.scale", "1.0.0"), start, layers, 1};
//
// Callbacks return NULL or an error: either made by host->error_new or returned by a function of
// the host. Handles that callbacks are given are valid during the call only; handles that they
// return belong to the host. Tensors within a layer's call may have no values, since a step is
// traced once and compiled: a layer computes by host->call, not on values. An op computes on
// values.
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
/// The maximum number of results of a layer or an op.
#define CRESCENT_MAX_RESULTS 16

typedef struct crescent_layer crescent_layer;

/// Functions of the host; those with the name of a function in crescent.h do the same.
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
  /// Reads a number or boolean (as 0 or 1) from a JSON object: an option of a layer, an attribute
  /// of an op.
  crescent_error* (*get_number)(const char* json, const char* name, double* number);
  /// Reads a string from a JSON object; a value of another type is returned as JSON text. The
  /// caller frees `text` by text_free.
  crescent_error* (*get_text)(const char* json, const char* name, char** text);
  void (*text_free)(char* text);
  /// Calls a function of cr.ops, which may be an op of this plugin.
  crescent_error* (*call)(const char* function, const crescent_tensor* const* inputs,
                          size_t input_count, const char* arguments, crescent_tensor** results,
                          size_t* count);
  /// Adds a weight; only the callback `build` may call it. Weights are numbered from 0 in the order
  /// of calls. `initializer` is JSON, a name in quotes or a configuration, or NULL for the default.
  crescent_error* (*add_weight)(crescent_layer* layer, const char* name, const int64_t* shape,
                                int rank, const char* initializer, int trainable);
  /// Returns the value of the weight with number `index`.
  crescent_error* (*weight)(const crescent_layer* layer, size_t index, crescent_tensor** result);
  /// Sets the value that a weight has after the step; only the callback `call` may call it.
  crescent_error* (*assign)(crescent_layer* layer, size_t index, const crescent_tensor* value);
  /// Adds a scalar to the training loss; only the callback `call` may call it.
  crescent_error* (*add_loss)(crescent_layer* layer, const crescent_tensor* value);
  /// Returns an additional function that later or special hosts have; NULL for an unknown name.
  const void* (*extension)(const char* name);
} crescent_host;

/// Whether the host, which may be older than this header, has this function.
#define CRESCENT_HOST_HAS(host, function) \
  ((host)->struct_size > offsetof(crescent_host, function) && (host)->function != NULL)

/// An option of a layer.
typedef struct crescent_option {
  size_t struct_size;
  const char* name;
  const char* doc;
  /// A JSON value whose type is the type of the option: true, 1, 0.5, "a text". NULL: the option
  /// has any type and its default is null.
  const char* default_value;
} crescent_option;

typedef struct crescent_layer_class {
  size_t struct_size;
  const char* name;  ///< of letters, digits, _, . and >, as those of options and ops are
  const char* doc;
  const crescent_option* const* options;
  size_t option_count;
  /// Makes the state of a layer from its options, a JSON object. If this function is NULL, layers
  /// have no state.
  crescent_error* (*create)(const char* options, void** self);
  void (*destroy)(void* self);
  /// Adds weights for these inputs, whose batch size is -1. If this function is NULL, layers have
  /// no weights.
  crescent_error* (*build)(void* self, crescent_layer* layer, const crescent_spec* const* inputs,
                           size_t count);
  /// Computes the results. `result_count` is the capacity of `results` before the call and the
  /// number of results after it.
  crescent_error* (*call)(void* self, crescent_layer* layer, const crescent_tensor* const* inputs,
                          size_t count, int training, crescent_tensor** results,
                          size_t* result_count);
  size_t min_inputs, max_inputs;  ///< both 0: the layer has one input
  int supports_masking;           ///< whether the output has the mask of the single input
} crescent_layer_class;

/// Describes the memory that holds the values of an input or a result of an op, in row-major order.
typedef struct crescent_buffer {
  size_t struct_size;
  void* data;
  int32_t dtype;
  int32_t rank;
  const int64_t* shape;
  int64_t size;  ///< number of elements
} crescent_buffer;

/// An op, registered as a function of cr.ops under its name. The CPU computes it, also in compiled
/// steps.
typedef struct crescent_op_class {
  size_t struct_size;
  const char* name;
  const char* doc;
  /// The signature as in Python, inputs first: "x, limit=1.0". The other parameters are attributes.
  const char* parameters;
  size_t input_count;
  /// Computes dtypes and shapes of the results and checks the inputs. Sizes may be -1. `attributes`
  /// is a JSON object. The host has set struct_size of the results; the callback sets their other
  /// members.
  crescent_error* (*infer)(const char* attributes, const crescent_spec* const* inputs, size_t count,
                           crescent_spec* const* results, size_t* result_count);
  /// Computes the results; several threads may call it at the same time.
  crescent_error* (*compute)(const char* attributes, const crescent_buffer* const* inputs,
                             size_t count, crescent_buffer* const* results, size_t result_count);
  /// Computes the gradient of each input by host->call, or NULL for no gradient. A NULL among the
  /// given gradients stands for zero. If the function is NULL, the op is not differentiable.
  crescent_error* (*gradient)(const char* attributes, const crescent_tensor* const* inputs,
                              size_t count, const crescent_tensor* const* outputs,
                              const crescent_tensor* const* gradients, size_t output_count,
                              crescent_tensor** results);
} crescent_op_class;

/// The table that describes a plugin. Its members up to `version` are read from the file before any
/// code of the plugin runs.
typedef struct crescent_plugin {
  char magic[16];
  uint32_t struct_size;
  uint32_t table_version;
  char name[64];
  char version[32];
  /// The first function of the plugin that the host calls, once; `host` lives as long as the
  /// process.
  crescent_error* (*start)(const crescent_host* host);
  const crescent_layer_class* const* layers;
  size_t layer_count;
  const crescent_op_class* const* ops;
  size_t op_count;
  /// Finds additional functions of this plugin by name; may be NULL.
  const void* (*extension)(const char* name);
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
