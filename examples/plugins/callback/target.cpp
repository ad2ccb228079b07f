#include "crescent/model/callback.h"

#include "crescent/model/model.h"
#include "crescent/plugin.h"

/// A callback has methods that the training calls at the start and the end of epochs and batches;
/// this one stops the training at a target.
class Target final : public crescent::Callback {
 public:
  static void describe(crescent::Schema<Target>& s) {
    s.doc("Ends a run when a value is small enough.")
        .field("value", &Target::value_, "How small.")
        .required()
        .field("monitor", &Target::monitor_, "The name of what is looked at.");
  }
  void on_epoch_end(int64_t, crescent::Logs& logs) override {
    if (logs.at(monitor_) <= value_) model_->stop_training = true;
  }

 private:
  double value_ = 0;
  std::string monitor_ = "loss";
};

CRESCENT_PLUGIN("acme.target", "0.1.0") { registry.add<Target>("Target"); }
