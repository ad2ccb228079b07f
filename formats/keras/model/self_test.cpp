#include "keras/model/self_test.h"

#include <cmath>

#include "crescent/ops/ops.h"

namespace crescent::keras {
namespace {

constexpr const char* kSelfTest = "crescent_self_test";
constexpr int64_t kSampleCount = 2;
// The tolerances of the comparison; other kernels may sum in another order.
constexpr double kRelativeTolerance = 1e-3, kAbsoluteTolerance = 1e-4;

std::string self_test_path(size_t i) { return concat(kSelfTest, "/", i); }

/// A sample of small distinct numbers; integers are 0 and 1, which are valid indices of every
/// vocabulary.
Tensor sample(const TensorSpec& spec) {
  std::vector<int64_t> dims(spec.shape.begin(), spec.shape.end());
  for (int64_t& dim : dims)
    if (dim < 0) dim = 4;
  if (!dims.empty()) dims.front() = kSampleCount;
  std::vector<float> values(Shape(dims).size());
  const bool is_integer = !is_floating(spec.dtype);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] =
        is_integer ? static_cast<float>(i % 2) : static_cast<float>((i * 37) % 101) / 50.0f - 1.0f;
  return ops::cast(Tensor::from(values, Shape(dims)), spec.dtype);
}

bool is_close(const Tensor& actual, const Tensor& expected) {
  if (actual.shape() != expected.shape()) return false;
  const std::vector<double> g = actual.to_vector(), w = expected.to_vector();
  for (size_t i = 0; i < w.size(); ++i)
    if (!(std::abs(g[i] - w[i]) <= kAbsoluteTolerance + kRelativeTolerance * std::abs(w[i])) &&
        !(std::isnan(g[i]) && std::isnan(w[i])))
      return false;
  return true;
}

void check_testable(Model& model) {
  if (!model.is_graph())
    fail("self_test: model '", model.name(), "' has no inputs yet; build it, or call it once");
  for (const Layer* layer : model.flatten_layers())
    if (!layer->states().empty())
      fail("self_test: layer '", layer->name(),
           "' remembers batches (stateful), so that a test would change it");
}

}  // namespace

void write_self_test(Entries& entries, Model& model) {
  check_testable(model);
  Tensors tensors;
  for (const Symbol& input : model.inputs()) tensors.push_back(sample(input.spec()));
  const size_t input_count = tensors.size();
  for (Tensor& output : model.predict(tensors)) tensors.push_back(std::move(output));
  entries.push_back({kSelfTest,
                     {{"inputs", static_cast<int64_t>(input_count)},
                      {"count", static_cast<int64_t>(tensors.size())}}});
  for (size_t i = 0; i < tensors.size(); ++i)
    entries.push_back({self_test_path(i), {}, tensors[i]});
}

SelfTest::SelfTest(WeightSource& file) : path_(file.path()) {
  const auto input_count = file.integer(kSelfTest, "inputs"),
             count = file.integer(kSelfTest, "count");
  if (!input_count || !count) return;
  constexpr int64_t kMaxValues = 10000;
  if (*input_count < 0 || *count < *input_count || *count > kMaxValues)
    fail("'", path_, "': self-test of ", *input_count, " inputs and ", *count, " tensors");
  input_count_ = static_cast<size_t>(*input_count);
  Names datasets;
  for (int64_t i = 0; i < *count; ++i) datasets.push_back(self_test_path(i));
  const std::vector<TensorSpec> specs = file.describe(datasets);
  for (size_t i = 0; i < datasets.size(); ++i)
    matches_.push_back({datasets[i], Variable(Tensor(specs[i])), nullptr, "self-test"});
}

void SelfTest::check(Model& model) const {
  if (matches_.empty()) return;
  Tensors tensors;
  for (const Match& match : matches_) tensors.push_back(match.variable.value());
  const auto inputs_end = tensors.begin() + static_cast<std::ptrdiff_t>(input_count_);
  try {
    const Tensors predictions = model.predict(Tensors(tensors.begin(), inputs_end));
    bool is_same = predictions.size() == tensors.size() - input_count_;
    for (size_t i = 0; is_same && i < predictions.size(); ++i)
      is_same = is_close(predictions[i], tensors[input_count_ + i]);
    if (!is_same)
      warn("'", path_, "': the model predicts otherwise than when it was saved (self_test)");
  } catch (const Error& error) {
    warn("'", path_,
         "': the model cannot predict what it predicted when it was saved (self_test): ",
         error.what());
  }
}

}  // namespace crescent::keras
