// Model: a Layer that can be trained. Sequential and Functional are graphs of layers; other models
// derive from Model.
//
//   const Dict options{{"units", 10}, {"input_shape", List{4}}};
//   auto model = Sequential::make({make<Layer>("Dense", options)});
//   model->compile({{"optimizer", "adam"}, {"loss", "mse"}});
//   model->fit({x}, {y}, {{"epochs", 3}});
//
// Threads: several threads may call predict at once; their predictions run side by side, one at a
// time where the model keeps states. One thread may train or evaluate beside them: its steps wait
// for the predictions that run, so that each batch of a prediction sees the weights before or after
// a step. A second thread that trains or evaluates at the same time is refused, because both would
// update the same metrics. Any other use of a model that other threads use (assigning or saving
// weights, calling it as a layer, compiling or changing it) must hold a StepLock. Steps of
// different models that share layers are not mutually exclusive: their threads must synchronize.
#pragma once
#include "crescent/data/data.h"
#include "crescent/layer/layer.h"
#include "crescent/layer/training.h"
#include "crescent/model/callback.h"
#include "crescent/model/inspection.h"
#include "crescent/program/program.h"
#include "crescent/system/interrupt.h"

namespace crescent {

/// Options of compile, in Keras' order.
struct CRESCENT_API CompileOptions {
  Value optimizer = "rmsprop";      ///< a name, a configuration or an Optimizer
  Value loss;                       ///< a name or Loss; a list or Dict of them for several outputs
  Value metrics;                    ///< names or Metrics; lists or a Dict for several outputs
  Value loss_weights;               ///< the weight of each output's loss, a list or a Dict
  Value weighted_metrics;           ///< metrics that sample_weight weights
  bool run_eagerly = false;         ///< run op by op, so that values can be inspected
  int64_t steps_per_execution = 1;  ///< accepted without effect; every step is one execution
  Value jit_compile = "auto";       ///< accepted without effect; programs are always compiled
  bool auto_scale_loss = true;      ///< scale the loss with the policy mixed_float16
  bool mask_as_weights = false;     ///< masks are weights of the losses, as in Keras 2.3
  bool remat = false;  ///< whether the backward pass recomputes forward values to save memory
  static void describe(Schema<CompileOptions>& s);
};

/// The options that fit takes besides x and y, in Keras' order.
struct CRESCENT_API FitOptions {
  std::optional<int64_t> batch_size;  ///< nullopt: 32
  int64_t epochs = 1;
  Value verbose = "auto";             ///< 0 silent, 1 progress bar, 2 one line per epoch, "auto": 1
  Value callbacks;                    ///< a callback or a list of them
  double validation_split = 0;        ///< the fraction of the samples, from the end, for validation
  Value validation_data;              ///< list {x, y[, sample_weight]} of boxed tensors
  Value shuffle = true;               ///< true, false or "batch"
  Value class_weight, sample_weight;  ///< the weight of each class and of each sample
  int64_t initial_epoch = 0;          ///< the epoch, from 0, at which training starts
  std::optional<int64_t> steps_per_epoch, validation_steps, validation_batch_size;
  /// The number of epochs from one validation to the next, or a list of epochs, counted from 1.
  Value validation_freq = 1;
  Value resume = false;            ///< true or the path of a file: continues an earlier run
  bool inference_metrics = false;  ///< whether logged loss and metrics are those of inference mode
  std::optional<std::string> nan;  ///< what happens if a loss or gradient is not finite
  Value watch;                     ///< list of "gradients" and "weights", whose norms are logged
  static void describe(Schema<FitOptions>& s);
};
/// The options that evaluate takes besides x and y.
struct CRESCENT_API EvaluateOptions {
  std::optional<int64_t> batch_size;  ///< nullopt: 32
  Value verbose = "auto";             ///< 0 silent, 1 progress bar, 2 one line, "auto": 1
  Value sample_weight;                ///< the weight of each sample
  std::optional<int64_t> steps;       ///< how many batches are used; nullopt: all
  Value callbacks;                    ///< a callback or a list of them
  bool return_dict = false;           ///< for the shell: return a table instead of a list
  static void describe(Schema<EvaluateOptions>& s);
};
/// The options that predict takes besides x.
struct CRESCENT_API PredictOptions {
  std::optional<int64_t> batch_size;  ///< nullopt: 32
  Value verbose = 0;                  ///< 0 silent, 1 progress bar, 2 one line
  std::optional<int64_t> steps;       ///< how many batches are used; nullopt: all
  Value callbacks;                    ///< a callback or a list of them
  static void describe(Schema<PredictOptions>& s);
};
struct CRESCENT_API SummaryOptions {
  std::optional<int64_t> line_length;  ///< the width of the table in characters
  std::vector<double> positions;       ///< right ends of the columns as fractions of the width
  bool expand_nested = false;          ///< show the layers of nested models
  bool show_trainable = false;         ///< show which layers are trainable
  bool flops = false;                  ///< show the arithmetic of each layer for one sample
  static void describe(Schema<SummaryOptions>& s);
};
/// The options that Model::profile takes besides x and y.
struct CRESCENT_API ProfileOptions {
  std::optional<int64_t> batch_size;  ///< nullopt: 32
  std::optional<int64_t> steps;       ///< timed steps; nullopt: as many as take about 0.25 s
  /// What a row of the table stands for: a "layer", an "op" or an "instruction"; "both" gives two
  /// tables, one of layers and one of ops.
  std::string by = "both";
  std::string sort = "time";           ///< rows by "time", or in "order" of execution
  std::optional<int64_t> line_length;  ///< the width of the tables in characters
  static void describe(Schema<ProfileOptions>& s);
};
/// The cost of a step. Rows are in order of execution; equal instructions of one layer share a row.
struct CRESCENT_API Profile {
  std::vector<ProfileEntry> rows;  ///< the rows; numbers are averages per step
  double seconds = 0;              ///< duration of a step without timers around its instructions
  int64_t batch_size = 0;
  std::vector<std::string> lines;  ///< the tables as text, formatted according to the options
};

/// The options that Model::validate takes besides x and y.
struct CRESCENT_API ValidateOptions {
  std::optional<int64_t> batch_size;  ///< nullopt: 32
  Value sample_weight;                ///< the weight of each sample
  static void describe(Schema<ValidateOptions>& s);
};
/// An instruction whose result differs from the expected one by more than its error bound.
/// `element` is the index of the element that exceeds its bound the most.
struct CRESCENT_API Finding {
  std::string step;  ///< "train_step", "test_step", "predict_step"
  /// The instruction with shapes, "matmul a'b 32x8, 32x4 -> 8x4", or the name of the value.
  std::string instruction;
  std::string layer;  ///< path of the layer that recorded the instruction, or empty
  /// The optimization pass that rewrote the value wrongly or created the instruction, or empty.
  std::string pass;
  std::string kernel;  ///< the kernel that computed the result, or empty when a pass is wrong
  std::vector<int64_t> element;  ///< index of the worst element, from 0
  double got = 0, expected = 0, bound = 0;
};
/// The result of Model::validate(), which compares the compiled steps with the recorded programs,
/// evaluated in float64.
struct CRESCENT_API Validation {
  bool ok() const { return findings.empty(); }
  std::vector<Finding> findings;   ///< the first finding of each step
  std::vector<std::string> steps;  ///< the steps that were checked
  int64_t instructions = 0;        ///< number of instructions of the recorded programs
  /// The number of results of kernels that were compared in the compiled programs.
  int64_t kernels = 0;
  /// The number of elements that were compared, and how many of these have no error bound.
  int64_t elements = 0, undecided = 0;
  /// Median of error / bound over the results of kernels with a nonzero error.
  double tightness = 0;
  std::vector<std::string> lines;  ///< the summary, line by line
};

using NamedValues = std::vector<std::pair<std::string, double>>;

/// The nesting of a model's inputs and outputs (structure.h).
struct Structures {
  Value inputs, outputs;
};

class Model;
using ModelPtr = std::shared_ptr<Model>;
class TrainingRun;
using TrainingRunPtr = std::shared_ptr<TrainingRun>;

class CRESCENT_API Model : public Layer {
 public:
  static void describe_members(Schema<Model>& s);
  Model();
  ~Model() override;

  // ---- training
  /// Compiles the model. The options are checked against their schema (schema_of<CompileOptions>).
  void compile(const Dict& options);
  bool compiled() const;
  /// Returns the history of the completed epochs, also after an interruption; evaluate and predict
  /// throw Interrupted instead.
  std::shared_ptr<History> fit(const Tensors& x, const Tensors& y, const Dict& options = {});
  std::shared_ptr<History> fit(DatasetPtr data, const Dict& options = {},
                               DatasetPtr validation = {});
  /// Begins fit and returns its TrainingRun (training_run.h), which advances batch by batch and
  /// keeps the model alive.
  TrainingRunPtr start_training(const Tensors& x, const Tensors& y, const Dict& options = {});
  TrainingRunPtr start_training(DatasetPtr data, const Dict& options = {},
                                DatasetPtr validation = {});
  /// The run that fit or start_training() began last, which may be paused or have ended; null when
  /// that object no longer exists.
  TrainingRunPtr training_run() const;
  /// Returns the loss and the metrics over all samples, by name.
  NamedValues evaluate(const Tensors& x, const Tensors& y, const Dict& options = {});
  NamedValues evaluate(DatasetPtr data, const Dict& options = {});
  /// Returns the outputs for all samples: one tensor (samples, ...) for each output of the model.
  Tensors predict(const Tensors& x, const Dict& options = {});
  Tensors predict(DatasetPtr data, const Dict& options = {});
  /// Returns the loss and metrics of this batch, or of all batches since the last reset if
  /// `reset_metrics` is false.
  NamedValues train_on_batch(const Tensors& x, const Tensors& y, const Tensors& sample_weight = {},
                             const Dict& class_weight = {}, bool reset_metrics = true);
  NamedValues test_on_batch(const Tensors& x, const Tensors& y, const Tensors& sample_weight = {},
                            bool reset_metrics = true);
  /// Returns the outputs for one batch, without callbacks.
  Tensors predict_on_batch(const Tensors& x);

  std::shared_ptr<Optimizer> optimizer() const;  ///< null before compile
  /// The metrics that track losses, the metrics of compile and those that layers add.
  std::vector<std::shared_ptr<Metric>> all_metrics() const;
  std::vector<std::string> metrics_names() const;
  /// Whether smaller (down) or larger values of the log with this name are better: down for losses,
  /// for a metric the direction of the metric, unknown for other names. A prefix "val_" is ignored.
  Direction direction_of(std::string_view log) const;
  void reset_metrics();                      ///< sets the states of all metrics to initial values
  std::shared_ptr<History> history() const;  ///< the history of the last fit
  bool stop_training = false;                ///< callbacks set it; fit checks it after each batch
  /// The arguments of compile as plain values, which files store as training_config; null when the
  /// model is not compiled.
  Value compile_config() const;
  /// The random generator that shuffles samples; its state is saved with the model.
  const SeedGenerator& shuffle_order() const;
  /// The number of epochs trained so far in all calls of fit, which is saved with the model. The
  /// option initial_epoch of fit is independent of it.
  int64_t epochs_trained() const;
  void set_epochs_trained(int64_t epochs);
  /// The state with which training can be resumed; it is saved with the model. "callbacks" is a
  /// list of {class_name, config, state} of the callbacks of the current or the last run
  /// (callback.h); the first run after set_run_state() restores these states. While a run is
  /// unfinished, its position is included too, for TrainingRun::restore.
  Value run_state() const;
  void set_run_state(const Value& state);
  /// Discards the compiled steps. A change of structure_version() has the same effect.
  void forget_programs();

  // ---- structure
  /// The layers of a model that is a graph, including layers that only call a function of ops, such
  /// as the one for `x + 1`; for any other model, its sublayers.
  virtual std::vector<LayerPtr> operations() const;
  /// The operations() without the layers that only call a function of ops.
  std::vector<LayerPtr> layers() const;
  /// Fails with "No such layer: NAME" and a suggestion.
  LayerPtr get_layer(std::string_view name) const;
  LayerPtr get_layer(int64_t index) const;     ///< indices count from 0
  virtual std::vector<Symbol> inputs() const;  ///< fails for a model that is not a graph
  virtual std::vector<Symbol> outputs() const;
  virtual std::vector<std::string> input_names() const;
  virtual std::vector<std::string> output_names() const;
  /// Returns the nesting of inputs() and outputs(); for a model that is not a graph, the nesting in
  /// its last call.
  virtual Structures structures() const;
  /// For a model that is not a graph: sets how the inputs passed to the next fit, evaluate or
  /// predict are nested.
  void set_input_structure(Value structure);
  virtual bool is_graph() const { return false; }
  bool stateful() const override;
  void reset_states() override;
  Variables weights_in_keras_order() const override;

  /// Lines of the summary in the layout of Keras 2.3.1: a row for each layer with its output shape
  /// and number of parameters, then the totals. The options are those of SummaryOptions.
  std::vector<std::string> summary(const Dict& options = {}) const;
  /// Measures the time of a training step, or without `y` of a predict step, instruction by
  /// instruction. Runs steps on the first batch of x and y and restores the variables afterwards.
  /// The first profile of a model compiles the step.
  Profile profile(const Tensors& x, const Tensors& y = {}, const Dict& options = {});
  /// Checks the compiled steps (training, testing and prediction; without `y` prediction alone) on
  /// the first batch of x and y. Evaluates the recorded program and the optimized program in
  /// float64 and compares them, and compares each kernel's result with float64, within bounds of
  /// the rounding errors. The model is unchanged afterwards.
  Validation validate(const Tensors& x, const Tensors& y = {}, const Dict& options = {});
  /// Calls the model on `x` op by op and describes the output of every layer.
  LayerTrace trace(const Tensors& x, const Dict& options = {});
  /// Norms of weights and of their gradients on the first batch of x and y.
  GradientNorms gradient_norms(const Tensors& x, const Tensors& y, const Dict& options = {});
  /// Trains on batches of x and y at growing learning rates, then restores the model.
  LearningRateCurve find_learning_rate(const Tensors& x, const Tensors& y,
                                       const Dict& options = {});
  /// Returns the architecture as JSON, which model_from_json and Keras read. A format plugin
  /// translates Crescent's configuration to that of Keras; the options, such as "target", are those
  /// of this plugin. Without such a plugin, Crescent's configuration is written.
  std::string to_json(const Dict& options = {}) const;

  bool supports_masking() const override { return true; }

 private:
  struct Training;  // the compiled steps and the state of training, defined in core/src
  friend struct ModelAccess;
  /// Called with the shapes of data before these are checked against the inputs of the graph.
  virtual void adapt(const std::vector<Shape>& /*input_shapes*/) const {}
  std::unique_ptr<Training> training_;
  Value input_structure_;
};

/// A lock that keeps other threads out of the steps of a model. It is recursive. Its holder must
/// not wait for another thread that uses the model.
class CRESCENT_API StepLock {
 public:
  explicit StepLock(const Model& model);
  ~StepLock();
  StepLock(const StepLock&) = delete;

 private:
  const Model& model_;
};

/// A graph of layers from inputs to outputs. Nodes are in topological order. Each tensor of the
/// graph has a number (slot), and exactly one call of a layer computes it. If the inputs or outputs
/// are nested, the lists inputs() and outputs() are in the order of the nesting; inputs and outputs
/// in a dictionary are named by its keys.
class CRESCENT_API Functional : public Model {
 public:
  static void describe(Schema<Functional>& s);
  ~Functional() override;
  static std::shared_ptr<Functional> make(std::vector<Symbol> inputs, std::vector<Symbol> outputs,
                                          std::string name = "", bool trainable = true,
                                          Structures structures = {});
  void build(const std::vector<Shape>& input_shapes) override;
  Tensors call(const Tensors& inputs, const Call& call) override;
  Tensors compute_mask(const Tensors& inputs, const Tensors& masks,
                       const Tensors& outputs) override;
  std::vector<LayerPtr> operations() const override;
  std::vector<Symbol> inputs() const override;
  std::vector<Symbol> outputs() const override;
  std::vector<std::string> input_names() const override;
  std::vector<std::string> output_names() const override;
  Structures structures() const override;
  bool is_graph() const override { return graph_ != nullptr; }
  bool takes_structures() const override { return true; }
  Dict get_config() const override;

  // ---- losses and metrics on symbols that depend on the model's inputs, as in Keras 2
  using Layer::add_loss;
  using Layer::add_metric;
  /// Adds the mean of `loss` to the loss of training.
  void add_loss(const Symbol& loss);
  /// Reports the mean of `value` over the batches under this name.
  void add_metric(const Symbol& value, const std::string& name);

 protected:
  std::vector<Symbol> graph_inputs() const override {
    return is_graph() ? inputs() : std::vector<Symbol>{};
  }
  std::vector<Symbol> graph_outputs() const override {
    return is_graph() ? outputs() : std::vector<Symbol>{};
  }

 private:
  struct Graph;
  struct LossOrMetric;
  friend struct ModelAccess;
  void add(const LossOrMetric& loss_or_metric, Tensor value);
  void add_to_graph(const LossOrMetric& loss_or_metric, const char* method);
  std::shared_ptr<const Graph> graph_;
  Structures structures_;
};

/// A stack of layers. Without an input shape, the model is built for the shapes of the first data;
/// later data may have other sizes if the layers accept them. Changes inside layers, also in nested
/// models, take effect in this model.
class CRESCENT_API Sequential final : public Functional {
 public:
  static void describe(Schema<Sequential>& s);
  static void describe_members(Schema<Sequential>& s);
  Sequential();
  ~Sequential() override;
  static std::shared_ptr<Sequential> make(const std::vector<LayerPtr>& layers = {},
                                          std::string name = "");
  /// Appends a layer. Fails for null, for an InputLayer that is not first, for a layer whose name
  /// is taken, and for a model that contains this one.
  void add(const LayerPtr& layer);
  void pop();  ///< removes the last layer; fails if there is none
  void build(const std::vector<Shape>& input_shapes) override;
  Tensors call(const Tensors& inputs, const Call& call) override;
  std::vector<LayerPtr> operations() const override;  ///< all layers except the InputLayer
  std::vector<Symbol> inputs() const override;
  std::vector<Symbol> outputs() const override;
  bool is_graph() const override;
  Dict get_config() const override;

 private:
  struct Stack;
  void update_after_changes() const;
  void store_symbols(std::vector<Symbol> symbols) const;
  void adapt(const std::vector<Shape>& input_shapes) const override;
  std::unique_ptr<Stack> stack_;
};

// ---- configurations
/// Makes a model from {"class_name": "Sequential" | "Functional" | "Model", "config": ...}, or from
/// the value of "config" alone. Configurations of all versions of Keras are accepted if a format
/// plugin that translates them is installed; those of Crescent need no plugin. `custom_objects`
/// maps class names to registered names.
CRESCENT_API ModelPtr model_from_config(const Value& config, const Value& custom_objects = {});
CRESCENT_API ModelPtr model_from_json(std::string_view json, const Value& custom_objects = {});
/// Returns the configuration of a model, {"class_name", "config"}.
CRESCENT_API Value model_config(const Model& model);
/// Returns a model with the same configuration and new weights, which is not compiled.
CRESCENT_API ModelPtr clone_model(const Model& model);

}  // namespace crescent
