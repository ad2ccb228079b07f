// How fit, evaluate and predict iterate over data: the end of the data, steps, generators, order.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>
#include <utility>

#include "small_model.h"

using namespace crescent;
using namespace crescent::small;
using Catch::Contains;

TEST_CASE("data that gives nothing is no training") {
  const Tensor x = data(4), y = targets(x);
  auto model = small_model();
  model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  auto batches = [&](int64_t count) {
    return generator_dataset([&, remaining = count](Batch& batch) mutable {
      return batch = {{x}, {y}, {}}, remaining-- > 0;
    });
  };
  auto recorder = std::make_shared<Recorder>();
  const Dict fit_options{{"verbose", 0}, {"epochs", 5}, {"callbacks", recorder}};
  CHECK_THROWS_WITH(model->fit(batches(0), fit_options), "fit: the data gave no batch");
  CHECK_THROWS_WITH(model->fit(batches(2), fit_options, batches(0)),
                    "evaluate: the data gave no batch");
  CHECK_THROWS_WITH(model->fit(batches(0), {{"verbose", 0}, {"steps_per_epoch", 2}}),
                    "fit: the data gave no batch");
  CHECK_THROWS_WITH(model->evaluate(batches(0), {{"verbose", 0}}),
                    "evaluate: the data gave no batch");
  CHECK_THROWS_WITH(model->predict(batches(0)), "predict: the data gave no batch");
  CHECK(model->epochs_trained() == 0);
  CHECK(model->fit(batches(3), fit_options)->epoch() ==
        std::vector<int64_t>{0});  // the generator is used up in the first epoch
  CHECK(model->fit(batches(3), {{"verbose", 0}, {"epochs", 5}, {"steps_per_epoch", 2}})->epoch() ==
        std::vector<int64_t>{0, 1});
  CHECK(model->epochs_trained() == 3);
  const Batch empty_batch{{Tensor({0, 3}, DType::float32)}, {Tensor({0, 1}, DType::float32)}, {}};
  auto empty_batches = generator_dataset(
      [&, remaining = 1](Batch& batch) mutable { return batch = empty_batch, remaining-- > 0; });
  CHECK_THROWS_WITH(model->fit(empty_batches, {{"verbose", 0}}),
                    Contains("a batch without samples"));
}

namespace {

/// A dataset that announces a number of samples, but returns batches of the given sizes.
class AnnouncedDataset final : public Dataset {
 public:
  AnnouncedDataset(int64_t samples, std::vector<Tensor> batches)
      : samples_(samples), batches_(std::move(batches)) {}
  int64_t samples() const override { return samples_; }
  void begin_epoch() override { next_batch_ = 0; }
  bool next(Batch& batch) override {
    if (next_batch_ == batches_.size()) return false;
    batch = {{batches_[next_batch_++]}, {}, {}};
    return true;
  }

 private:
  int64_t samples_;
  std::vector<Tensor> batches_;
  size_t next_batch_ = 0;
};

/// A model that returns its input, of any width.
class IdentityModel final : public Model {
 public:
  Tensors call(const Tensors& inputs, const Call&) override { return {inputs.front() * 1.0}; }
};

}  // namespace

TEST_CASE("predict gives what the data promised, or fails") {
  auto model = std::make_shared<IdentityModel>();
  auto predict = [&](int64_t samples, std::vector<Tensor> batches) {
    return model->predict(std::make_shared<AnnouncedDataset>(samples, std::move(batches)))
        .front()
        .shape();
  };
  CHECK(predict(8, {data(4), data(4)}) == Shape{8, 3});
  CHECK_THROWS_WITH(predict(9, {data(4), data(4)}), Contains("gave 8 of the 9 samples"));
  CHECK_THROWS_WITH(predict(7, {data(4), data(4)}), Contains("more than the 7 samples"));
  CHECK_THROWS_WITH(predict(8, {data(4), data(4, 5)}),
                    Contains("expected an output of shape (4, 3) like those before, got (4, 5)"));
}

TEST_CASE("an epoch ends after its steps or with the data; generators give batches") {
  const Tensor x = data(8), y = targets(x);
  auto model = small_model();
  model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  set_warning_handler([](std::string_view) {});
  auto batches_of_epochs = [&](DatasetPtr dataset, int64_t steps, int64_t epochs) {
    auto recorder = std::make_shared<Recorder>();
    const Dict options{
        {"steps_per_epoch", steps}, {"epochs", epochs}, {"verbose", 0}, {"callbacks", recorder}};
    model->fit(std::move(dataset), options);
    std::vector<int> batch_counts;
    std::istringstream hook_names(recorder->text);
    for (std::string word; hook_names >> word;) {
      if (word == "epoch_begin") batch_counts.push_back(0);
      if (word == "batch") ++batch_counts.back();
    }
    return batch_counts;
  };
  using Counts = std::vector<int>;
  auto four_batches = [&] {
    return array_dataset({x}, {y}, {}, {.batch_size = 2});
  };  // 4 batches each
  CHECK(batches_of_epochs(four_batches(), 5, 3) == Counts{4, 4, 4});
  CHECK(batches_of_epochs(four_batches(), 3, 4) == Counts{3, 1, 3, 1});
  CHECK(batches_of_epochs(four_batches(), 2, 3) == Counts{2, 2, 2});
  auto unsized_dataset = [&] {  // two batches per epoch; their number is not declared
    return generator_dataset([&, at = 0](Batch& batch) mutable {
      return batch = {{x}, {y}, {}}, at++ % 3 != 2;
    });
  };
  CHECK(batches_of_epochs(unsized_dataset(), 3, 2) == Counts{2, 2});
  CHECK(batches_of_epochs(unsized_dataset(), 1, 3) == Counts{1, 1, 1});
  set_warning_handler(nullptr);
  int64_t batch_count = 0;
  auto source = generator_dataset([&](Batch& batch) {
    if (batch_count++ % 4 == 3) return false;
    batch = {{x}, {y}, {}};
    return true;
  });
  auto history = model->fit(source, {{"epochs", 2}, {"verbose", 0}});
  CHECK(history->epoch().size() == 2);
  CHECK(batch_count == 8);
  CHECK(model->predict(prefetch(array_dataset({x}, {}, {}, {.batch_size = 3}))).front().shape() ==
        Shape{8, 1});
}

TEST_CASE("evaluate and predict end with the data") {
  const Tensor x = data(8), y = targets(x);
  auto model = small_model();
  model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  set_warning_handler([](std::string_view) {});
  CHECK(model->predict({x}, {{"batch_size", 4}, {"steps", 1}}).front().shape() == Shape{4, 1});
  CHECK(model->predict({x}, {{"batch_size", 4}, {"steps", 5}}).front().shape() == Shape{8, 1});
  CHECK(
      model->evaluate({x}, {y}, {{"batch_size", 4}, {"steps", 5}, {"verbose", 0}}).front().second ==
      Approx(model->evaluate({x}, {y}, {{"verbose", 0}}).front().second));
  set_warning_handler(nullptr);
}

namespace {

/// A model with two outputs: the rows of the batch repeated twice, and its first row repeated
/// twice. If `has_scalar` is true, its only output is the sum of the batch.
class Doubling final : public Model {
 public:
  explicit Doubling(bool has_scalar = false) : has_scalar_(has_scalar) {}
  Tensors call(const Tensors& inputs, const Call&) override {
    const Tensor first_row = ops::slice_axis(inputs.front(), 0, 0, 1);
    const Tensor twice[] = {inputs.front(), inputs.front()}, first_twice[] = {first_row, first_row};
    if (has_scalar_) return {ops::sum(inputs.front())};
    return {ops::concatenate(twice, 0), ops::concatenate(first_twice, 0)};
  }

 private:
  bool has_scalar_;
};

}  // namespace

TEST_CASE("predict joins outputs that do not have a row for each sample") {
  const Tensor x = data(5);
  const auto rows = [&](const std::vector<int64_t>& indices) {
    return ops::gather(x, Tensor::from(indices, {static_cast<int64_t>(indices.size())}), 0)
        .to_vector();
  };
  const auto doubling = std::make_shared<Doubling>();
  const std::vector<int64_t> all_twice{0, 1, 0, 1, 2, 3, 2, 3, 4, 4}, first_twice{0, 0, 2, 2, 4, 4};
  for (const Tensors& outputs :
       {doubling->predict({x}, {{"batch_size", 2}}),
        doubling->predict(generator_dataset([&, next = int64_t{0}](Batch& batch) mutable {
          if (next < 5)
            batch = {{ops::slice_axis(x, 0, next, std::min<int64_t>(next + 2, 5))}, {}, {}};
          return std::exchange(next, next + 2) < 5;
        }))}) {
    CHECK(outputs.at(0).to_vector() == rows(all_twice));
    CHECK(outputs.at(1).to_vector() == rows(first_twice));
  }
  CHECK_THROWS_WITH(std::make_shared<Doubling>(true)->predict({x}),
                    Contains("expected an output with a first axis"));
}

TEST_CASE("what generators and models give is checked") {
  auto model = small_model();
  model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  for (const Batch& bad_batch :
       {Batch{}, Batch{{Tensor()}, {data(2, 1)}, {}}, Batch{{Tensor::scalar(1)}, {data(2, 1)}, {}},
        Batch{{data(2)}, {}, {}}}) {
    auto source = generator_dataset([&](Batch& batch) { return batch = bad_batch, true; });
    CHECK_THROWS_AS(model->fit(source, {{"steps_per_epoch", 1}, {"verbose", 0}}), Error);
    if (bad_batch.y.size() == 1) CHECK_THROWS_AS(model->predict(source, {{"steps", 1}}), Error);
  }
  CHECK_NOTHROW(model->fit({data(4)}, {data(4, 1)},
                           {{"batch_size", std::numeric_limits<int64_t>::max()}, {"verbose", 0}}));
}

TEST_CASE("every sample is seen once an epoch, in an order of the model's own") {
  const SeedGenerator order(9);
  std::vector<float> numbers(10);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  auto dataset = array_dataset({Tensor::from(numbers, {10, 1})}, {}, {},
                               {.batch_size = 4, .shuffle = true, .order = &order});
  std::vector<std::vector<double>> epochs;
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<double> values;
    dataset->begin_epoch();
    for (Batch batch; dataset->next(batch);)
      for (double v : batch.x.front().to_vector()) values.push_back(v);
    epochs.push_back(values);
    std::sort(values.begin(), values.end());
    CHECK(values == std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  }
  CHECK(epochs[0] != epochs[1]);
}

TEST_CASE("a dataset that ends before the number which it announced is reported, once a run") {
  auto model = small_model();
  model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  const auto announcing_dataset = [](int64_t elements) {
    Generated source;
    source.elements = elements;
    source.begin = [](uint64_t) {
      return [element_count = 0](Element& element) mutable {
        element = {boxed(data(2)), boxed(targets(data(2)))};
        return element_count++ < 3;
      };
    };
    return generated(std::move(source));
  };
  static std::vector<std::string> warning_texts;
  warning_texts.clear();
  set_warning_handler([](std::string_view text) { warning_texts.emplace_back(text); });
  const Dict two_epochs{{"verbose", 0}, {"epochs", 2}};
  model->fit(announcing_dataset(3), two_epochs);
  model->fit(announcing_dataset(Stream::kUnknown), two_epochs);
  model->evaluate(announcing_dataset(3), {{"verbose", 0}});
  CHECK(warning_texts.empty());
  model->fit(announcing_dataset(10), two_epochs);
  CHECK(warning_texts ==
        std::vector<std::string>{
            "Your input ran out of data after 3 of 10 batches. Make sure that your "
            "dataset or generator gives as many as it announces."});
  model->evaluate(announcing_dataset(10), {{"verbose", 0}});
  CHECK(warning_texts.size() == 2);
  set_warning_handler(nullptr);
}
