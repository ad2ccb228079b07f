// Every case of layers.h5: outputs and gradients of one call, eager and compiled, and the weights
// after the call.
#include <catch2/catch.hpp>

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

  std::string path_of(const char* part) const { return name + "/" + part; }
};

CallOptions call_options(const Value& call_args) {
  CallOptions options;
  for (const auto& [key, value] : call_args.as_dict()) {
    if (key == "training")
      options.training = value.as_bool();
    else
      options.arguments.set(key, value);
  }
  return options;
}

/// Classes that are recorded but not implemented.
const std::set<std::string> kMissing = {};

/// The results of one call.
struct Results {
  Tensors outputs, grad_inputs, grad_weights;

  Tensors all() const {
    Tensors all = outputs;
    all.insert(all.end(), grad_inputs.begin(), grad_inputs.end());
    all.insert(all.end(), grad_weights.begin(), grad_weights.end());
    return all;
  }
  /// A copy of the results whose tensors are replaced by those of `all`, in the order of all().
  Results with_tensors(const Tensors& all) const {
    Results results = *this;
    auto next = all.begin();
    for (Tensors* part : {&results.outputs, &results.grad_inputs, &results.grad_weights})
      for (Tensor& tensor : *part) tensor = *next++;
    return results;
  }
};

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

/// Computes the outputs, and the gradients of sum(outputs . upstream) if the recording has them.
Results run(const Case& c, const Tensors& inputs) {
  Tensors watched_tensors;
  GradientTape tape;
  for (const Tensor& x : inputs)
    if (is_floating(x.dtype())) {
      tape.watch(x);
      watched_tensors.push_back(x);
    }
  const Tensors outputs = (*c.layer)(inputs, c.options);
  tape.stop();
  if (c.upstream.empty()) return {outputs, {}, {}};
  return {outputs, tape.gradient(outputs, watched_tensors, c.upstream),
          weight_gradients(tape, outputs, c)};
}

/// Compares every dataset of the group with a result, and requires equally many of both; returns 0
/// if the group is not recorded.
int compare(const Case& c, const Tensors& got, const char* part, const char* mode,
            Tolerance tolerance) {
  if (!c.file.has(c.path_of(part))) return 0;
  const Tensors wanted = c.file.tensors(c.path_of(part));
  INFO(c.name << ", " << mode << ", " << part);
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    INFO("number " << i);
    CHECK(difference(got[i], wanted[i], tolerance) == "");
  }
  return static_cast<int>(wanted.size());
}

/// Compares all results and returns the number of tensors compared.
int compare(const Case& c, const Results& results, const char* mode) {
  return compare(c, results.outputs, "outputs", mode, kValues) +
         compare(c, results.grad_inputs, "grad_inputs", mode, kGradients) +
         compare(c, results.grad_weights, "grad_weights", mode, kGradients) +
         compare(c, c.layer->get_weights(), "weights_after", mode, kValues);
}

/// Reads the inputs; a mask is attached to the first one.
void read_inputs(Case& c) {
  c.inputs = c.file.tensors(c.path_of("inputs"));
  c.upstream = c.file.tensors(c.path_of("upstream"));
  if (c.file.has(c.path_of("mask")))
    c.options.masks = {ops::cast(c.file.tensor(c.path_of("mask")), DType::boolean)};
}

void run_case(const Case& c) {
  std::vector<Shape> shapes;
  for (const Tensor& x : c.inputs) shapes.push_back(x.shape());
  c.layer->build_for(shapes);
  const Tensors weights = c.file.tensors(c.path_of("weights"));
  c.layer->set_weights(weights);
  const Results eager = run(c, c.inputs);
  if (compare(c, eager, "eager") == 0)
    FAIL_CHECK(c.name << ": the recording has nothing to compare");
  c.layer->set_weights(weights);
  const Function compiled([&c](const Tensors& inputs) { return run(c, inputs).all(); });
  compare(c, eager.with_tensors(compiled(c.inputs)), "compiled");
}

}  // namespace

TEST_CASE("layers give Keras' outputs and gradients, eager and compiled") {
  const std::string path = folder() + "/layers.h5";
  if (!is_there(path)) return;
  const Recording file(path);
  Tally tally(kMissing);
  for (const std::string& name : file.names("/")) {
    const std::string class_name = file.text(name, "class_name");
    INFO(name << " (" << class_name << ")");
    const std::string version = file.text_if_any(name, "keras_version").value_or("3");
    try {
      LayerPtr layer = layer_if_known(class_name, options_of(file, name), version);
      if (!layer) {
        tally.count_skipped(class_name);
        continue;
      }
      Case c{file,  name,
             layer, {},
             {},    call_options(parse_json(file.text_if_any(name, "call_args").value_or("{}")))};
      read_inputs(c);
      run_case(c);
      tally.count_compared();
    } catch (const Error& error) {
      FAIL_CHECK(name << ": " << error.what());
    }
  }
  tally.check();
}
