// Arguments and results of the interface as types of C++ and back.
#pragma once
#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "crescent/model/model.h"
#include "handles.h"

namespace crescent::c {

/// The object behind a model's handle. Names that were given out live as long as it does.
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
/// Hands tensors out; fails, and says how many there are, when they are more than `count`.
void give_tensors(const Tensors& tensors, crescent_tensor** results, size_t* count);

Shape shape_of(const int64_t* shape, int rank);
DType dtype_of(int dtype);

/// The text of a required argument.
std::string text_of(const char* text, const char* name);
/// The dictionary of a JSON text; NULL stands for an empty one.
Dict options_of(const char* json);
/// Memory that crescent_text_free frees.
char* new_text(const std::string& text);

/// Fills as much of the caller's struct as the caller knows.
void give_spec(const TensorSpec& spec, const char* name, crescent_spec* result);

/// The struct of a caller who may know less of it: members that it lacks are zero.
template <class Struct>
Struct read_struct(const Struct* given, const char* name) {
  require(given, name);
  const size_t size = given->struct_size;
  if (size < sizeof(size_t) || size > 4096)
    refuse("'", name, "->struct_size' is ", size, ", expected sizeof the struct");
  Struct known{};
  std::memcpy(&known, given, std::min(size, sizeof known));
  return known;
}

}  // namespace crescent::c
