// The options of compile, fit and the others, in Keras' order.
#include "crescent/model/model.h"

namespace crescent {

void CompileOptions::describe(Schema<CompileOptions>& s) {
  using O = CompileOptions;
  s.doc("How a model trains.")
      .field("optimizer", &O::optimizer, "Name, configuration or Optimizer.")
      .kind("optimizer")
      .field("loss", &O::loss, "Name or Loss; a list or dict for several outputs.")
      .kind("loss")
      .field("metrics", &O::metrics,
             "Names or Metrics; lists of lists or a dict for several outputs.")
      .kind("metric")
      .field("loss_weights", &O::loss_weights, "Factor of each output's loss; a list or dict.")
      .field("weighted_metrics", &O::weighted_metrics, "Metrics that count sample_weight.")
      .kind("metric")
      .field("run_eagerly", &O::run_eagerly, "Run op by op, to look at values.")
      .field("steps_per_execution", &O::steps_per_execution,
             "Accepted; every step is one execution.")
      .min(1)
      .field("jit_compile", &O::jit_compile, "Accepted; steps are always compiled.")
      .field("auto_scale_loss", &O::auto_scale_loss,
             "With policy mixed_float16 the optimizer is put into a LossScaleOptimizer.")
      .field("mask_as_weights", &O::mask_as_weights,
             "Masks of predictions are weights of the losses, whose mean is then over what is "
             "masked too, as in Keras 2.3 and tf.keras up to 2.10.");
}

void FitOptions::describe(Schema<FitOptions>& s) {
  using O = FitOptions;
  s.doc("How fit goes through the data.")
      .field("batch_size", &O::batch_size, "Samples a step; 32 when not given.")
      .min(1)
      .field("epochs", &O::epochs, "Passes over the data, counted with initial_epoch.")
      .min(0)
      .field("verbose", &O::verbose, "0 quiet, 1 a progress bar, 2 a line an epoch, \"auto\".")
      .field("callbacks", &O::callbacks, "A callback or a list of them.")
      .field("validation_split", &O::validation_split,
             "Share of the data, from its end, that is held back.")
      .min(0)
      .max(1)
      .field("validation_data", &O::validation_data, "{x, y} or {x, y, sample_weight}.")
      .field("shuffle", &O::shuffle,
             "Draw a new order each epoch; \"batch\" keeps batches together.")
      .field("class_weight", &O::class_weight,
             "Weight of each class, by its label: {[0] = 1, [1] = 5}.")
      .field("sample_weight", &O::sample_weight, "Weight of each sample.")
      .field("initial_epoch", &O::initial_epoch,
             "Number of the first epoch, to go on where a run ended.")
      .min(0)
      .field("steps_per_epoch", &O::steps_per_epoch, "Steps that make an epoch.")
      .min(1)
      .field("validation_steps", &O::validation_steps, "Steps that make a validation.")
      .min(1)
      .field("validation_batch_size", &O::validation_batch_size, "batch_size when not given.")
      .min(1)
      .field("validation_freq", &O::validation_freq,
             "Every so many epochs, or a list of epochs (from 1).")
      .field(
          "resume", &O::resume,
          "Go on where an earlier run stopped, in the middle of an epoch too, and end with the "
          "same bits. true: the run that this model was saved in or that was interrupted. A "
          "path: the run is kept in this file after every epoch and when it is interrupted, gone "
          "on with when the file is there, and the file is removed when the run has ended. "
          "Begins anew when there is no such run.")
      .field("inference_metrics", &O::inference_metrics,
             "Loss and metrics of training are those of inference (no dropout, moving averages), "
             "measured on each batch before the model learns from it: a forward pass more.")
      .field("nan", &O::nan,
             "When the loss or a gradient of a batch is not finite, the weights stay as they were "
             "before it: \"stop\" ends the run there, \"locate\" is an error that names the batch, "
             "the rows, and the layer and op where it began.")
      .choices({"locate", "stop"})
      .field("watch", &O::watch,
             "\"gradients\", \"weights\" or both: their norms on the last batch, layer by layer, "
             "go into the logs and the history.");
}

void TraceOptions::describe(Schema<TraceOptions>& s) {
  using O = TraceOptions;
  s.doc("Which layers a trace shows, and what of them.")
      .field("layers", &O::layers, "Names or paths of layers; all when not given.")
      .field("statistics", &O::statistics, "Smallest, largest, mean, ... of each output.")
      .field("values", &O::values, "Keep the outputs.")
      .field("training", &O::training, "Call the model as training does.")
      .field("line_length", &O::line_length, "Columns of a line.")
      .min(40);
}

void GradientNormsOptions::describe(Schema<GradientNormsOptions>& s) {
  using O = GradientNormsOptions;
  s.doc("On what gradients are taken.")
      .field("batch_size", &O::batch_size, "Samples of the batch; 32 when not given.")
      .min(1)
      .field("sample_weight", &O::sample_weight, "A weight a sample, as of fit.")
      .field("line_length", &O::line_length, "Columns of a line.")
      .min(40);
}

void LearningRateOptions::describe(Schema<LearningRateOptions>& s) {
  using O = LearningRateOptions;
  s.doc("Which learning rates are tried.")
      .field("from", &O::from, "The first learning rate.")
      .field("to", &O::to, "The last one.")
      .field("steps", &O::steps, "How many, at equal ratios; a batch each.")
      .min(2)
      .field("batch_size", &O::batch_size, "Samples a step; 32 when not given.")
      .min(1)
      .field("smoothing", &O::smoothing, "Weight of the past in the moving average of the losses.")
      .min(0)
      .max(1)
      .field("diverged", &O::diverged,
             "Ends when the average is so many times as large as its smallest value.")
      .min(1);
}

void EvaluateOptions::describe(Schema<EvaluateOptions>& s) {
  using O = EvaluateOptions;
  s.doc("How evaluate goes through the data.")
      .field("batch_size", &O::batch_size, "Samples a step; 32 when not given.")
      .min(1)
      .field("verbose", &O::verbose, "0 quiet, 1 a progress bar, 2 a line.")
      .field("sample_weight", &O::sample_weight, "Weight of each sample.")
      .field("steps", &O::steps, "Stop after so many steps.")
      .min(1)
      .field("callbacks", &O::callbacks, "A callback or a list of them.")
      .field("return_dict", &O::return_dict, "Values by name.");
}

void PredictOptions::describe(Schema<PredictOptions>& s) {
  using O = PredictOptions;
  s.doc("How predict goes through the data.")
      .field("batch_size", &O::batch_size, "Samples a step; 32 when not given.")
      .min(1)
      .field("verbose", &O::verbose,
             "0 quiet, 1 a progress bar, 2 a line; when not given a terminal shows how far it has "
             "come once that takes more than a second.")
      .field("steps", &O::steps, "Stop after so many steps.")
      .min(1)
      .field("callbacks", &O::callbacks, "A callback or a list of them.");
}

void SummaryOptions::describe(Schema<SummaryOptions>& s) {
  using O = SummaryOptions;
  s.doc("How a summary looks.")
      .field("line_length", &O::line_length, "Columns of a line.")
      .min(20)
      .field("positions", &O::positions, "Where columns end, as shares of the line.")
      .field("expand_nested", &O::expand_nested, "Show the layers of models inside the model.")
      .field("show_trainable", &O::show_trainable, "Say for each layer whether it trains.")
      .field("flops", &O::flops,
             "Say for each layer how many floating-point operations one sample takes forwards.");
}

void ValidateOptions::describe(Schema<ValidateOptions>& s) {
  using O = ValidateOptions;
  s.doc("What of the data is checked, and where the summary goes.")
      .field("batch_size", &O::batch_size, "Samples of the steps; 32 when not given.")
      .min(1)
      .field("sample_weight", &O::sample_weight, "A weight a sample, as of fit.");
}

void ProfileOptions::describe(Schema<ProfileOptions>& s) {
  using O = ProfileOptions;
  s.doc("How a step is profiled, and what is shown.")
      .field("batch_size", &O::batch_size, "Samples of the step; 32 when not given.")
      .min(1)
      .field("steps", &O::steps,
             "Steps that are timed; as many as fill a quarter of a second when not given.")
      .min(1)
      .field("by", &O::by,
             "A row for each layer, op, or instruction (every op of every layer, with shapes).")
      .choices({"both", "layer", "op", "instruction"})
      .field("sort", &O::sort, "By time, or in the order of running.")
      .choices({"time", "order"})
      .field("line_length", &O::line_length, "Columns of a line.")
      .min(60);
}

}  // namespace crescent
