// Models are trained, inspected, saved and loaded on the device.
#include <unistd.h>
#include <cstdio>
#include <filesystem>

#include "crescent/io/format.h"
#include "support.h"

namespace crescent::test {
namespace {

std::shared_ptr<Sequential> sequential(const std::vector<std::pair<std::string, Dict>>& layers) {
  auto model = std::make_shared<Sequential>();
  for (const auto& [name, options] : layers) model->add(make<Layer>(name, options));
  return model;
}

struct Example {
  std::string name;
  std::vector<std::pair<std::string, Dict>> layers;
  Shape input;
};

const std::vector<Example>& examples() {
  static const std::vector<Example> all{
      {"dense",
       {{"Dense", {{"units", 8}, {"activation", "relu"}}},
        {"Dense", {{"units", 3}, {"activation", "softmax"}}}},
       {4}},
      {"convolution",
       {{"Conv2D", {{"filters", 4}, {"kernel_size", 3}, {"activation", "relu"}}},
        {"MaxPooling2D", Dict{}},
        {"Flatten", Dict{}},
        {"Dense", {{"units", 3}, {"activation", "softmax"}}}},
       {8, 8, 2}},
      {"lstm",
       {{"LSTM", {{"units", 5}}}, {"Dense", {{"units", 3}, {"activation", "softmax"}}}},
       {6, 3}},
      {"batch norm",
       {{"Dense", {{"units", 8}}},
        {"BatchNormalization", Dict{}},
        {"Dense", {{"units", 3}, {"activation", "softmax"}}}},
       {4}}};
  return all;
}

struct Data {
  Tensor x, y;
};

Data data_for(const Example& example, int64_t samples) {
  std::vector<int32_t> labels(static_cast<size_t>(samples));
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int32_t>((i * i + i / 3) % 3);
  return {numbers(Shape{samples}.concat(example.input), 1), Tensor::from(labels, {samples})};
}

void compile(Model& model, const char* optimizer = "adam") {
  model.compile({{"optimizer", optimizer},
                 {"loss", "sparse_categorical_crossentropy"},
                 {"metrics", List{"accuracy"}}});
}

/// Counts the transfers between host and device in the steps after the first epoch.
class TransferCounter final : public Callback {
 public:
  void on_epoch_begin(int64_t epoch, const Logs&) override { epoch_ = epoch; }
  void on_train_batch_begin(int64_t, const Logs&) override {
    uploads_before_ = reported_number("uploads"), bytes_before_ = reported_number("uploaded_bytes"),
    downloads_before_ = reported_number("downloads");
  }
  void on_train_batch_end(int64_t, const Logs&) override {
    if (epoch_ == 0) return;
    ++steps;
    uploads += reported_number("uploads") - uploads_before_;
    bytes += reported_number("uploaded_bytes") - bytes_before_;
    downloads += reported_number("downloads") - downloads_before_;
  }
  int64_t steps = 0, uploads = 0, bytes = 0, downloads = 0;

 private:
  int64_t epoch_ = 0, uploads_before_ = 0, bytes_before_ = 0, downloads_before_ = 0;
};

}  // namespace

TEST_CASE("training: fit, evaluate and predict as on the cpu") {
  for (const Example& example : examples()) {
    for (const char* optimizer : {"sgd", "adam", "rmsprop"}) {
      DYNAMIC_SECTION(example.name << " with " << optimizer) {
        const auto [x, y] = data_for(example, 20);
        auto run = [&] {
          set_random_seed(5);
          auto model = sequential(example.layers);
          compile(*model, optimizer);
          auto history = model->fit({x}, {y}, {{"epochs", 3}, {"batch_size", 8}, {"verbose", 0}});
          const NamedValues results = model->evaluate({x}, {y}, {{"verbose", 0}});
          const Tensor predicted = model->predict({x}, {{"batch_size", 7}})[0];
          return std::pair(results, predicted);
        };
        const auto expected = on_cpu(run), got = run();
        CHECK(difference(got.second, expected.second) < 2e-4);
        REQUIRE(got.first.size() == expected.first.size());
        for (size_t i = 0; i < got.first.size(); ++i) {
          CHECK(got.first[i].first == expected.first[i].first);
          CHECK(got.first[i].second == Approx(expected.first[i].second).epsilon(1e-3).margin(0.06));
        }
      }
    }
  }
}

TEST_CASE("training: a step brings its batch and takes nothing back") {
  if (reported_number("downloads") < 0) return;
  for (const Example& example : examples()) {
    for (const bool shuffle : {true, false}) {
      DYNAMIC_SECTION(example.name << (shuffle ? " shuffled" : "")) {
        const auto [x, y] = data_for(example, 24);
        auto model = sequential(example.layers);
        compile(*model);
        auto counter = std::make_shared<TransferCounter>();
        model->fit({x}, {y},
                   {{"epochs", 3},
                    {"batch_size", 8},
                    {"verbose", 0},
                    {"shuffle", shuffle},
                    {"callbacks", counter}});
        CHECK(counter->steps == 6);
        CHECK(counter->downloads == 0);
        CHECK(counter->uploads == 6 * 2);
        CHECK(counter->bytes == static_cast<int64_t>(2 * (x.bytes() + y.bytes())));
      }
    }
  }
}

TEST_CASE("training: data that is there already stays there") {
  if (reported_number("downloads") < 0) return;
  const Example& example = examples()[0];
  const auto [x, y] = data_for(example, 24);
  auto model = sequential(example.layers);
  compile(*model);
  auto counter = std::make_shared<TransferCounter>();
  model->fit({on_device(x)}, {on_device(y)},
             {{"epochs", 3},
              {"batch_size", 8},
              {"verbose", 0},
              {"shuffle", false},
              {"callbacks", counter}});
  CHECK(counter->steps == 6);
  CHECK(counter->downloads == 0);
  CHECK(counter->uploads == 0);
}

TEST_CASE("training: shuffled data on the device is what it is on the host") {
  const Example& example = examples()[0];
  const auto [x, y] = data_for(example, 22);
  auto trained_weights = [&](const Tensor& inputs, const Tensor& targets) {
    set_random_seed(5);
    auto model = sequential(example.layers);
    compile(*model);
    model->fit({inputs}, {targets}, {{"epochs", 2}, {"batch_size", 8}, {"verbose", 0}});
    return model->predict({x}, {})[0];
  };
  CHECK(difference(trained_weights(on_device(x), on_device(y)), trained_weights(x, y)) < 1e-6);
}

TEST_CASE("training: weights, slots and metrics live on the device") {
  const Example& example = examples()[0];
  const auto [x, y] = data_for(example, 16);
  auto model = sequential(example.layers);
  compile(*model);
  model->fit({x}, {y}, {{"batch_size", 8}, {"verbose", 0}});
  for (const Variable& v : model->weights())
    CHECK(v.value().storage()->memory() == device().memory());
  for (const Variable& v : model->optimizer()->state())
    CHECK(v.value().storage()->memory() == device().memory());
}

TEST_CASE("training: class weights, sample weights, validation") {
  const Example& example = examples()[0];
  const auto [x, y] = data_for(example, 20);
  const Tensor weights = numbers({20}, 4);
  auto run = [&] {
    set_random_seed(5);
    auto model = sequential(example.layers);
    compile(*model);
    model->fit({x}, {y},
               {{"epochs", 2},
                {"batch_size", 6},
                {"verbose", 0},
                {"validation_split", 0.2},
                {"class_weight", Dict{{"0", 1.0}, {"1", 2.0}, {"2", 0.5}}},
                {"sample_weight", std::make_shared<BoxedTensor>(ops::square(weights))}});
    return model->predict({x}, {})[0];
  };
  CHECK(difference(run(), on_cpu(run)) < 1e-4);
}

TEST_CASE("training: saved here, loaded here and on the cpu") {
  const std::string path =
      (std::filesystem::temp_directory_path() / concat("device_", getpid(), ".h5")).string();
  for (const Example& example : examples()) {
    DYNAMIC_SECTION(example.name) {
      const auto [x, y] = data_for(example, 16);
      auto model = sequential(example.layers);
      compile(*model);
      const Dict options{{"batch_size", 8}, {"verbose", 0}, {"shuffle", false}};
      model->fit({x}, {y}, options);
      save_model(*model, path);
      const Tensor expected = model->predict({x}, {})[0];
      CHECK(load_model(path)->predict({x}, {})[0].to_vector() == expected.to_vector());
      const Tensor on_cpu_result = on_cpu([&] { return load_model(path)->predict({x}, {})[0]; });
      CHECK(difference(on_cpu_result, expected) < 3e-6);
      auto loaded_model = load_model(path);
      loaded_model->fit({x}, {y}, options);
      model->fit({x}, {y}, options);
      CHECK(loaded_model->predict({x}, {})[0].to_vector() ==
            model->predict({x}, {})[0].to_vector());
      std::remove(path.c_str());
    }
  }
}

TEST_CASE("training: weights go out and in") {
  const Example& example = examples()[0];
  const auto [x, y] = data_for(example, 8);
  auto a = sequential(example.layers), b = sequential(example.layers);
  const Tensor expected = a->predict({x}, {})[0];
  b->predict({x}, {});
  b->set_weights(a->get_weights());
  CHECK(b->predict({x}, {})[0].to_vector() == expected.to_vector());
}

TEST_CASE("training: a label that is not there is named and changes no weight") {
  const Example& example = examples()[0];
  auto [x, y] = data_for(example, 8);
  auto model = sequential(example.layers);
  compile(*model);
  model->fit({x}, {y}, {{"batch_size", 8}, {"verbose", 0}});
  const Tensors weights_before = model->get_weights();
  y.mutable_data<int32_t>()[5] = 3;
  CHECK_THROWS_WITH(model->train_on_batch({x}, {y}), Catch::Contains("out of range"));
  const Tensors weights_after = model->get_weights();
  for (size_t i = 0; i < weights_before.size(); ++i)
    CHECK(weights_before[i].to_vector() == weights_after[i].to_vector());
}

TEST_CASE("training: ten classes of 784 features, around a centre each") {
  const SeedGenerator random(7);
  const Tensor labels = ops::cast(random.uniform({1500}, 0, 10), DType::int32);
  const Tensor x =
      ops::take(random.normal({10, 784}), labels, 0) + random.normal({1500, 784}) * 2.0;
  set_random_seed(1);
  auto model = sequential({{"Dense", {{"units", 32}, {"activation", "relu"}}},
                           {"Dense", {{"units", 10}, {"activation", "softmax"}}}});
  compile(*model);
  model->fit({x.view_rows(0, 1200)}, {labels.view_rows(0, 1200)},
             {{"epochs", 5}, {"batch_size", 32}, {"verbose", 0}});
  const NamedValues results =
      model->evaluate({x.view_rows(1200, 300)}, {labels.view_rows(1200, 300)}, {{"verbose", 0}});
  CHECK(results[1].first == "accuracy");
  CHECK(results[1].second > 0.8);
}

}  // namespace crescent::test
