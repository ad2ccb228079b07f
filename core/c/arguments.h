// Conversions between arguments and results of the C interface and C++ types.
#pragma once
#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "crescent/model/model.h"
#include "handles.h"

namespace crescent::c {

/// The object behind a model's handle. It owns the names that were passed to callers.
struct ModelObject {
  ModelPtr model;
  std::mutex mutex;
  std::set<std::string> names;
  const char* keep(const std::string& name);
};

std::shared_ptr<ModelObject> object_of(const crescent_model* model);
ModelPtr model_of(const crescent_model* model);
crescent_model* new_handle(ModelPtr model);

Tensor tensor_of(const crescent_tensor* tensor, const char* name);
Tensors tensors_of(const crescent_tensor* const* tensors, size_t count, const char* name);
crescent_tensor* new_handle(Tensor tensor);
/// Stores a handle of each tensor in `results`, which has room for `*count` handles, and sets
/// `*count` to the number of tensors. Fails if there is not enough room; `*count` is set
/// nevertheless.
void write_tensors(const Tensors& tensors, crescent_tensor** results, size_t* count);

Shape shape_of(const int64_t* shape, int rank);
DType dtype_of(int dtype);

/// Returns the text as a string; fails for NULL with an error that names the argument.
std::string text_of(const char* text, const char* name);
/// Parses a JSON object into a dictionary; NULL gives an empty dictionary. Errors begin with the
/// name of the argument.
Dict options_of(const char* json, const char* name = "options");
/// Returns a copy of the text, which the caller frees by crescent_text_free.
char* new_text(const std::string& text);

/// Writes the spec and the name into those members of the caller's struct that lie within its
/// struct_size.
void write_spec(const TensorSpec& spec, const char* name, crescent_spec* result);

/// Copies a struct of the caller. Members that lie beyond the struct_size of the caller's struct,
/// which an older header may have defined, are zero in the copy.
template <class Struct>
Struct read_struct(const Struct* source, const char* name) {
  require(source, name);
  const size_t size = source->struct_size;
  if (size < sizeof(size_t) || size > 4096)
    fail_argument("'", name, "->struct_size' is ", size, ", expected sizeof the struct");
  Struct result{};
  std::memcpy(&result, source, std::min(size, sizeof result));
  return result;
}

}  // namespace crescent::c
