// Validation must find no fault in random models with all layers, dtypes, optimizers, losses and
// metrics: CRESCENT_MODELS of them, from seed CRESCENT_SEED on.
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>

#include "crescent/crescent.h"
#include "crescent/ops/random.h"
#include "layer/layer_rows.h"

using namespace crescent;

namespace {

constexpr uint64_t kDefaultModelCount = 60;

uint64_t number_in(const char* variable, uint64_t fallback) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : fallback;
}

class RandomModel {
 public:
  /// The layers' random numbers depend on the seed too, so that each model can be reproduced alone.
  explicit RandomModel(uint64_t seed) : seed_(seed), numbers_(static_cast<int64_t>(seed)) {
    set_random_seed(static_cast<int64_t>(seed));
  }

  /// Makes the model and its data; even if this fails, text() describes the model.
  void make_model() {
    const auto rows = layer_rows();
    const LayerRow row = rows[choose(rows.size())];
    static const std::vector<std::string> kPolicies = {
        "float32", "float32", "float64", "float16", "bfloat16", "mixed_bfloat16", "mixed_float16"};
    policy_ = pick(kPolicies);
    batch_ = static_cast<int64_t>(1 + choose(choose(4) == 0 ? 70 : 9));
    text_ = concat("seed ", seed_, ": ", row.name, " ", to_text(Value(row.options)), " in ",
                   policy_, ", batch ", batch_);
    std::vector<Symbol> inputs, branch_ends;
    for (const Shape& shape : row.inputs) {
      InputOptions options;
      options.shape = shape.slice(1, shape.rank());
      options.dtype = row.dtype;
      inputs.push_back(Input(options));
      Shape batch_shape = shape;
      batch_shape.set(0, batch_);
      x.push_back(values(batch_shape, row));
    }
    std::vector<Symbol> activated_inputs;
    for (const Symbol& input : inputs) activated_inputs.push_back(random_activation(input, row));
    Dict options = row.options;
    if (!options.contains("dtype")) options.set("dtype", policy_);
    for (const Symbol& out : (*make<Layer>(row.name, options))(activated_inputs))
      if (is_floating(out.dtype()) && out.shape().rank() > 1)
        branch_ends.push_back(add_random_layers(out));
    if (branch_ends.empty()) {
      model = Functional::make(inputs, (*make<Layer>(row.name, options))(activated_inputs));
      return;
    }
    Symbol end = branch_ends.size() > 1 ? (*make<Layer>("Concatenate"))(branch_ends).front()
                                        : branch_ends.front();
    model = Functional::make(inputs, {head(end)});
    compile();
  }

  const std::string& text() const { return text_; }
  std::shared_ptr<Functional> model;
  Tensors x, y;

 private:
  size_t choose(size_t n) { return philox(seed_, 7, draw_count_++).word[0] % n; }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[choose(list.size())];
  }
  bool likely() { return choose(3) > 0; }

  Tensor values(const Shape& shape, const LayerRow& row) const {
    return ops::cast(numbers_.uniform(shape, row.low, row.high), row.dtype);
  }

  Symbol call(const char* name, Dict options, const Symbol& x) {
    options.set("dtype", policy_);
    text_ += concat(", ", name);
    return (*make<Layer>(name, options))(x);
  }

  /// Returns the symbol, or a random activation of it that keeps the range of the inputs.
  Symbol random_activation(const Symbol& x, const LayerRow& row) {
    if (row.dtype != DType::float32 || row.low != -1 || row.high != 1 || likely()) return x;
    return call("Activation", {{"activation", pick<std::string>({"tanh", "softsign", "sigmoid"})}},
                x);
  }

  Symbol add_random_layers(Symbol out) {
    if (out.shape().rank() == 4 && choose(2) == 0 && out.shape()[1] > 2 && out.shape()[2] > 2)
      out = call("Conv2D",
                 {{"filters", 3},
                  {"kernel_size", 3},
                  {"padding", "same"},
                  {"activation", pick<std::string>({"relu", "elu", "linear"})}},
                 out);
    if (out.shape().rank() > 2 && choose(3) == 0) out = call("LayerNormalization", {}, out);
    if (choose(4) == 0) out = call("BatchNormalization", {}, out);
    if (out.shape().rank() > 2) {
      const bool is_known = out.shape().slice(1, out.shape().rank()).is_known();
      out = is_known && likely()      ? call("Flatten", {}, out)
            : out.shape().rank() == 3 ? call("GlobalAveragePooling1D", {}, out)
            : out.shape().rank() == 4 ? call("GlobalMaxPooling2D", {}, out)
                                      : call("Flatten", {}, out);
    }
    if (choose(3) == 0) out = call("Dropout", {{"rate", 0.3}}, out);
    for (size_t i = choose(3); i > 0; --i)
      out = call("Dense",
                 {{"units", static_cast<int64_t>(1 + choose(choose(4) == 0 ? 80 : 12))},
                  {"activation", pick<std::string>({"relu", "tanh", "gelu", "selu", "softplus",
                                                    "silu", "leaky_relu", "relu6"})}},
                 out);
    return out;
  }

  struct Head {
    const char *loss, *activation;
    int64_t units;
    enum { numbers, zero_one, one_hot, classes } targets;
    std::vector<std::string> metrics;
  };

  Symbol head(const Symbol& x) {
    static const std::vector<Head> kHeads = {
        {"mse", "linear", 2, Head::numbers, {"mae", "root_mean_squared_error"}},
        {"mae", "linear", 1, Head::numbers, {"mse", "cosine_similarity"}},
        {"huber", "linear", 3, Head::numbers, {"r2_score", "log_cosh"}},
        {"log_cosh", "tanh", 2, Head::numbers, {"mape"}},
        {"mean_squared_logarithmic_error", "softplus", 2, Head::zero_one, {"msle"}},
        {"poisson", "softplus", 2, Head::zero_one, {"poisson"}},
        {"kl_divergence", "softmax", 4, Head::one_hot, {"kl_divergence"}},
        {"cosine_similarity", "linear", 4, Head::numbers, {"mse"}},
        {"hinge", "tanh", 2, Head::zero_one, {"hinge"}},
        {"squared_hinge", "tanh", 2, Head::zero_one, {"squared_hinge"}},
        {"categorical_hinge", "linear", 3, Head::one_hot, {"categorical_hinge"}},
        {"binary_crossentropy", "sigmoid", 2, Head::zero_one, {"accuracy", "AUC", "Precision"}},
        {"binary_focal_crossentropy", "sigmoid", 1, Head::zero_one, {"Recall", "FalsePositives"}},
        {"categorical_crossentropy", "softmax", 5, Head::one_hot, {"accuracy", "F1Score"}},
        {"categorical_focal_crossentropy",
         "softmax",
         3,
         Head::one_hot,
         {"top_k_categorical_accuracy"}},
        {"sparse_categorical_crossentropy",
         "softmax",
         6,
         Head::classes,
         {"accuracy", "sparse_top_k_categorical_accuracy"}},
        {"dice", "sigmoid", 2, Head::zero_one, {"mse"}},
        {"tversky", "sigmoid", 2, Head::zero_one, {"mse"}},
    };
    head_ = pick(kHeads);
    const Symbol out = call("Dense", {{"units", head_.units}, {"activation", head_.activation}}, x);
    return out;
  }

  void make_targets() {
    const Shape shape{batch_, head_.units};
    const Tensor unit = numbers_.uniform(shape);
    switch (head_.targets) {
      case Head::numbers:
        y = {unit * 2.0 - 1.0};
        break;
      case Head::zero_one:
        y = {ops::cast(ops::greater(unit, 0.5), DType::float32)};
        break;
      case Head::one_hot:
        y = {ops::one_hot(ops::argmax(unit, 1), head_.units)};
        break;
      case Head::classes:
        y = {ops::argmax(unit, 1)};
        break;
    }
  }

  void compile() {
    make_targets();
    static const std::vector<std::string> kOptimizers = {
        "SGD",   "Adam", "AdamW", "RMSprop",   "Adagrad", "Adadelta", "Adamax",
        "Nadam", "Ftrl", "Lion",  "Adafactor", "Lamb",    "Muon",     "ScheduleFreeAdamW"};
    const std::string name = pick(kOptimizers);
    Dict options{{"learning_rate", 0.01}};
    if (name == "SGD" && likely())
      options.set("momentum", 0.9), options.set("nesterov", choose(2) == 0);
    if (choose(5) == 0)
      options.set("clipnorm", 0.5);
    else if (choose(6) == 0)
      options.set("global_clipnorm", 0.5);
    if (choose(6) == 0) options.set("weight_decay", 0.01);
    if (choose(6) == 0) options.set("use_ema", true);
    if (choose(8) == 0) options.set("gradient_accumulation_steps", 2);
    Value optimizer = Dict{{"class_name", name}, {"config", options}};
    const std::string metric = pick(head_.metrics);
    text_ += concat("; ", to_text(optimizer), ", ", head_.loss, ", ", metric);
    model->compile({{"optimizer", optimizer}, {"loss", head_.loss}, {"metrics", List{metric}}});
  }

  uint64_t seed_, draw_count_ = 0;
  SeedGenerator numbers_;
  std::string policy_, text_;
  int64_t batch_ = 1;
  Head head_{};
};

struct Totals {
  uint64_t model_count = 0, refused_count = 0, wrong_count = 0;
  int64_t elements = 0, undecided = 0;
  double tightness = 0;
};

void validate(uint64_t seed, Totals& totals) {
  RandomModel random(seed);
  try {
    random.make_model();
  } catch (const Error& error) {
    ++totals.refused_count;
    if (std::getenv("CRESCENT_TOLD")) std::printf("%s: %s\n", random.text().c_str(), error.what());
    return;
  }
  try {
    if (!random.y.empty() && seed % 3 == 0) random.model->train_on_batch(random.x, random.y);
    const Validation report = random.model->validate(random.x, random.y, {{"batch_size", 1000}});
    ++totals.model_count;
    totals.elements += report.elements, totals.undecided += report.undecided;
    totals.tightness += report.tightness;
    if (!report.ok()) ++totals.wrong_count;
    if (!report.ok()) FAIL_CHECK(random.text() << "\n" << join(report.lines, "\n"));
  } catch (const Error& error) {
    ++totals.refused_count;
    if (std::getenv("CRESCENT_TOLD")) std::printf("%s: %s\n", random.text().c_str(), error.what());
  }
}

}  // namespace

TEST_CASE("random models have nothing to find") {
  const uint64_t count = number_in("CRESCENT_MODELS", kDefaultModelCount),
                 first_seed = number_in("CRESCENT_SEED", 1);
  Totals totals;
  for (uint64_t seed = first_seed; seed < first_seed + count; ++seed) validate(seed, totals);
  std::printf(
      "%llu models, %llu wrong, %llu refused; %.3f %% of %lld elements undecided, "
      "errors at %.2g of bounds\n",
      static_cast<unsigned long long>(totals.model_count),
      static_cast<unsigned long long>(totals.wrong_count),
      static_cast<unsigned long long>(totals.refused_count),
      100 * static_cast<double>(totals.undecided) / static_cast<double>(totals.elements),
      static_cast<long long>(totals.elements),
      totals.tightness / static_cast<double>(totals.model_count));
  CHECK(totals.refused_count * 10 <= count);
}
