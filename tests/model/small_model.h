// A small model with data that fits it, and a callback that records hooks.
#pragma once
#include "crescent/crescent.h"

namespace crescent::small {

inline Value boxed(const Tensor& t) { return std::make_shared<BoxedTensor>(t); }

inline std::shared_ptr<Sequential> small_model(const char* activation = "linear",
                                               int64_t units = 1) {
  set_random_seed(3);
  return Sequential::make(
      {make<Layer>("Dense", {{"units", 8}, {"activation", "tanh"}, {"input_shape", List{3}}}),
       make<Layer>("Dense", {{"units", units}, {"activation", activation}})});
}
inline Tensor data(int64_t n, int64_t width = 3) { return SeedGenerator(5).normal({n, width}); }
inline Tensor labels(int64_t n, int64_t classes) {
  std::vector<uint8_t> numbers;
  for (int64_t i = 0; i < n; ++i) numbers.push_back(static_cast<uint8_t>(i * 7 % classes));
  return Tensor::from(numbers, {n});
}
inline Tensor targets(const Tensor& x) { return ops::sum(x, {1}, true); }

/// Records the names of the hooks that are called.
class Recorder final : public Callback {
 public:
  void on_train_begin(const Logs&) override { add("train_begin"); }
  void on_train_end(const Logs&) override { add("train_end"); }
  void on_epoch_begin(int64_t, const Logs&) override { add("epoch_begin"); }
  void on_epoch_end(int64_t, Logs& logs) override {
    add("epoch_end");
    names = logs.names();
  }
  void on_train_batch_end(int64_t batch, const Logs& logs) override {
    add("batch");
    last = logs.at("loss");
    if (batch == stop_after) model_->stop_training = true;
  }
  void on_test_begin(const Logs&) override { add("test_begin"); }
  void on_test_end(const Logs&) override { add("test_end"); }
  void add(const char* hook) { text += (text.empty() ? "" : " ") + std::string(hook); }
  std::string text;
  std::vector<std::string> names;
  double last = 0;
  int64_t stop_after = -1;
};

}  // namespace crescent::small
