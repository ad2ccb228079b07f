// Compares the predictions of a model with those of its ONNX file.
#pragma once
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "crescent/io/format.h"
#include "crescent/ops/ops.h"
#include "distance.h"
#include "interpreter.h"

namespace crescent::onnx_test {

class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "crescent-onnx-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    folder_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string path(const std::string& name = "m.onnx") const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

/// Values that differ from element to element or, if `has_integers` is true, integer ids below 3.
inline Tensor values(const Shape& shape, bool has_integers) {
  std::vector<float> numbers(static_cast<size_t>(shape.size()));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto n = static_cast<float>((i * 37 + i / 5) % (has_integers ? 3 : 11));
    numbers[i] = has_integers ? n : n * 0.21f - 1;
  }
  return Tensor::from(numbers, shape);
}

inline File exported(Model& model) {
  const Scratch scratch;
  save_model(model, scratch.path());
  return read_onnx(scratch.path());
}

inline void check_predictions(Model& model, bool has_integers = false) {
  const File file = exported(model);
  CHECK(file.ir_version == 8);
  CHECK(file.opset == 17);
  for (int64_t batch : {1, 2, 5}) {
    CAPTURE(batch);
    Tensors x;
    for (const Symbol& input : model.inputs()) {
      Shape shape = input.shape();
      for (int axis = 0; axis < shape.rank(); ++axis)
        if (axis == 0 || shape[axis] < 0) shape.set(axis, axis == 0 ? batch : batch + 3 + axis);
      x.push_back(ops::cast(values(shape, has_integers), input.dtype()));
    }
    const Tensors want = model.predict(x), got = onnx_test::run(file.graph, x);
    REQUIRE(got.size() == want.size());
    for (size_t i = 0; i < want.size(); ++i) {
      REQUIRE(got[i].spec() == want[i].spec());
      const std::vector<double> numbers = want[i].to_vector();
      CHECK(farthest(got[i].to_vector(), numbers) < 2e-5 * magnitude(numbers, 1));
    }
  }
}

}  // namespace crescent::onnx_test
