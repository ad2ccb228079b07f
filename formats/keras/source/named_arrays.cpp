#include "keras/source/named_arrays.h"

#include <cmath>
#include <set>

#include "crescent/base/progress.h"

namespace crescent::keras {
namespace {

template <class T>
bool all_finite(const Tensor& values) {
  const T* numbers = values.data<T>();
  for (int64_t i = 0; i < values.shape().size(); ++i)
    if (!std::isfinite(numbers[i])) return false;
  return true;
}

bool is_finite(const Tensor& values) {
  if (values.dtype() == DType::float32) return all_finite<float>(values);
  return values.dtype() != DType::float64 || all_finite<double>(values);
}

}  // namespace

NamedArrays::NamedArrays(std::string path, std::vector<NamedArray> arrays)
    : path_(std::move(path)), arrays_(std::move(arrays)) {
  std::set<std::string> names;
  for (const NamedArray& array : arrays_)
    if (!names.insert(array.name).second)
      fail("'", path_, "': there are two arrays '", array.name, "'; nothing was loaded");
}

const NamedArray& NamedArrays::find(const std::string& name) const {
  if (name.empty() && arrays_.size() == 1) return arrays_.front();
  Names names;
  for (const NamedArray& array : arrays_) {
    if (array.name == name) return array;
    names.push_back(array.name);
  }
  if (name.empty())
    fail("'", path_, "': which array? The file has ", names.size(), ": ", join(names));
  fail("'", path_, "': there is no array '", name, "'", did_you_mean(name, names));
}

std::optional<Names> NamedArrays::members(const std::string& group) {
  if (!group.empty()) return std::nullopt;
  Names names;
  for (const NamedArray& array : arrays_) names.push_back(array.name);
  return names;
}

std::vector<TensorSpec> NamedArrays::describe(const Names& arrays) {
  std::vector<TensorSpec> specs;
  for (const std::string& name : arrays) specs.push_back(find(name).spec);
  return specs;
}

std::vector<DatasetValues> NamedArrays::read(const Names& arrays) {
  std::vector<DatasetValues> dataset_values;
  size_t total_bytes = 0;
  for (const TensorSpec& spec : describe(arrays))
    total_bytes += static_cast<size_t>(spec.shape.size()) * size_of(spec.dtype);
  FileProgress progress("reading", path_, total_bytes);
  for (const std::string& name : arrays) {
    const Tensor values = find(name).read().clone();
    progress.add(values.bytes());
    dataset_values.push_back({values, is_finite(values)});
  }
  return dataset_values;
}

}  // namespace crescent::keras
