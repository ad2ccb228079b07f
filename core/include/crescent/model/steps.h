// What a model does with a batch. A model that derives from Steps too has steps of its own:
//
//   class Gan final : public Model, public Steps {
//     StepLogs train_step(Model& model, const Batch& batch) override;
//
// A step is traced once for each signature of its batch and runs compiled, so it is written with
// ops; fit, evaluate and predict drive it as they drive the usual one.
#pragma once
#include "crescent/data/data.h"
#include "crescent/model/model.h"

namespace crescent {

/// Named scalars.
using StepLogs = std::vector<std::pair<std::string, Tensor>>;

class CRESCENT_API Steps {
 public:
  virtual ~Steps();
  /// Updates the weights. What it gives are the logs; where it gives nothing they are what loss and
  /// metrics are so far.
  virtual StepLogs train_step(Model& model, const Batch& batch) const;
  virtual StepLogs test_step(Model& model, const Batch& batch) const;
  virtual Tensors predict_step(Model& model, const Tensors& x) const;
  /// A scalar: the losses of compile, weighted, and what layers add.
  virtual Tensor compute_loss(Model& model, const Batch& batch, const Tensors& y_pred,
                              bool training) const;
  /// Updates the metrics of compile. What it gives joins the logs.
  virtual StepLogs compute_metrics(Model& model, const Batch& batch, const Tensors& y_pred) const;
  /// False for a model that is never called as a whole: its steps call its parts.
  virtual bool calls_model(const Model&) const { return true; }
};

/// Those of the model, or the usual ones.
CRESCENT_API const Steps& steps_of(const Model& model);
/// What loss and metrics of the model are so far, as tensors, within a step too.
CRESCENT_API StepLogs metrics_result(const Model& model);

}  // namespace crescent
