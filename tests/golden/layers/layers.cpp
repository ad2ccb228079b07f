// Every case of layers.h5: outputs and gradients of one call, eager and compiled, and the weights after it.
#include <catch2/catch.hpp>
#include <filesystem>

#include "golden/recorded.h"

using namespace crescent;
using namespace crescent::golden;

namespace {

struct Case {
  const Recording& file;
  std::string name;
  LayerPtr layer;
  Tensors inputs, upstream;
  CallOptions options;

  std::string place(const char* part) const { return name + "/" + part; }
};

CallOptions options_of(const Value& call_args) {
  CallOptions options;
  for (const auto& [key, value] : call_args.as_dict()) {
    if (key == "training") options.training = value.as_bool();
    else options.arguments.set(key, value);
  }
  return options;
}

Tensors weight_gradients(GradientTape& tape, const Tensors& outputs, const Case& c) {
  Tensors sums;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensors g = tape.gradient(outputs[i], c.layer->trainable_weights(), c.upstream[i]);
    sums.resize(g.size());
    for (size_t k = 0; k < g.size(); ++k)
      if (g[k]) sums[k] = sums[k] ? sums[k] + g[k] : g[k];
  }
  return sums;
}

/// Outputs, then gradients of sum(outputs . upstream) where the recording has them.
Tensors run(const Case& c, const Tensors& inputs) {
  Tensors watched;
  GradientTape tape;
  for (const Tensor& x : inputs)
    if (is_floating(x.dtype())) {
      tape.watch(x);
      watched.push_back(x);
    }
  const Tensors outputs = (*c.layer)(inputs, c.options);
  tape.stop();
  Tensors all = outputs;
  if (c.upstream.empty()) return all;
  for (const Tensor& g : tape.gradient(outputs, watched, c.upstream)) all.push_back(g);
  for (const Tensor& g : weight_gradients(tape, outputs, c)) all.push_back(g);
  return all;
}

void compare(const Case& c, const Tensors& results, const char* mode) {
  const Tensors outputs = c.file.tensors(c.place("outputs"));
  const Tensors grad_inputs = c.file.tensors(c.place("grad_inputs")), grad_weights = c.file.tensors(c.place("grad_weights"));
  size_t next = 0;
  auto check = [&](const Tensors& wanted, const char* part, Tolerance tolerance) {
    for (size_t i = 0; i < wanted.size(); ++i, ++next) {
      INFO(c.name << ", " << mode << ", " << part << "/" << i);
      REQUIRE(next < results.size());
      CHECK(difference(results[next], wanted[i], tolerance) == "");
    }
  };
  check(outputs, "outputs", kValues);
  if (c.upstream.empty()) return;
  check(grad_inputs, "grad_inputs", kGradients);
  check(grad_weights, "grad_weights", kGradients);
}

void compare_state(const Case& c, const char* mode) {
  if (!c.file.has(c.place("weights_after"))) return;
  const Tensors wanted = c.file.tensors(c.place("weights_after")), got = c.layer->get_weights();
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    INFO(c.name << ", " << mode << ", weights_after/" << i);
    CHECK(difference(got[i], wanted[i], kValues) == "");
  }
}

/// Masks ride on the first input.
void read_inputs(Case& c) {
  c.inputs = c.file.tensors(c.place("inputs"));
  c.upstream = c.file.tensors(c.place("upstream"));
  if (c.file.has(c.place("mask"))) c.options.masks = {ops::cast(c.file.tensor(c.place("mask")), DType::boolean)};
}

void run_case(const Case& c) {
  std::vector<Shape> shapes;
  for (const Tensor& x : c.inputs) shapes.push_back(x.shape());
  c.layer->build_for(shapes);
  const Tensors weights = c.file.tensors(c.place("weights"));
  c.layer->set_weights(weights);
  compare(c, run(c, c.inputs), "eager");
  compare_state(c, "eager");
  c.layer->set_weights(weights);
  const Function compiled([&c](const Tensors& inputs) { return run(c, inputs); });
  compare(c, compiled(c.inputs), "compiled");
  compare_state(c, "compiled");
}

}  // namespace

TEST_CASE("layers give Keras' outputs and gradients, eager and compiled") {
  const std::string path = folder() + "/layers.h5";
  if (!std::filesystem::exists(path)) {
    WARN("no layers.h5 in this set");
    return;
  }
  const Recording file(path);
  Tally tally;
  for (const std::string& name : file.names("/")) {
    const std::string class_name = file.text(name, "class_name");
    INFO(name << " (" << class_name << ")");
    const std::string version = file.text_if_any(name, "keras_version").value_or("3");
    try {
      LayerPtr layer = layer_if_known(class_name, file.json(name, "config"), version);
      if (!layer) {
        tally.skipped(class_name);
        continue;
      }
      Case c{file, name, layer, {}, {}, options_of(parse_json(file.text_if_any(name, "call_args").value_or("{}")))};
      read_inputs(c);
      run_case(c);
      tally.compared();
    } catch (const Error& error) {
      FAIL_CHECK(name << ": " << error.what());
    }
  }
}
