// The default steps: forward pass, losses, gradients, update of the weights, metrics.
#include "crescent/model/steps.h"

#include "crescent/program/distribution.h"
#include "crescent/program/gradient.h"
#include "layer/layer_access.h"
#include "optimization/update_observer.h"
#include "program/recording/divided.h"
#include "registry/blame.h"
#include "training/error_context.h"
#include "training/sharing/logical_shards.h"
#include "training/sharing/shared_step.h"
#include "training/state/training.h"

namespace crescent {

Steps::~Steps() = default;

const Steps& steps_of(const Model& model) {
  static const Steps default_steps;
  const auto* overridden_steps = dynamic_cast<const Steps*>(&model);
  return overridden_steps ? *overridden_steps : default_steps;
}

namespace {

/// The state of the compiled model. If a step is called outside of fit, first builds the layers
/// that are not built yet, and makes the losses and metrics of the outputs.
ModelAccess::Training& compiled_state(Model& model, const Batch& batch) {
  ModelAccess::Training& state = ModelAccess::training(model);
  if (!state.step_cache.is_planned) Stepper(model).prepare(batch.x);
  return state;
}

Tensor sample_weight_of(const Batch& batch, size_t output_index) {
  return output_index < batch.sample_weight.size() ? batch.sample_weight[output_index] : Tensor();
}

/// The tensor of an output; fails if an overridden step returned too few tensors.
const Tensor& tensor_of_output(const Tensors& tensors, size_t output_index,
                               const char* tensor_name) {
  if (output_index >= tensors.size())
    fail("expected ", tensor_name, " for ", output_index + 1, " outputs, got ", tensors.size());
  return tensors[output_index];
}

const Tensor& target_of(const ModelAccess::Training& state, const Batch& batch,
                        size_t output_index) {
  if (batch.y.empty()) fail_target_count(state.plan.outputs, 0);
  return tensor_of_output(batch.y,
                          target_index_of(state.plan.outputs, output_index, batch.y.size()), "y");
}

/// The number of samples of the batch. If processes share the batch, it is that of the whole batch;
/// otherwise it is taken from the first of the inputs, predictions and targets that exist.
int64_t samples_in(const Share& share, const Batch& batch, const Tensors& y_pred) {
  if (share) return share.whole;
  for (const Tensors* tensors : {&batch.x, &y_pred, &batch.y})
    if (!tensors->empty()) return tensors->front().dim(0);
  fail("expected x, y or y_pred, got none");
}

/// Multiplies the weights by the mask of y_pred and removes the mask from y_pred, as Keras 2 does,
/// so that the loss or the metric does not apply the mask again.
void weigh_by_mask(Tensor& y_pred, Tensor& weights) {
  if (!y_pred.mask()) return;
  const Tensor mask = ops::cast(y_pred.mask(), DType::float32);
  if (weights && weights.rank() == mask.rank() + 1 && weights.dim(-1) == 1)
    weights = ops::squeeze(weights, weights.rank() - 1);
  while (weights && weights.rank() < mask.rank()) weights = ops::expand_dims(weights, -1);
  weights = weights ? mask * ops::cast(weights, DType::float32) : mask;
  y_pred = y_pred.with_mask({});
}

Tensor loss_of(const Model& model, const Batch& batch, size_t output_index, Tensor y_pred) {
  const ModelAccess::Training& state = ModelAccess::training(model);
  Tensor weights = sample_weight_of(batch, output_index);
  if (state.spec.options.mask_as_weights) weigh_by_mask(y_pred, weights);
  return (*state.plan.outputs[output_index].loss)(target_of(state, batch, output_index), y_pred,
                                                  weights);
}

void notify_of_loss(const Tensor& loss) {
  if (UpdateObserver* observer = UpdateObserver::current()) observer->on_loss(loss);
}

Tensors run_model(Model& model, const Tensors& x, bool training) {
  TracedStep& traced_step = ModelAccess::training(model).traced_step;
  if (traced_step.share.shards > 0)
    return call_on_shards(model, traced_step.share, x, training, traced_step.shard_reads);
  if (traced_step.share) return call_on_share(model, traced_step.share, x, training);
  CallOptions options;
  options.training = training;
  return model(x, options);
}

/// The predictions and the loss with which metrics are updated.
struct MeasuredBatch {
  Tensors y_pred;
  Tensor loss;
};

/// Runs the model on the batch in inference mode.
MeasuredBatch measure_inference(Model& model, const Batch& batch) {
  const NoGradient no_gradient;
  const ProgramScope scope("inference_metrics");
  const Tensors y_pred = run_model(model, batch.x, false);
  MeasuredBatch measured_batch{y_pred, steps_of(model).compute_loss(model, batch, y_pred, false)};
  LayerAccess::forget_losses(model);
  ModelAccess::training(model).traced_step.has_measured_inference = true;
  return measured_batch;
}

/// Fails if weights of the model are divided among processes, but no distribution is set, so that
/// each process would train alone.
void expect_joint_training(const Model& model, const Variables& trained_weights) {
  if (distribution() == Distribution::none && any_divided(trained_weights))
    fail("model ", model.name(),
         " has weights that are divided among processes, which train "
         "together: set their distribution again before");
}

Tensors gradients_of(GradientTape& tape, const Tensor& loss, ModelAccess::Training& state) {
  const Variables& variables = state.trained_variables.variables;
  if (state.traced_step.share.shards > 0)
    return shard_gradients(tape, loss, variables, std::exchange(state.traced_step.shard_reads, {}));
  return tape.gradient(loss, std::span<const Variable>(variables));
}

StepLogs track_loss_and_metrics(Model& model, const Batch& batch, const Tensors& y_pred,
                                const Tensor& loss) {
  const NoGradient no_gradient;
  const ProgramScope scope("metrics");
  ModelAccess::Training& state = ModelAccess::training(model);
  const auto samples = static_cast<double>(samples_in(state.traced_step.share, batch, y_pred));
  state.spec.loss->update_state(loss, {}, Tensor::scalar(samples));
  return steps_of(model).compute_metrics(model, batch, y_pred);
}

}  // namespace

StepLogs Steps::train_step(Model& model, const Batch& batch) const {
  ModelAccess::Training& state = ModelAccess::training(model);
  if (!state.trained_variables.is_collected) Stepper(model).prepare(batch.x);
  const Steps& steps = steps_of(model);
  std::optional<MeasuredBatch> inference_batch;
  if (state.traced_step.inference_metrics) inference_batch = measure_inference(model, batch);
  const auto track_metrics = [&](const Tensors& y_pred, const Tensor& loss) {
    return inference_batch ? track_loss_and_metrics(model, batch, inference_batch->y_pred,
                                                    inference_batch->loss)
                           : track_loss_and_metrics(model, batch, y_pred, loss);
  };
  if (state.trained_variables.variables.empty()) {
    const Tensors y_pred = run_model(model, batch.x, true);
    return track_metrics(y_pred, steps.compute_loss(model, batch, y_pred, true));
  }
  const Share& share = state.traced_step.share;
  expect_joint_training(model, state.trained_variables.variables);
  const bool is_in_shards = share.shards > 0;
  const PartialGradients partial_gradients(share && !is_in_shards);
  std::optional<WrittenState> written_state;
  if (share && !is_in_shards) written_state.emplace(model);
  GradientTape tape;
  const Tensors y_pred = run_model(model, batch.x, true);
  const Tensor loss = steps.compute_loss(model, batch, y_pred, true);
  notify_of_loss(loss);
  const Tensor scaled_loss = state.spec.optimizer->scale_loss(loss);
  tape.stop();
  Tensors gradients = gradients_of(tape, scaled_loss, state);
  if (share && !is_in_shards) sum_over_processes(gradients, state.trained_variables.variables);
  if (written_state) written_state->average(share);
  {
    const ProgramScope scope("optimizer");
    blaming(*state.spec.optimizer,
            [&] { state.spec.optimizer->apply(gradients, state.trained_variables.variables); });
  }
  return track_metrics(y_pred, loss);
}

StepLogs Steps::test_step(Model& model, const Batch& batch) const {
  const Tensors y_pred = run_model(model, batch.x, false);
  return track_loss_and_metrics(model, batch, y_pred,
                                steps_of(model).compute_loss(model, batch, y_pred, false));
}

Tensors Steps::predict_step(Model& model, const Tensors& x) const {
  return run_model(model, x, false);
}

Tensors output_losses(Model& model, const Batch& batch, const Tensors& y_pred, bool training) {
  const ModelAccess::Training& state = compiled_state(model, batch);
  const bool is_tracked = !(training && state.traced_step.inference_metrics);
  const Tensor count =
      Tensor::scalar(static_cast<double>(samples_in(state.traced_step.share, batch, y_pred)));
  Tensors terms;
  for (size_t i = 0; i < state.plan.outputs.size(); ++i) {
    const OutputTraining& output = state.plan.outputs[i];
    if (!output.loss) continue;
    const std::string name = output.loss_name + "_loss";
    const ProgramScope scope(name);
    Tensor loss = with_error_context(
        [&] { return name; },
        [&] { return loss_of(model, batch, i, tensor_of_output(y_pred, i, "y_pred")); });
    if (loss.rank() > 0) loss = ops::mean(loss);
    if (output.loss_mean && is_tracked) {
      const NoGradient no_gradient;
      output.loss_mean->update_state(loss, {}, count);
    }
    terms.push_back(output.weight == 1 ? loss : loss * output.weight);
  }
  return terms;
}

Tensor Steps::compute_loss(Model& model, const Batch& batch, const Tensors& y_pred,
                           bool training) const {
  Tensors terms = output_losses(model, batch, y_pred, training);
  const Share& share = compiled_state(model, batch).traced_step.share;
  for (const Tensor& loss : model.losses()) {
    const Tensor float_loss = ops::cast(loss, DType::float32);
    terms.push_back(share && share.shards == 0 ? mean_over_shares(share, float_loss) : float_loss);
  }
  if (terms.empty()) fail("The model cannot be compiled because it has no loss to optimize.");
  if (terms.size() > 1)
    for (Tensor& term : terms) term = ops::cast(term, DType::float32);
  const Tensor loss = terms.size() == 1 ? terms.front() : ops::add_n(terms);
  if (training) notify_of_loss(loss);
  return loss;
}

StepLogs Steps::compute_metrics(Model& model, const Batch& batch, const Tensors& y_pred) const {
  const ModelAccess::Training& state = compiled_state(model, batch);
  auto update_metric = [&](const MetricPtr& metric, size_t i, Tensor weight) {
    Tensor predicted = tensor_of_output(y_pred, i, "y_pred");
    if (state.spec.options.mask_as_weights) weigh_by_mask(predicted, weight);
    blaming(*metric, [&] { metric->update_state(target_of(state, batch, i), predicted, weight); });
  };
  for (size_t i = 0; i < state.plan.outputs.size(); ++i) {
    for (const MetricPtr& metric : state.plan.outputs[i].metrics) update_metric(metric, i, {});
    for (const MetricPtr& metric : state.plan.outputs[i].weighted_metrics)
      update_metric(metric, i, sample_weight_of(batch, i));
  }
  return {};
}

StepLogs metrics_result(const Model& model) {
  StepLogs logs;
  for (const auto& [name, metric] : named_metrics(model))
    logs.emplace_back(name, blaming(*metric, [&] { return metric->result(); }));
  return logs;
}

}  // namespace crescent
