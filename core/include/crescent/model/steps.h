// Steps: the functions that process a batch in training, testing and prediction. A model that also
// derives from Steps overrides them:
//
//   class Gan final : public Model, public Steps {
//     StepLogs train_step(Model& model, const Batch& batch) const override;
//
// A step is traced once for each signature of its batch and then runs compiled, so it must be
// written with ops. fit, evaluate and predict call it in place of the default step.
#pragma once
#include "crescent/data/data.h"
#include "crescent/model/model.h"

namespace crescent {

/// Scalars with the names under which they appear in logs.
using StepLogs = std::vector<std::pair<std::string, Tensor>>;

class CRESCENT_API Steps {
 public:
  virtual ~Steps();
  /// Updates the weights and returns the logs. An empty result stands for the current loss and
  /// metrics.
  virtual StepLogs train_step(Model& model, const Batch& batch) const;
  virtual StepLogs test_step(Model& model, const Batch& batch) const;
  virtual Tensors predict_step(Model& model, const Tensors& x) const;
  /// Returns a scalar: the weighted losses of compile plus the losses that layers add.
  virtual Tensor compute_loss(Model& model, const Batch& batch, const Tensors& y_pred,
                              bool training) const;
  /// Updates the metrics of compile; the result is appended to the logs.
  virtual StepLogs compute_metrics(Model& model, const Batch& batch, const Tensors& y_pred) const;
  /// Called by compile with its options before they are checked; returns those with which the model
  /// is compiled. A model whose steps need other options overrides it.
  virtual Dict compile_options(Dict options) const { return options; }
  /// Whether the steps call the model as a whole; false for a model whose steps call its layers one
  /// by one.
  virtual bool calls_model(const Model&) const { return true; }
};

/// The steps that the model overrides, or the default ones.
CRESCENT_API const Steps& steps_of(const Model& model);
/// The weighted losses of compile as scalars, one for each output that has a loss. May be called
/// within a step; updates the metrics that track the losses of several outputs.
CRESCENT_API Tensors output_losses(Model& model, const Batch& batch, const Tensors& y_pred,
                                   bool training);
/// The current loss and metrics of the model as tensors; may be called within a step.
CRESCENT_API StepLogs metrics_result(const Model& model);

}  // namespace crescent
