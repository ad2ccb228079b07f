// TensorBoard writes losses, metrics and weights to event files in log_dir/train and
// log_dir/validation.
#include "clock.h"
#include "crescent/model/callback.h"
#include "crescent/model/model.h"
#include "crescent/registry/registration.h"
#include "crescent/system/interrupt.h"
#include "event_file.h"

namespace crescent {
namespace {

class TensorBoard final : public Callback {
 public:
  static void describe(Schema<TensorBoard>& s) {
    s.doc("Writes losses, metrics and weights in the format of TensorBoard.")
        .field("log_dir", &TensorBoard::log_dir_, "Folder of the files.")
        .field("histogram_freq", &TensorBoard::histogram_freq_,
               "Number of epochs between histograms of the weights; 0: none.")
        .min(0)
        .field("write_graph", &TensorBoard::write_graph_, "Write the graph of the layers.")
        .field("write_images", &TensorBoard::write_images_, "Not supported.")
        .field("write_steps_per_second", &TensorBoard::write_steps_per_second_,
               "Write the number of steps per second.")
        .field("update_freq", &TensorBoard::update_freq_,
               "\"epoch\", \"batch\" or a number of batches between values.")
        .field("profile_batch", &TensorBoard::profile_batch_, "Not supported; see model:profile().")
        .field("embeddings_freq", &TensorBoard::embeddings_freq_, "Not supported.")
        .field("embeddings_metadata", &TensorBoard::embeddings_metadata_, "Not supported.");
  }
  void configured() override {
    const bool is_batch_count = update_freq_.is_int() && update_freq_.as_int() > 0;
    const bool is_keyword = update_freq_.is_string() && (update_freq_.as_string() == "epoch" ||
                                                         update_freq_.as_string() == "batch");
    if (!is_batch_count && !is_keyword)
      fail("update_freq must be \"epoch\", \"batch\" or a number of batches, got ", update_freq_);
    batches_per_entry_ = is_batch_count                        ? update_freq_.as_int()
                         : update_freq_.as_string() == "batch" ? 1
                                                               : 0;
    if (write_images_) fail("write_images = true is not supported");
    if (embeddings_freq_ != 0 || !embeddings_metadata_.is_null())
      fail("embeddings are not supported");
    if (!(profile_batch_ == Value(0)) && !profile_batch_.is_null())
      fail("profile_batch is not supported; model:profile(x, y) tells where the time goes");
  }
  void on_train_begin(const Logs&) override {
    batch_count_ = steps_before_epoch_ = iterations();
    train_file_ = std::make_unique<EventFile>(log_dir_ + "/train");
    validation_file_.reset();
    if (write_graph_ && model_->is_graph()) add_graph();
    train_file_->flush();
  }
  void on_train_end(const Logs&) override {
    train_file_.reset();
    validation_file_.reset();
  }
  void on_epoch_begin(int64_t, const Logs&) override {
    steps_before_epoch_ = iterations();
    epoch_start_ = Clock::now();
  }
  void on_train_batch_begin(int64_t, const Logs&) override { batch_start_ = Clock::now(); }
  void on_train_batch_end(int64_t, const Logs& logs) override {
    const int64_t step = batch_count_++;
    if (!train_file_ || batches_per_entry_ == 0) return;
    if (write_steps_per_second_)
      train_file_->add_scalar("batch_steps_per_second", 1 / seconds_since(batch_start_), step);
    if (step % batches_per_entry_ != 0) return;
    for (const auto& [name, value] : logs.values())
      train_file_->add_scalar("batch_" + name, value, step);
  }
  void on_test_end(const Logs& logs) override {
    if (!train_file_) return;
    for (const auto& [name, value] : logs.values())
      open_validation_file().add_scalar("evaluation_" + name + "_vs_iterations", value,
                                        iterations());
  }
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    const std::string prefix = "val_";
    for (const auto& [name, value] : logs.values())
      if (name.starts_with(prefix))
        open_validation_file().add_scalar("epoch_" + name.substr(prefix.size()), value, epoch);
      else
        train_file_->add_scalar("epoch_" + name, value, epoch);
    if (!logs.contains("learning_rate") && has_rate())
      train_file_->add_scalar("epoch_learning_rate", rate(), epoch);
    if (write_steps_per_second_)
      train_file_->add_scalar(
          "epoch_steps_per_second",
          double(iterations() - steps_before_epoch_) / seconds_since(epoch_start_), epoch);
    if (histogram_freq_ > 0 && epoch % histogram_freq_ == 0) add_histograms(epoch);
    train_file_->flush();
    if (validation_file_) validation_file_->flush();
  }
  bool writes_for_all() const override { return true; }

 private:
  EventFile& open_validation_file() {
    if (!validation_file_) validation_file_ = std::make_unique<EventFile>(log_dir_ + "/validation");
    return *validation_file_;
  }
  void add_graph() {
    try {
      train_file_->add_model(model_->to_json());
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      warn("TensorBoard: the graph is left out: ", error.what());
    }
  }
  int64_t iterations() const {
    const auto optimizer = model_->optimizer();
    return optimizer ? int64_t(optimizer->iterations().value().item()) : 0;
  }
  /// Whether the model has a single learning rate; a MultiOptimizer has several.
  bool has_rate() const {
    return model_->optimizer() && model_->optimizer()->class_name() != "MultiOptimizer";
  }
  double rate() const { return model_->optimizer()->learning_rate().value().item(); }
  void add_histograms(int64_t epoch) {
    for (const Variable& weight : model_->weights())
      train_file_->add_histogram(weight.path() + "/histogram", weight.value().to_vector(), epoch);
  }

  std::string log_dir_ = "logs";
  int64_t histogram_freq_ = 0, embeddings_freq_ = 0;
  bool write_graph_ = true, write_images_ = false, write_steps_per_second_ = false;
  Value update_freq_ = "epoch", profile_batch_ = 0, embeddings_metadata_;

  int64_t batches_per_entry_ = 0, batch_count_ = 0, steps_before_epoch_ = 0;
  Clock::time_point epoch_start_, batch_start_;
  std::unique_ptr<EventFile> train_file_, validation_file_;
};

}  // namespace

CRESCENT_REGISTER(tensorboard) { registry.add<TensorBoard>("TensorBoard"); }

}  // namespace crescent
