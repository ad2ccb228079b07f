// Every case of training.h5: losses with their reductions and gradients, metrics over three
// updates, twelve steps of each optimizer, regularizers and constraints.
#include <catch2/catch.hpp>

#include "golden/recorded.h"

using namespace crescent;
using namespace crescent::golden;

namespace {

struct Case {
  const Recording& file;
  std::string case_path;
  std::string class_name;
  Dict config;
  int check_count = 0;

  Tensor tensor(const std::string& name) const { return file.tensor(case_path + "/" + name); }
  Tensor tensor_if_any(const std::string& name) const {
    return file.has(case_path + "/" + name) ? tensor(name) : Tensor();
  }
  /// Compares a result with the recorded one, if there is one.
  void check(const Tensor& got, const std::string& name, Tolerance tolerance = kValues) {
    INFO(case_path << "/" << name);
    if (!file.has(case_path + "/" + name)) return;
    ++check_count;
    CHECK(difference(got, tensor(name), tolerance) == "");
  }
};

template <class T>
std::shared_ptr<T> make_recorded(Case& c, Dict config) {
  return get<T>(Dict{{"class_name", c.class_name}, {"config", std::move(config)}});
}

void check_loss(Case& c) {
  const Tensor truth = c.tensor("y_true"), prediction = c.tensor("y_pred"),
               weight = c.tensor_if_any("sample_weight");
  for (const char* reduction : {"sum_over_batch_size", "sum", "none"}) {
    Dict config = c.config;
    config.set("reduction", reduction);
    const auto loss = make_recorded<Loss>(c, config);
    c.check((*loss)(truth, prediction), reduction);
    if (weight) c.check((*loss)(truth, prediction, weight), std::string(reduction) + "_weighted");
  }
  const auto loss = make_recorded<Loss>(c, c.config);
  if (c.file.has(c.case_path + "/grad")) {
    GradientTape tape;
    tape.watch(prediction);
    const Tensor value = (*loss)(truth, prediction);
    c.check(tape.gradient(value, std::span<const Tensor>(&prediction, 1))[0], "grad", kGradients);
  }
  const Function compiled([&](const Tensors& x) { return Tensors{(*loss)(x[0], x[1])}; });
  c.check(compiled({truth, prediction})[0], "sum_over_batch_size");
}

void check_metric(Case& c) {
  const auto metric = make_recorded<Metric>(c, c.config);
  for (const std::string& update : c.file.names(c.case_path)) {
    metric->update_state(c.tensor(update + "/y_true"), c.tensor(update + "/y_pred"),
                         c.tensor_if_any(update + "/sample_weight"));
    c.check(metric->result(), update + "/result");
  }
}

void check_steps(Case& c, bool is_compiled) {
  const auto optimizer = make_recorded<Optimizer>(c, c.config);
  Variables weights;
  for (const Tensor& initial : c.file.tensors(c.case_path + "/w0"))
    weights.push_back(Variable(initial));
  optimizer->build(weights);
  const Function apply([&](const Tensors& gradients) {
    optimizer->apply(gradients, weights);
    return Tensors{};
  });
  for (const std::string& step : c.file.names(c.case_path)) {
    if (!step.starts_with("step")) continue;
    const Tensors gradients = c.file.tensors(c.case_path + "/" + step + "/grad");
    if (is_compiled)
      apply(gradients);
    else
      optimizer->apply(gradients, weights);
    for (size_t i = 0; i < weights.size(); ++i) c.check(weights[i].value(), concat(step, "/w/", i));
  }
}

void check_optimizer(Case& c) {
  check_steps(c, false);
  check_steps(c, true);
}

template <class T>
void check_function(Case& c) {
  c.check((*make_recorded<T>(c, c.config))(c.tensor("x")), "value");
}

/// Classes that are recorded but not implemented.
const std::set<std::string> kMissing = {};

struct GoldenGroup {
  const char *name, *kind;
  void (*check)(Case&);
};
const GoldenGroup kGroups[] = {
    {"losses", "loss", check_loss},
    {"metrics", "metric", check_metric},
    {"optimizers", "optimizer", check_optimizer},
    {"regularizers", "regularizer", check_function<Regularizer>},
    {"constraints", "constraint", check_function<Constraint>},
};

}  // namespace

TEST_CASE("losses, metrics, optimizers, regularizers and constraints give Keras' numbers") {
  const std::string path = folder() + "/training.h5";
  if (!is_there(path)) return;
  const Recording file(path);
  Tally tally(kMissing);
  for (const GoldenGroup& group : kGroups)
    for (const std::string& name : file.names(group.name)) {
      Case c{file, std::string(group.name) + "/" + name, {}, {}};
      c.class_name = file.text(c.case_path, "class_name");
      c.config = options_of(file, c.case_path);
      if (!is_registered(group.kind, c.class_name)) {
        tally.count_skipped(c.class_name);
        continue;
      }
      try {
        group.check(c);
        if (c.check_count == 0) FAIL_CHECK(c.case_path << ": the recording has nothing to compare");
        tally.count_compared();
      } catch (const Error& error) {
        FAIL_CHECK(c.case_path << ": " << error.what());
      }
    }
  tally.check();
}
