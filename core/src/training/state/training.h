// The state of a compiled model and the steps made from it.
#pragma once
#include <atomic>
#include <thread>

#include "base/readers_writer_lock.h"
#include "program/batch_share.h"
#include "program/recording/lockstep.h"
#include "random/row_draws.h"
#include "random/seeding.h"
#include "training/state/compiled_flags.h"
#include "training/state/model_access.h"

namespace crescent {

using MetricPtr = std::shared_ptr<Metric>;

/// The loss and the metrics of one output.
struct OutputTraining {
  std::string name;            ///< the output's name in data and in the options of compile
  std::string loss_name;       ///< the beginning of the name of the loss in logs
  std::string metric_prefix;   ///< the beginning of the names of the metrics in logs
  std::shared_ptr<Loss> loss;  ///< null: the output is not trained
  double weight = 1;
  MetricPtr loss_mean;  ///< tracks the mean of the loss; null if no other output has a loss
  std::vector<MetricPtr> metrics, weighted_metrics;
};

/// Whether the output has a loss or metrics.
bool needs_target(const OutputTraining& output);
/// Returns the index of an output's target among the targets of a batch. There are `target_count`
/// targets: one for each output, or one for each output with a loss or metrics. Returns
/// `target_count` for an output without a target.
size_t target_index_of(const std::vector<OutputTraining>& outputs, size_t output_index,
                       size_t target_count);
/// Fails for a batch with another number of targets than the outputs need.
[[noreturn]] void fail_target_count(const std::vector<OutputTraining>& outputs,
                                    size_t target_count);

/// What a training step does besides computing its logs and updating the weights.
struct StepExtras {
  bool inference_metrics = false;  ///< whether loss and metrics are computed in inference mode
  bool checks_finite = false;      ///< whether the step throws NotFinite before an update
  /// Whether the logs include these norms of each layer.
  bool gradient_norms = false, weight_norms = false;
  /// The rows of the batch that the inputs contain; targets and weights are always those of the
  /// whole batch.
  Share share = {};
  bool operator==(const StepExtras&) const = default;
};

/// The layout of a batch as the flat list of inputs of a compiled step: the inputs of the model,
/// the targets, and the sample weights that are present.
struct StepLayout {
  size_t x_count = 0, y_count = 0;  ///< the numbers of inputs of the model and of targets
  std::vector<bool> is_weighted;    ///< for each output, whether it has sample weights
  StepExtras extras;

  /// Makes a batch of the flattened tensors.
  Batch batch_of(const Tensors& flat_tensors) const;
  bool operator==(const StepLayout&) const = default;
};

/// The properties of an output that determine its losses and metrics and the names of its logs.
struct OutputKey {
  std::string name;        ///< the output's name in data and in the options of compile
  std::string layer_name;  ///< the layer that computes the output, and possibly further outputs
  int64_t width = 1;       ///< the size of its last axis
  bool operator==(const OutputKey&) const = default;
};
struct OutputKeys {
  Value structure;  ///< how the outputs are nested (structure.h)
  std::vector<OutputKey> outputs;
  bool operator==(const OutputKeys&) const = default;
};

/// The lock for the steps of a model, and the thread that updates its metrics. Predictions take the
/// lock as readers, so they may run at the same time.
struct StepOwnership {
  ReadersWriterLock lock;
  std::thread::id metrics_owner;  ///< the thread that trains or evaluates, if metrics_scopes > 0
  int metrics_scopes = 0;         ///< number of MetricsScopes of that thread
};

/// The current training run of a model, and what earlier runs have left.
struct RunRecord {
  SeedGenerator shuffle_order;        ///< shuffles the samples of fit
  int64_t seed = last_random_seed();  ///< the seed of the process when shuffle_order was seeded
  int64_t epochs_trained = 0;
  std::shared_ptr<History> history;
  std::weak_ptr<TrainingRun> current_run;  ///< the current run, which may be paused
  Value last_state;                        ///< state of the last run, for run_state()
  /// Whether last_state was read from a file; if so, the next run restores it.
  bool last_state_is_loaded = false;
};

/// The arguments of compile.
struct CompileSpec {
  bool is_compiled = false;
  CompileOptions options;
  std::shared_ptr<Optimizer> optimizer;
  MetricPtr loss;  ///< tracks the mean loss
};

/// The losses and metrics of the outputs.
struct OutputPlan {
  OutputKeys keys;                      ///< the keys for which `outputs` was made
  std::vector<OutputTraining> outputs;  ///< empty until the outputs of the model are known
};

/// The variables that training steps update, and the flags `trainable` with which the model was
/// compiled.
struct TrainedVariables {
  CompiledFlags flags;
  Variables variables;
  bool is_collected = false;       ///< whether `variables` is set
  uint64_t trainable_version = 0;  ///< the value of trainable_changes() at the last check
  /// Whether a warning said that no variable is trainable, or that other variables than `variables`
  /// are trainable now.
  bool has_warned = false;
};

/// The names of the logs that a step returns, and of the norms that StepWatch adds to them.
struct StepNames {
  std::vector<std::string> logs, norms;
};

/// A step for batches of one layout and the names of its results. It is traced once per signature.
struct CompiledLayout {
  StepLayout layout;
  Function function;
  std::shared_ptr<StepNames> names;
};
using CompiledLayoutPtr = std::shared_ptr<const CompiledLayout>;

/// The compiled steps. They are valid as long as the structure and the constraints of the model
/// have the versions below.
struct StepCache {
  uint64_t structure_version = 0, constraint_version = 0;
  bool is_planned = false;  ///< whether the layers are built and the outputs planned
  std::vector<CompiledLayoutPtr> train_layouts, test_layouts;
  Function predict_function, results_function;
  int64_t predict_key = 0;  ///< trainable_key(), with which predict_function is called
  uint64_t predict_trainable_version = 0;  ///< trainable_changes() when predict_key was computed
  std::vector<int64_t> result_sizes;       ///< number of elements of each metric's result

  // The following members are kept so that the next batch can reuse their memory.
  StepLayout layout;
  Tensors inputs;
  Tensors log_values;           ///< logs of the last step, followed by its norms
  CompiledLayoutPtr last_step;  ///< the step that ran last

  /// Discards the steps, for example after a change of the model's structure.
  void forget();
};

/// The state of the step that is being traced or that runs eagerly.
struct TracedStep {
  bool inference_metrics = false;       ///< whether metrics should be computed in inference mode
  bool has_measured_inference = false;  ///< whether the step has computed metrics in inference mode
  Share share;                          ///< the rows of the batch that the model is called on
  ShardReads shard_reads;  ///< values of variables that the shards of the last call read
};

/// Flags that callbacks set to end an evaluation or a prediction after the batch.
struct StopRequests {
  std::atomic<bool> evaluating = false, predicting = false;
};

struct Model::Training {
  StepOwnership ownership;
  StopRequests stop_requests;
  RunRecord runs;
  CompileSpec spec;
  OutputPlan plan;
  TrainedVariables trained_variables;
  StepCache step_cache;
  TracedStep traced_step;
};

/// Returns the options of compile; losses, metrics and optimizers that the user passed as objects
/// are not converted to configurations.
Dict compile_options(const CompileSpec& spec);
/// Compiles `to`, a model made from `from`, with the same optimizer, losses and metrics, so that
/// training continues; does nothing if `from` is not compiled.
void carry_training(const Model& from, Model& to);

/// The keys of the outputs of a model that is not a graph.
OutputKeys output_keys(const std::vector<std::string>& names, const Value& structure,
                       const std::vector<Shape>& shapes);
/// The keys of a graph's outputs.
OutputKeys output_keys(const Model& graph);
/// Makes the losses and metrics for these outputs. Fails with the messages of Keras.
std::vector<OutputTraining> plan_outputs(const CompileOptions& options, const OutputKeys& keys);

/// Makes the metrics of the options of compile for an output of unknown shape, except metrics that
/// the options assign to single outputs.
std::vector<MetricPtr> metrics_of_any_output(const CompileOptions& options);

/// A compiled step and its arguments.
struct CompiledStep {
  Function function;
  Tensors inputs;
  int64_t function_key;
};

/// Builds the layers of a model, and makes and runs its steps while it holds a StepLock. predict()
/// releases the lock as soon as the program of the step has been found, before the program runs.
class Stepper {
 public:
  explicit Stepper(Model& model);
  /// Builds the model and its optimizer for inputs with the specs of `x`. Does nothing if only a
  /// step can build the model.
  void prepare(const Tensors& x);
  /// Creates the variables that the first step on a batch like `example_batch` would create, for
  /// example in metrics; other variables keep their values.
  void create_step_variables(const Batch& example_batch, bool training, const StepExtras& extras);
  void train(const Batch& batch, const StepExtras& extras = {}) { run(batch, true, extras); }
  void test(const Batch& batch, const StepExtras& extras = {}) { run(batch, false, extras); }
  /// Runs the training step op by op and restores all variables that it changed.
  void run_and_restore(const Batch& batch);
  /// Writes the predictions to `outputs`, reusing their memory unless other handles share it.
  void predict(const Tensors& x, Tensors& outputs);
  CompiledStep compiled_train(const Batch& batch, const StepExtras& extras = {});
  CompiledStep compiled_test(const Batch& batch);
  CompiledStep compiled_predict(const Tensors& x);
  /// The current loss and metrics in Keras' order. A result with several elements has the names
  /// "name[0]", "name[1]", ...
  NamedValues results();

 private:
  void run(const Batch& batch, bool training, const StepExtras& extras);
  void forget_outdated_steps();
  Tensors build(const Tensors& x);
  void build_and_plan(const Tensors& x);
  void mark_planned();
  void build_by_step(const Batch& batch);
  void collect_trained();
  CompiledLayoutPtr flatten_batch(const Batch& batch, bool training, const StepExtras& extras = {});
  CompiledLayoutPtr compiled_layout(bool training);
  const Function& predict_function(const Tensors& x);
  Tensors step(const Batch& batch, bool training, const StepExtras& extras, StepNames& names);
  void add_step_logs(NamedValues& values) const;
  void add_norms(NamedValues& values) const;
  void add_metrics(NamedValues& values);

  Model& model_;
  ModelAccess::Training& state_;
};

/// The names and metrics of the results in Keras' order: the loss first.
std::vector<std::pair<std::string, MetricPtr>> named_metrics(const Model& model);
/// The name of a metric in logs.
std::string metric_name(const Metric& metric);

}  // namespace crescent
