// One model on several threads: predictions run concurrently with each other and with training;
// calls that would update the same metrics are refused.
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "on_threads.h"
#include "small_model.h"

using namespace crescent;
using namespace crescent::small;
using Catch::Contains;

namespace {

const std::vector<std::string> kNoErrorsOnFourThreads(4);

}  // namespace

TEST_CASE("several threads predict with one model, built by whichever comes first") {
  for (int round = 0; round < 5; ++round) {
    const auto model = Sequential::make({make<Layer>("Dense", {{"units", 8}}),
                                         make<Layer>("Dropout", {{"rate", 0.5}}),
                                         make<Layer>("Dense", {{"units", 2}})});
    std::atomic<int> wrong_count{0};
    CHECK(on_threads(4, [&](int number) {
            const Tensor x = data(8 + number);
            const Tensor first = model->predict({x}, {{"batch_size", 4}})[0];
            for (int i = 0; i < 50; ++i) {
              const Tensor in_batches = model->predict({x}, {{"batch_size", 3 + i % 5}})[0];
              const Tensor single_batch = model->predict_on_batch({x})[0];
              const auto numbers = first.to_vector();
              for (size_t k = 0; k < numbers.size(); ++k)
                wrong_count += std::abs(in_batches.to_vector()[k] - numbers[k]) > 1e-5 ||
                               std::abs(single_batch.to_vector()[k] - numbers[k]) > 1e-5;
            }
          }) == kNoErrorsOnFourThreads);
    CHECK(wrong_count == 0);
  }
}

TEST_CASE("threads predict while another trains, and training has the bits of one alone") {
  const Tensor x = data(64), y = targets(x);
  const auto reference_model = small_model(), model = small_model();
  const Dict compile_options{{"optimizer", "adam"}, {"loss", "mse"}, {"metrics", List{"mae"}}};
  reference_model->compile(compile_options), model->compile(compile_options);
  const Dict options{{"epochs", 10}, {"batch_size", 8}, {"shuffle", false}, {"verbose", 0}};
  reference_model->fit({x}, {y}, options);
  std::atomic<bool> has_ended{false};
  CHECK(on_threads(4, [&](int number) {
          struct End {
            std::atomic<bool>& has_ended;
            ~End() { has_ended = true; }
          };
          if (number == 0) {
            const End end{has_ended};
            model->fit({x}, {y}, options);
          }
          while (!has_ended) {
            const Tensor prediction = model->predict({x}, {{"batch_size", 16}})[0];
            if (prediction.shape() != Shape{64, 1}) fail("a wrong shape");
          }
        }) == kNoErrorsOnFourThreads);
  const Variables expected = reference_model->weights(), weights = model->weights();
  for (size_t i = 0; i < weights.size(); ++i)
    CHECK(weights[i].value().to_vector() == expected[i].value().to_vector());
  CHECK(model->history()->at("loss") == reference_model->history()->at("loss"));
}

TEST_CASE("a second thread that trains or evaluates is refused, and the first goes on") {
  const Tensor x = data(32), y = targets(x);
  const auto model = small_model();
  model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  class CallsFromOtherThread final : public Callback {
   public:
    CallsFromOtherThread(Tensor x, Tensor y) : x_(std::move(x)), y_(std::move(y)) {}
    void on_epoch_end(int64_t, Logs&) override {
      const std::string expected_message = "another thread trains or evaluates model '";
      errors = on_threads(1, [&](int) { model_->evaluate({x_}, {y_}, {{"verbose", 0}}); });
      CHECK_THAT(errors[0], Contains("evaluate: " + expected_message));
      errors = on_threads(1, [&](int) { model_->fit({x_}, {y_}, {{"verbose", 0}}); });
      CHECK_THAT(errors[0], Contains("fit: " + expected_message));
      errors = on_threads(1, [&](int) { model_->train_on_batch({x_}, {y_}); });
      CHECK_THAT(errors[0], Contains("train_on_batch: " + expected_message));
      CHECK(on_threads(1, [&](int) { model_->predict({x_}); })[0].empty());
      model_->evaluate({x_}, {y_}, {{"verbose", 0}});
      ++epochs;
    }
    int epochs = 0;
    std::vector<std::string> errors;

   private:
    Tensor x_, y_;
  };
  const auto callback = std::make_shared<CallsFromOtherThread>(x, y);
  model->fit({x}, {y}, {{"epochs", 3}, {"verbose", 0}, {"callbacks", callback}});
  CHECK(callback->epochs == 3);
  CHECK(on_threads(1, [&](int) { model->evaluate({x}, {y}, {{"verbose", 0}}); })[0].empty());
}

TEST_CASE("who has a turn may assign weights while others predict") {
  const auto model = small_model();
  const Tensor x = Tensor::full({4, 3}, 1);
  const Tensors weights_before = model->get_weights();
  Tensors zero_weights;
  for (const Tensor& w : weights_before) zero_weights.push_back(ops::zeros_like(w));
  std::atomic<int> wrong_count{0};
  const double expected = model->predict({x})[0].to_vector()[0];
  CHECK(on_threads(4, [&](int number) {
          for (int i = 0; i < 200; ++i) {
            if (number == 0) {
              const StepLock lock(*model);
              model->set_weights(i % 2 ? weights_before : zero_weights);
              continue;
            }
            const double got = model->predict({x})[0].to_vector()[0];
            wrong_count += got != 0 && std::abs(got - expected) > 1e-6;
          }
        }) == kNoErrorsOnFourThreads);
  CHECK(wrong_count == 0);
}

TEST_CASE("ops run at once on several threads") {
  std::atomic<int> wrong_count{0};
  CHECK(on_threads(4, [&](int number) {
          for (int i = 1; i <= 100; ++i) {
            const Tensor a = Tensor::full({7, i % 9 + 1}, number + 1);
            const Tensor product = ops::matmul(ops::exp(a * 0.0) + a, a, false, true);
            wrong_count += product.to_vector()[0] !=
                           (number + 2.0) * (number + 1.0) * static_cast<double>(i % 9 + 1);
          }
        }) == kNoErrorsOnFourThreads);
  CHECK(wrong_count == 0);
}
