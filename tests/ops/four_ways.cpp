// Checks every case: infer() against the results, gradients against finite differences, and
// compiled against eager results, in every dtype that the case supports.
#include <catch2/catch.hpp>

#include "ops/cases.h"

namespace crescent::test {
namespace {

TensorSpecs specs_of(const Tensors& tensors) {
  TensorSpecs specs;
  for (const Tensor& t : tensors) specs.push_back(t.spec());
  return specs;
}

Tensors abstract(const TensorSpecs& specs) {
  Tensors tensors;
  for (const TensorSpec& spec : specs) tensors.push_back(Tensor::abstract(spec));
  return tensors;
}

/// The derivative of the loss with respect to inputs[input_index][element], by central differences.
double slope(const Case& c, const Tensors& inputs, size_t input_index, int64_t element) {
  constexpr double kStep = 1e-5;
  auto loss_at = [&](double shift) {
    Tensors shifted_inputs = inputs;
    shifted_inputs[input_index] = inputs[input_index].clone();
    shifted_inputs[input_index].mutable_data<double>()[element] += shift;
    return weighted_sum(c.run(shifted_inputs)).item();
  };
  return (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
}

}  // namespace

TEST_CASE("infer tells what run gives") {
  for (const Case& c : all_cases()) {
    INFO(c.name);
    const Tensors inputs = draw(c, DType::float32);
    const TensorSpecs result_specs = specs_of(c.run(inputs));
    const Tensors inferred = c.run(abstract(specs_of(inputs)));
    CHECK(specs_of(inferred) == result_specs);
  }
}

TEST_CASE("infer lives with an unknown batch") {
  for (const Case& c : all_cases()) {
    if (c.inputs[0].shape.rank() == 0 || c.name == "random") continue;
    INFO(c.name);
    const Tensors inputs = draw(c, DType::float32);
    const TensorSpecs result_specs = specs_of(c.run(inputs));
    TensorSpecs open_specs = specs_of(inputs);
    open_specs[0].shape.set(0, -1);
    const Tensors inferred = c.run(abstract(open_specs));
    for (size_t i = 0; i < result_specs.size(); ++i) {
      INFO(to_text(inferred[i].spec()) << " against " << to_text(result_specs[i]));
      CHECK(inferred[i].shape().compatible(result_specs[i].shape));
      CHECK(inferred[i].dtype() == result_specs[i].dtype);
    }
  }
}

TEST_CASE("an empty batch gives what infer says or an error") {
  for (const Case& c : all_cases()) {
    if (c.inputs[0].shape.rank() == 0 || c.name == "random") continue;
    INFO(c.name);
    Case empty_case = c;
    for (In& in : empty_case.inputs) {
      if (in.shape.rank() > 0 && in.shape[0] == c.inputs[0].shape[0]) in.shape.set(0, 0);
    }
    const Tensors inputs = draw(empty_case, DType::float32);
    try {
      const Tensors outputs = done([&] { return empty_case.run(inputs); });
      CHECK(specs_of(outputs) == specs_of(empty_case.run(abstract(specs_of(inputs)))));
      if (c.has_gradient) done([&] { return gradients(empty_case, inputs); });
    } catch (const Error& e) {
      CHECK_FALSE(std::string(e.what()).empty());
    }
  }
}

TEST_CASE("gradients agree with finite differences") {
  for (const Case& c : all_cases()) {
    if (!c.has_gradient) continue;
    INFO(c.name);
    const Tensors inputs = draw(c, DType::float64);
    const Tensors tape_gradients = gradients(c, inputs);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!is_floating(inputs[i].dtype())) {
        CHECK_FALSE(tape_gradients[i]);
        continue;
      }
      INFO("input " << i);
      const int64_t n = inputs[i].size(), step = std::max<int64_t>(1, n / 7);
      if (tape_gradients[i]) REQUIRE(tape_gradients[i].spec() == inputs[i].spec());
      for (int64_t element = 0; element < n; element += step) {
        const double got =
            tape_gradients[i] ? tape_gradients[i].to_vector()[static_cast<size_t>(element)] : 0;
        INFO("element " << element);
        CHECK(got == Approx(slope(c, inputs, i, element)).epsilon(1e-5).margin(1e-6));
      }
    }
  }
}

TEST_CASE("compiled gives what eager gives, in every dtype") {
  for (const Case& c : all_cases()) {
    for (DType dtype : dtypes_of(c.dtypes)) {
      INFO(c.name << " in " << name_of(dtype));
      const Tensors inputs = draw(c, dtype);
      const Tensors eager = c.run(inputs), compiled = Function(c.run)(inputs);
      REQUIRE(specs_of(eager) == specs_of(compiled));
      for (size_t i = 0; i < eager.size(); ++i) {
        CHECK(difference(compiled[i], eager[i]) <= tolerance_of(eager[i].dtype()) * c.tolerance);
      }
    }
  }
}

TEST_CASE("compiled gradients are the eager ones") {
  for (const Case& c : all_cases()) {
    if (!c.has_gradient) continue;
    INFO(c.name);
    const Tensors inputs = draw(c, DType::float64), eager = gradients(c, inputs);
    const Tensors compiled = Function([&](const Tensors& x) {
      Tensors tape_gradients = gradients(c, x);
      for (size_t i = 0; i < tape_gradients.size(); ++i) {
        if (!tape_gradients[i]) tape_gradients[i] = ops::zeros({});
      }
      return tape_gradients;
    })(inputs);
    for (size_t i = 0; i < eager.size(); ++i) {
      if (eager[i]) CHECK(difference(compiled[i], eager[i]) <= 1e-10 * c.tolerance);
    }
  }
}

TEST_CASE("gradients in narrower dtypes are those in float64") {
  for (const Case& c : all_cases()) {
    if (!c.has_gradient) continue;
    for (DType dtype : dtypes_of(c.dtypes)) {
      if (!is_floating(dtype) || dtype == DType::float64) continue;
      INFO(c.name << " in " << name_of(dtype));
      const Tensors inputs = draw(c, dtype);
      Tensors float64_tensors;
      for (const Tensor& x : inputs)
        float64_tensors.push_back(is_floating(x.dtype()) ? ops::cast(x, DType::float64) : x);
      const Tensors got = gradients(c, inputs), expected = gradients(c, float64_tensors);
      for (size_t i = 0; i < got.size(); ++i) {
        REQUIRE(bool(got[i]) == bool(expected[i]));
        if (!got[i]) continue;
        CHECK(got[i].spec() == inputs[i].spec());
        CHECK(difference(got[i], expected[i]) <= 3 * tolerance_of(dtype) * c.tolerance);
      }
    }
  }
}

TEST_CASE("every dtype that is claimed") {
  for (const Case& c : all_cases()) {
    for (DType dtype : dtypes_of(c.dtypes)) {
      INFO(c.name << " in " << name_of(dtype));
      const Tensors inputs = draw(c, dtype);
      Tensors float64_tensors;
      for (const Tensor& x : inputs)
        float64_tensors.push_back(is_floating(x.dtype()) ? ops::cast(x, DType::float64) : x);
      const Tensors got = c.run(inputs), expected = c.run(float64_tensors);
      for (size_t i = 0; i < got.size(); ++i) {
        CHECK(difference(got[i], expected[i]) <= tolerance_of(got[i].dtype()) * c.tolerance);
      }
    }
  }
}

}  // namespace crescent::test
