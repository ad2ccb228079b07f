// Inspection of models from C++: traces, gradient norms, non-finite values, the learning-rate range
// test. The scripts of tests/shell/training cover more.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "crescent/crescent.h"
#include "small_model.h"

using namespace crescent;
using Catch::Contains;
using small::boxed;
using small::data;
using small::small_model;
using small::targets;

namespace {

/// A subclassed model that calls a layer twice.
class LayerTwice final : public Model {
 public:
  LayerTwice() { track(inner_); }
  std::string class_name() const override { return "Twice"; }
  Tensors call(const Tensors& inputs, const Call&) override {
    return (*inner_)((*inner_)(inputs, {}), {});
  }

 private:
  LayerPtr inner_ = make<Layer>("Dense", {{"units", 3}, {"name", "inner"}});
};

std::shared_ptr<Sequential> compiled_model() {
  auto model = small_model();
  model->compile({{"optimizer", "adam"}, {"loss", "mse"}});
  return model;
}

/// All state that a training step may change.
std::vector<double> all_state(const Model& model) {
  Variables variables = model.weights();
  for (const Variable& v : model.optimizer()->state()) variables.push_back(v);
  std::vector<double> numbers;
  for (const Variable& v : variables)
    for (double x : v.value().to_vector()) numbers.push_back(x);
  return numbers;
}

}  // namespace

TEST_CASE("a trace has what layers give") {
  auto model = small_model();
  const Tensor x = data(10);
  const LayerTrace trace = model->trace({x}, {{"values", true}});
  REQUIRE(trace.outputs.size() == 2);
  const std::vector<double> got = trace.outputs[1].value.to_vector(),
                            want = model->predict({x}).front().to_vector();
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(want[i]).margin(1e-6));
  const TensorStatistics& s = *trace.outputs[0].statistics;
  const std::vector<double> hidden = trace.outputs[0].value.to_vector();
  CHECK(s.min == *std::min_element(hidden.begin(), hidden.end()));
  CHECK(s.max == *std::max_element(hidden.begin(), hidden.end()));
  CHECK(s.nan == 0);
  CHECK_THAT(join(trace.lines, "\n"), Contains("(10, 8)") && Contains("Mean"));
}

TEST_CASE("a trace numbers the calls of a layer in a model of C++") {
  auto model = std::make_shared<LayerTwice>();
  const LayerTrace trace = model->trace({data(4)});
  REQUIRE(trace.outputs.size() == 2);
  CHECK(trace.outputs[0].layer == "inner");
  CHECK(trace.outputs[0].call == 0);
  CHECK(trace.outputs[1].call == 1);
  CHECK_THROWS_WITH(model->trace({data(4)}, {{"layers", "iner"}}), Contains("'inner'"));
}

TEST_CASE("norms of gradients belong to weights and change nothing") {
  auto model = compiled_model();
  const Tensor x = data(10);
  model->fit({x}, {targets(x)}, {{"verbose", 0}});
  const std::vector<double> state_before = all_state(*model);
  const GradientNorms norms = model->gradient_norms({x}, {targets(x)});
  CHECK(all_state(*model) == state_before);
  REQUIRE(norms.weights.size() == 4);
  REQUIRE(norms.layers.size() == 2);
  GradientTape tape;
  const Tensor loss = ops::mean(ops::square((*model)(x)-targets(x)));
  const Variables weights = model->trainable_weights();
  const Tensors gradients = tape.gradient(loss, std::span<const Variable>(weights));
  for (size_t i = 0; i < weights.size(); ++i) {
    CHECK(norms.weights[i].name == weights[i].path());
    CHECK(norms.weights[i].gradient ==
          Approx(ops::sqrt(ops::sum(ops::square(gradients[i]))).item()));
  }
}

TEST_CASE("a batch that is not finite is located and leaves no trace") {
  auto model = compiled_model();
  const Tensor x = data(12);
  const Dict options{{"verbose", 0}, {"batch_size", 4}, {"shuffle", false}, {"nan", "locate"}};
  model->fit({x}, {targets(x)}, options);
  const std::vector<double> state_before = all_state(*model);
  std::vector<double> numbers = targets(x).to_vector();
  numbers[2] = INFINITY;
  const Tensor y = ops::cast(Tensor::from(numbers, {12, 1}), DType::float32);
  CHECK_THROWS_WITH(model->fit({x}, {y}, options),
                    Contains("batch 1 of epoch 1") && Contains("the data, y") &&
                        Contains("row 3 of the batch (3 of the data)"));
  CHECK(all_state(*model) == state_before);
}

TEST_CASE("the range test restores the model") {
  auto model = compiled_model();
  const Tensor x = data(40);
  model->fit({x}, {targets(x)}, {{"verbose", 0}});
  const std::vector<double> state_before = all_state(*model);
  const LearningRateCurve curve = model->find_learning_rate({x}, {targets(x)}, {{"steps", 30}});
  CHECK(all_state(*model) == state_before);
  CHECK(curve.rates.size() == curve.losses.size());
  CHECK(curve.rates.front() == Approx(1e-6));
  CHECK(curve.suggestion > 1e-6);
}
