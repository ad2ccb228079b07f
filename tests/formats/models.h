// Small models for tests of file formats.
#pragma once
#include "crescent/io/format.h"
#include "crescent/model/model.h"
#include "scratch.h"

namespace crescent::hdf5 {

inline LayerPtr layer(const std::string& name, const Dict& options) {
  return make<Layer>(name, options);
}

/// The configuration of an object in the form that files contain.
inline Dict configured(const std::string& name, const Dict& config) {
  return {{"class_name", name}, {"config", config}};
}

inline ModelPtr small_sequential() {
  return Sequential::make(
      {layer("Dense",
             {{"units", 8}, {"activation", "relu"}, {"input_shape", List{4}}, {"name", "first"}}),
       layer("Dropout", {{"rate", 0.25}, {"name", "drop"}}),
       layer("Dense", {{"units", 3}, {"activation", "softmax"}, {"name", "last"}})},
      "small");
}

/// Small numbers, which repeat after 101 elements.
inline Tensor ramp(const Shape& shape, double step = 0.01) {
  std::vector<float> values(static_cast<size_t>(shape.size()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(step * static_cast<double>((i * 37) % 101) - 0.3);
  return Tensor::from(values, shape);
}

inline Tensor labels(int64_t count, int classes) {
  std::vector<int32_t> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int32_t>((i * i + i / 3) % static_cast<size_t>(classes));
  return Tensor::from(values, {count});
}

inline void check_same(const Tensor& a, const Tensor& b) {
  REQUIRE(a.spec() == b.spec());
  CHECK(std::memcmp(a.raw(), b.raw(), a.bytes()) == 0);
}

inline void check_same(const Tensors& a, const Tensors& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) check_same(a[i], b[i]);
}

/// The value of a JSON attribute in a file.
inline Value json_attribute(const std::string& path, const std::string& name) {
  return parse_json(FileReader(path).text("", name).value());
}

}  // namespace crescent::hdf5
