#include "arguments.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace crescent::c {

// ---- models

const char* ModelObject::keep(const std::string& name) {
  const std::lock_guard lock(mutex);
  return names.insert(name).first->c_str();
}

std::shared_ptr<ModelObject> object_of(const crescent_model* model) {
  require(model, "model");
  auto object = std::static_pointer_cast<ModelObject>(find_handle(HandleKind::model, model));
  if (!object) fail_argument("'model' is no model, or one that was freed");
  return object;
}

ModelPtr model_of(const crescent_model* model) { return object_of(model)->model; }

crescent_model* new_handle(ModelPtr model) {
  auto object = std::make_shared<ModelObject>();
  object->model = std::move(model);
  return reinterpret_cast<crescent_model*>(add_handle(HandleKind::model, std::move(object)));
}

// ---- tensors

Tensor tensor_of(const crescent_tensor* tensor, const char* name) {
  require(tensor, name);
  const auto object = std::static_pointer_cast<Tensor>(find_handle(HandleKind::tensor, tensor));
  if (!object) fail_argument("'", name, "' is no tensor, or one that was freed");
  return *object;
}

Tensors tensors_of(const crescent_tensor* const* tensors, size_t count, const char* name) {
  if (count > 0) require(tensors, name);
  Tensors result;
  for (size_t i = 0; i < count; ++i)
    result.push_back(tensor_of(tensors[i], concat(name, "[", i, "]").c_str()));
  return result;
}

crescent_tensor* new_handle(Tensor tensor) {
  auto object = std::make_shared<Tensor>(std::move(tensor));
  return reinterpret_cast<crescent_tensor*>(add_handle(HandleKind::tensor, std::move(object)));
}

void write_tensors(const Tensors& tensors, crescent_tensor** results, size_t* count) {
  const size_t capacity = std::exchange(*require(count, "count"), tensors.size());
  if (tensors.size() > capacity)
    fail_argument("there are ", tensors.size(), " results, and room for ", capacity);
  if (capacity > 0) require(results, "results");
  for (size_t i = 0; i < tensors.size(); ++i) results[i] = new_handle(tensors[i]);
}

Shape shape_of(const int64_t* shape, int rank) {
  if (rank < 0 || rank > CRESCENT_MAX_RANK)
    fail_argument("'rank' is ", rank, ", expected 0 to ", CRESCENT_MAX_RANK);
  if (rank > 0) require(shape, "shape");
  for (int i = 0; i < rank; ++i)
    if (shape[i] < 0) fail_argument("'shape[", i, "]' is ", shape[i], ", expected 0 or more");
  return Shape(std::span<const int64_t>(shape, static_cast<size_t>(rank)));
}

DType dtype_of(int dtype) {
  if (dtype < 0 || dtype >= kDTypeCount) fail_argument("'dtype' is ", dtype, ", which is none");
  return static_cast<DType>(dtype);
}

// ---- texts

std::string text_of(const char* text, const char* name) { return require(text, name); }

Dict options_of(const char* json, const char* name) try {
  if (!json || !*json) return {};
  return parse_json(json).as_dict();
} catch (const Error& error) {
  fail_argument(name, ": ", error.what());
}

char* new_text(const std::string& text) {
  const auto copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (!copy) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

// ---- structs

namespace {

void set_sizes(const TensorSpec& spec, crescent_spec& result) {
  int64_t stride = 1;
  for (int i = spec.shape.rank(); i-- > 0; stride *= spec.shape[i]) result.strides[i] = stride;
  result.size = spec.shape.size();
  result.bytes = static_cast<size_t>(spec.bytes());
}

}  // namespace

void write_spec(const TensorSpec& spec, const char* name, crescent_spec* result) {
  read_struct(result, "result");
  crescent_spec filled_spec{};
  filled_spec.struct_size = result->struct_size;
  filled_spec.name = name;
  filled_spec.dtype = static_cast<int32_t>(spec.dtype);
  filled_spec.rank = spec.shape.rank();
  std::copy(spec.shape.begin(), spec.shape.end(), filled_spec.shape);
  filled_spec.size = -1;
  if (spec.shape.is_known()) set_sizes(spec, filled_spec);
  std::memcpy(result, &filled_spec, std::min(result->struct_size, sizeof filled_spec));
}

}  // namespace crescent::c
