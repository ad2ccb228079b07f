// The options of the functions of Model (compile, fit, evaluate, predict, ...), in Keras' order.
#include "crescent/model/model.h"

namespace crescent {

void CompileOptions::describe(Schema<CompileOptions>& s) {
  using O = CompileOptions;
  s.doc("How a model trains.")
      .field("optimizer", &O::optimizer, "Name, configuration or Optimizer.")
      .kind("optimizer")
      .field("loss", &O::loss,
             "Name, function or Loss; a list or table of them for several outputs.")
      .kind("loss")
      .field("metrics", &O::metrics,
             "Names or Metrics; lists of lists or a table for several outputs.")
      .kind("metric")
      .field("loss_weights", &O::loss_weights, "Weight of each output's loss; a list or a table.")
      .field("weighted_metrics", &O::weighted_metrics,
             "Metrics that are weighted by sample_weight.")
      .kind("metric")
      .field("run_eagerly", &O::run_eagerly,
             "Run op by op instead of compiled, so that values can be inspected.")
      .field("steps_per_execution", &O::steps_per_execution,
             "Accepted for compatibility; every step is one execution.")
      .min(1)
      .field("jit_compile", &O::jit_compile,
             "Accepted for compatibility; steps are always compiled.")
      .field("auto_scale_loss", &O::auto_scale_loss,
             "With the policy mixed_float16, wrap the optimizer in a LossScaleOptimizer.")
      .field("mask_as_weights", &O::mask_as_weights,
             "Use masks of predictions as weights of the losses and average over masked elements "
             "too, as Keras 2.3 and tf.keras up to 2.10 do.")
      .field("remat", &O::remat,
             "Rematerialize (gradient checkpointing): the backward pass computes most values of "
             "the forward pass again instead of keeping them. Deep models then train in less "
             "memory and about a third more time; the numbers stay the same but for rounding.");
}

void FitOptions::describe(Schema<FitOptions>& s) {
  using O = FitOptions;
  s.doc("How fit goes through the data.")
      .field("batch_size", &O::batch_size, "Samples per step; 32 when not given.")
      .min(1)
      .field("epochs", &O::epochs, "Number of passes over the data; initial_epoch counts as done.")
      .min(0)
      .field("verbose", &O::verbose, "0: silent, 1: progress bar, 2: one line per epoch, \"auto\".")
      .field("callbacks", &O::callbacks, "A callback or a list of callbacks.")
      .field(
          "validation_split", &O::validation_split,
          "Fraction of the samples, taken from the end, to use for validation instead of training.")
      .min(0)
      .max(1)
      .field("validation_data", &O::validation_data,
             "Validation data: {x, y} or {x, y, sample_weight}.")
      .field("shuffle", &O::shuffle,
             "Shuffle the samples before each epoch; \"batch\" shuffles whole batches.")
      .field("class_weight", &O::class_weight,
             "Weight of each class by its label: {[0] = 1, [1] = 5}.")
      .field("sample_weight", &O::sample_weight, "Weight of each sample.")
      .field("initial_epoch", &O::initial_epoch,
             "Epoch at which to start, to continue an earlier run.")
      .min(0)
      .field("steps_per_epoch", &O::steps_per_epoch, "Number of batches that make an epoch.")
      .min(1)
      .field("validation_steps", &O::validation_steps, "Number of batches of each validation.")
      .min(1)
      .field("validation_batch_size", &O::validation_batch_size,
             "Samples per batch of the validation; batch_size when not given.")
      .min(1)
      .field("validation_freq", &O::validation_freq,
             "Validate every so many epochs, or after the epochs of this list (from 1).")
      .field("resume", &O::resume,
             "Continue an interrupted run, also in the middle of an epoch, with the bits of an "
             "uninterrupted one. true: continue the run that this model was saved in or that was "
             "interrupted. A path: save the run in this file after every epoch and at an "
             "interruption, continue from the file if it exists, and remove it when the run has "
             "ended. Without an earlier run, training starts anew.")
      .field("inference_metrics", &O::inference_metrics,
             "Report the loss and metrics of training in inference mode (no dropout, moving "
             "averages), computed on each batch before the update, at the cost of another forward "
             "pass.")
      .field("nan", &O::nan,
             "What to do when the loss or a gradient is not finite; the weights keep their values "
             "from before the batch. \"stop\": end the run. \"locate\": raise an error that names "
             "the batch, the rows, and the layer and op where the value arose.")
      .choices({"locate", "stop"})
      .field("watch", &O::watch,
             "Which norms to log on the last batch of each epoch, layer by layer: \"gradients\", "
             "\"weights\" or { \"gradients\", \"weights\" }.");
}

void TraceOptions::describe(Schema<TraceOptions>& s) {
  using O = TraceOptions;
  s.doc("Which layers a trace shows, and what of them.")
      .field("layers", &O::layers, "Names or paths of the layers to trace; all when not given.")
      .field("statistics", &O::statistics,
             "Compute minimum, maximum, mean and more of each output.")
      .field("values", &O::values, "Keep the outputs themselves.")
      .field("training", &O::training, "Run the layers in training mode.")
      .field("line_length", &O::line_length, "Width of the table in characters.")
      .min(40);
}

void GradientNormsOptions::describe(Schema<GradientNormsOptions>& s) {
  using O = GradientNormsOptions;
  s.doc("On what gradients are taken.")
      .field("batch_size", &O::batch_size, "Samples of the batch; 32 when not given.")
      .min(1)
      .field("sample_weight", &O::sample_weight, "Weight of each sample, as in fit.")
      .field("line_length", &O::line_length, "Width of the table in characters.")
      .min(40);
}

void LearningRateOptions::describe(Schema<LearningRateOptions>& s) {
  using O = LearningRateOptions;
  s.doc("Which learning rates are tried.")
      .field("from", &O::from, "The first learning rate.")
      .field("to", &O::to, "The last learning rate.")
      .field("steps", &O::steps,
             "Number of steps, one batch each, with a constant ratio between rates.")
      .min(2)
      .field("batch_size", &O::batch_size, "Samples per step; 32 when not given.")
      .min(1)
      .field("smoothing", &O::smoothing, "Weight of the past in the moving average of the losses.")
      .min(0)
      .max(1)
      .field("diverged", &O::diverged, "Stop when the average exceeds its minimum by this factor.")
      .min(1);
}

void EvaluateOptions::describe(Schema<EvaluateOptions>& s) {
  using O = EvaluateOptions;
  s.doc("How evaluate goes through the data.")
      .field("batch_size", &O::batch_size, "Samples per step; 32 when not given.")
      .min(1)
      .field("verbose", &O::verbose, "0: silent, 1: progress bar, 2: one line.")
      .field("sample_weight", &O::sample_weight, "Weight of each sample.")
      .field("steps", &O::steps, "Number of batches after which to stop; all when not given.")
      .min(1)
      .field("callbacks", &O::callbacks, "A callback or a list of callbacks.")
      .field("return_dict", &O::return_dict,
             "Return the results as a table by name instead of a list.");
}

void PredictOptions::describe(Schema<PredictOptions>& s) {
  using O = PredictOptions;
  s.doc("How predict goes through the data.")
      .field("batch_size", &O::batch_size, "Samples per step; 32 when not given.")
      .min(1)
      .field("verbose", &O::verbose,
             "0: silent, 1: progress bar, 2: one line; when not given, a terminal shows a bar once "
             "the prediction takes more than a second.")
      .field("steps", &O::steps, "Number of batches after which to stop; all when not given.")
      .min(1)
      .field("callbacks", &O::callbacks, "A callback or a list of callbacks.");
}

void SummaryOptions::describe(Schema<SummaryOptions>& s) {
  using O = SummaryOptions;
  s.doc("How a summary looks.")
      .field("line_length", &O::line_length, "Width of the table in characters.")
      .min(20)
      .field("positions", &O::positions, "Right ends of the columns as fractions of the width.")
      .field("expand_nested", &O::expand_nested, "Show the layers of nested models.")
      .field("show_trainable", &O::show_trainable, "Show which layers are trainable.")
      .field("flops", &O::flops,
             "Show the floating-point operations of each layer for one sample.");
}

void ValidateOptions::describe(Schema<ValidateOptions>& s) {
  using O = ValidateOptions;
  s.doc("What of the data is checked.")
      .field("batch_size", &O::batch_size, "Samples per step; 32 when not given.")
      .min(1)
      .field("sample_weight", &O::sample_weight, "Weight of each sample, as in fit.");
}

void ProfileOptions::describe(Schema<ProfileOptions>& s) {
  using O = ProfileOptions;
  s.doc("How a step is profiled, and what is shown.")
      .field("batch_size", &O::batch_size, "Samples per step; 32 when not given.")
      .min(1)
      .field("steps", &O::steps,
             "Number of timed steps; by default as many as take a quarter of a second.")
      .min(1)
      .field(
          "by", &O::by,
          "One row per layer, per op, or per instruction (every op of every layer, with shapes).")
      .choices({"both", "layer", "op", "instruction"})
      .field("sort", &O::sort, "Sort the rows by time, or keep the order of execution.")
      .choices({"time", "order"})
      .field("line_length", &O::line_length, "Width of the table in characters.")
      .min(60);
}

}  // namespace crescent
