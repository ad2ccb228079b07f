// Tensors in the C interface: making them from values, with or without a copy, reading their
// values, files of arrays, and calls of functions of cr.ops.
#include <algorithm>
#include <cstring>

#include "arguments.h"
#include "crescent/io/format.h"
#include "crescent/layer/operation.h"
#include "crescent/tensor/strings.h"
#include "errors.h"

namespace crescent::c {
namespace {

static_assert(CRESCENT_FLOAT32 == int(DType::float32) && CRESCENT_FLOAT64 == int(DType::float64) &&
              CRESCENT_BFLOAT16 == int(DType::bfloat16) &&
              CRESCENT_FLOAT16 == int(DType::float16) && CRESCENT_INT32 == int(DType::int32) &&
              CRESCENT_INT64 == int(DType::int64) && CRESCENT_UINT8 == int(DType::uint8) &&
              CRESCENT_BOOL == int(DType::boolean) && CRESCENT_INT8 == int(DType::int8) &&
              CRESCENT_INT16 == int(DType::int16) && CRESCENT_COMPLEX64 == int(DType::complex64) &&
              CRESCENT_STRING == int(DType::string) && CRESCENT_MAX_RANK == Shape::kMaxRank);

/// A storage over memory of the caller; the destructor calls `release`.
class CallersStorage final : public Storage {
 public:
  CallersStorage(void* memory, size_t bytes) {
    host_ = static_cast<std::byte*>(memory);
    bytes_ = bytes;
    expose_for_write();
  }
  ~CallersStorage() override {
    if (release_) release_(user_pointer_);
  }
  void release_by(void (*release)(void* user), void* user) {
    release_ = release, user_pointer_ = user;
  }

 private:
  void (*release_)(void* user) = nullptr;
  void* user_pointer_ = nullptr;
};

/// Returns the spec of an array that the caller passes; fails for strings, and if `bytes` does not
/// match the shape and dtype.
TensorSpec checked_spec(int dtype, const int64_t* shape, int rank, size_t bytes) {
  const TensorSpec spec{dtype_of(dtype), shape_of(shape, rank)};
  if (spec.dtype == DType::string) fail_argument("strings are made by crescent_tensor_from_texts");
  const auto expected_bytes = static_cast<size_t>(spec.bytes());
  if (bytes != expected_bytes)
    fail_argument("'bytes' is ", bytes, ", expected ", expected_bytes, " for ", to_text(spec));
  return spec;
}

/// Returns the tensor of a handle whose elements are read or written as bytes; fails for strings.
Tensor host_tensor(const crescent_tensor* tensor) {
  const Tensor tensor_on_host = tensor_of(tensor, "tensor");
  if (tensor_on_host.dtype() == DType::string)
    fail_argument("elements of strings are read by crescent_tensor_text_at");
  return tensor_on_host;
}

void check_address(const void* memory, const TensorSpec& spec) {
  const size_t step = spec.dtype == DType::complex64 ? sizeof(float) : size_of(spec.dtype);
  if (reinterpret_cast<uintptr_t>(memory) % step != 0)
    fail_argument("'memory' is not at a multiple of ", step, " bytes");
}

/// Returns a copy in memory of a tensor whose values are in a file; returns other tensors
/// unchanged.
Tensor in_memory(const Tensor& tensor) { return tensor.in_memory() ? tensor : tensor.clone(); }

/// Converts a list of C strings; fails if one of them is NULL.
std::vector<std::string> texts_of(const char* const* texts, size_t count, const char* name) {
  if (count > 0) require(texts, name);
  std::vector<std::string> copies;
  for (size_t i = 0; i < count; ++i)
    copies.push_back(text_of(texts[i], concat(name, "[", i, "]").c_str()));
  return copies;
}

/// Fails if a name occurs twice, because a file with two arrays of one name could not be read
/// again.
void check_names_differ(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  const auto repeated_name = std::adjacent_find(names.begin(), names.end());
  if (repeated_name != names.end()) fail_argument("'names' has '", *repeated_name, "' twice");
}

Value boxed(const Tensor& tensor) { return Value(std::make_shared<BoxedTensor>(tensor)); }

List boxed(const Tensors& tensors) {
  List list;
  for (const Tensor& tensor : tensors) list.push_back(boxed(tensor));
  return list;
}

bool takes_list_of_tensors(const Operation& operation) {
  const auto& parameters = operation.schema().signature.parameters;
  return !parameters.empty() && parameters.front().is_tensor && parameters.front().is_list;
}

Tensors results_of(const Value& value) {
  if (!value.is_list()) return {Codec<Tensor>::decode(value)};
  Tensors tensors;
  for (const Value& item : value.as_list()) tensors.push_back(Codec<Tensor>::decode(item));
  return tensors;
}

Tensors call_operation(const std::string& name, const Tensors& inputs, const Dict& keywords) {
  const auto operation = get<Operation>(Value(name));
  const List list = boxed(inputs);
  const List positional = takes_list_of_tensors(*operation) ? List{Value(list)} : list;
  return results_of((*operation)(operation->arguments(positional, keywords)));
}

}  // namespace
}  // namespace crescent::c

using namespace crescent;
using namespace crescent::c;

const char* crescent_dtype_name(int dtype) {
  return dtype < 0 || dtype >= kDTypeCount ? nullptr : name_of(static_cast<DType>(dtype));
}

crescent_error* crescent_tensor_new(int dtype, const int64_t* shape, int rank, const void* values,
                                    size_t bytes, crescent_tensor** result) {
  return guarded(__func__, [&] {
    require(result, "result");
    const TensorSpec spec = checked_spec(dtype, shape, rank, bytes);
    *result = new_handle(values ? Tensor::from_bytes(values, bytes, spec) : Tensor(spec));
  });
}

crescent_error* crescent_tensor_wrap(int dtype, const int64_t* shape, int rank, void* memory,
                                     size_t bytes, void (*release)(void* user), void* user,
                                     crescent_tensor** result) {
  return guarded(__func__, [&] {
    require(result, "result");
    const TensorSpec spec = checked_spec(dtype, shape, rank, bytes);
    if (bytes > 0) require(memory, "memory");
    check_address(memory, spec);
    const auto storage = std::make_shared<CallersStorage>(memory, bytes);
    *result = new_handle(Tensor::on(storage, 0, spec));
    storage->release_by(release, user);
  });
}

crescent_error* crescent_tensor_from_texts(const char* const* texts, size_t count,
                                           crescent_tensor** result) {
  return guarded(__func__, [&] {
    require(result, "result");
    *result =
        new_handle(string_tensor(texts_of(texts, count, "texts"), {static_cast<int64_t>(count)}));
  });
}

crescent_error* crescent_tensor_share(const crescent_tensor* tensor, crescent_tensor** result) {
  return guarded(__func__, [&] {
    require(result, "result");
    *result = new_handle(tensor_of(tensor, "tensor"));
  });
}

void crescent_tensor_free(crescent_tensor* tensor) { remove_handle(HandleKind::tensor, tensor); }

crescent_error* crescent_tensor_spec(const crescent_tensor* tensor, crescent_spec* result) {
  return guarded(__func__,
                 [&] { write_spec(tensor_of(tensor, "tensor").spec(), nullptr, result); });
}

crescent_error* crescent_tensor_data(const crescent_tensor* tensor, const void** values) {
  return guarded(__func__, [&] {
    require(values, "values");
    *values = host_tensor(tensor).raw();
  });
}

crescent_error* crescent_tensor_mutable_data(crescent_tensor* tensor, void** values) {
  return guarded(__func__, [&] {
    require(values, "values");
    *values = host_tensor(tensor).mutable_raw();
  });
}

crescent_error* crescent_tensor_text_at(const crescent_tensor* tensor, size_t index, char** text) {
  return guarded(__func__, [&] {
    require(text, "text");
    const Tensor strings = tensor_of(tensor, "tensor");
    const auto* ids = strings.data<StringId>();
    if (index >= static_cast<size_t>(strings.size()))
      fail_argument("'index' is ", index, ", the tensor has ", strings.size(), " elements");
    *text = new_text(std::string(crescent::text_of(ids[index])));
  });
}

crescent_error* crescent_tensor_rows(const crescent_tensor* tensor, int64_t first, int64_t count,
                                     crescent_tensor** result) {
  return guarded(__func__, [&] {
    require(result, "result");
    const Tensor whole_tensor = tensor_of(tensor, "tensor");
    const int64_t rows = whole_tensor.rank() > 0 ? whole_tensor.dim(0) : 0;
    if (first < 0 || count < 0 || first > rows || count > rows - first)
      fail_argument("rows ", first, " and the ", count, " from there on are not in ",
                    whole_tensor.shape());
    *result = new_handle(whole_tensor.view_rows(first, count));
  });
}

crescent_error* crescent_tensor_reshape(const crescent_tensor* tensor, const int64_t* shape,
                                        int rank, crescent_tensor** result) {
  return guarded(__func__, [&] {
    require(result, "result");
    *result = new_handle(tensor_of(tensor, "tensor").view(shape_of(shape, rank)));
  });
}

crescent_error* crescent_tensor_print(const crescent_tensor* tensor, char** text) {
  return guarded(__func__, [&] {
    require(text, "text");
    *text = new_text(to_text(tensor_of(tensor, "tensor")));
  });
}

crescent_error* crescent_tensor_load(const char* path, const char* member,
                                     crescent_tensor** result) {
  return guarded(__func__, [&] {
    require(result, "result");
    *result = new_handle(in_memory(read_array(text_of(path, "path"), member ? member : "")));
  });
}

crescent_error* crescent_tensors_save(const char* path, const char* const* names,
                                      const crescent_tensor* const* tensors, size_t count) {
  return guarded(__func__, [&] {
    const Tensors saved_tensors = tensors_of(tensors, count, "tensors");
    const std::vector<std::string> given_names = texts_of(names, count, "names");
    NamedTensors arrays;
    for (size_t i = 0; i < count; ++i) arrays.emplace_back(given_names[i], saved_tensors[i]);
    check_names_differ(given_names);
    write_arrays(text_of(path, "path"), arrays);
  });
}

crescent_error* crescent_call(const char* function, const crescent_tensor* const* inputs,
                              size_t input_count, const char* arguments, crescent_tensor** results,
                              size_t* count) {
  return guarded(__func__, [&] {
    const Tensors input_tensors = tensors_of(inputs, input_count, "inputs");
    require(count, "count");
    write_tensors(call_operation(text_of(function, "function"), input_tensors,
                                 options_of(arguments, "arguments")),
                  results, count);
  });
}
