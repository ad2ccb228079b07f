// The state of a compiled model and the steps made from it.
#pragma once
#include <thread>

#include "base/readers_writer_lock.h"
#include "program/batch_share.h"
#include "random/row_draws.h"
#include "random/seeding.h"
#include "training/state/compiled_flags.h"
#include "training/state/model_access.h"

namespace crescent {

using MetricPtr = std::shared_ptr<Metric>;

/// The loss and the metrics of one output.
struct OutputTraining {
  std::string name;  ///< the output's name in data and in the options of compile
  std::string loss_name, metric_prefix;  ///< from which the names in logs are made
  std::shared_ptr<Loss> loss;            ///< null: the output is not trained
  double weight = 1;
  MetricPtr tracker;  ///< mean of the loss; null when no other output has a loss
  std::vector<MetricPtr> metrics, weighted_metrics;
};

/// Whether the output has a loss or metrics.
bool needs_target(const OutputTraining& output);
/// The index of an output's target among `targets` targets, of which there is one per output or one
/// per output that needs one; `targets` when the output has none.
size_t target_place(const std::vector<OutputTraining>& outputs, size_t output, size_t targets);

/// Additional work of a training step.
struct StepExtras {
  bool inference_metrics = false;  ///< whether loss and metrics are computed in inference mode
  bool checks_finite = false;      ///< whether the step throws NotFinite before an update
  /// Whether the logs include these norms of each layer.
  bool gradient_norms = false, weight_norms = false;
  /// The rows of the batch that `x` has; targets and weights are those of the whole batch.
  Share share = {};
  bool operator==(const StepExtras&) const = default;
};

/// How a batch is flattened into the inputs of a compiled step: inputs, targets, and the sample
/// weights that are present.
struct StepLayout {
  size_t x = 0, y = 0;
  std::vector<bool> weighted;  ///< per output: whether it has sample weights
  StepExtras extras;

  /// Restores the batch from the flat tensors.
  Batch batch_of(const Tensors& flat) const;
  bool operator==(const StepLayout&) const = default;
};

/// The properties of an output that select its losses and metrics and name its logs.
struct OutputKey {
  std::string name;   ///< the output's name in data and in the options of compile
  std::string layer;  ///< the layer that computes it; as in Keras, outputs may share one
  int64_t width = 1;
  bool operator==(const OutputKey&) const = default;
};
struct OutputKeys {
  Value structure;  ///< how the outputs are nested (structure.h)
  std::vector<OutputKey> outputs;
  bool operator==(const OutputKeys&) const = default;
};

/// The lock for steps of a model, whose readers are predictions, and the owner of its metrics.
struct StepOwnership {
  ReadersWriterLock lock;
  std::thread::id metrics_owner;  ///< the thread that trains or evaluates, if metrics_scopes > 0
  int metrics_scopes = 0;         ///< number of its MetricsScopes
};

/// The training runs of a model and what they leave behind.
struct RunRecord {
  SeedGenerator order;                ///< shuffles the samples
  int64_t seed = last_random_seed();  ///< the seed of the process when `order` was seeded
  int64_t epochs = 0;
  std::shared_ptr<History> history;
  std::weak_ptr<TrainingRun> run;  ///< the current run, which may be paused
  Value last_state;                ///< state of the last run, for run_state()
  bool last_state_is_loaded =
      false;  ///< whether it came from a file; then the next run restores it
};

/// The arguments of compile.
struct CompileSpec {
  bool compiled = false;
  CompileOptions options;
  std::shared_ptr<Optimizer> optimizer;
  MetricPtr loss;  ///< tracks the mean loss
};

/// The losses and metrics of the outputs.
struct OutputPlan {
  OutputKeys keys;                      ///< the keys for which `outputs` was planned
  std::vector<OutputTraining> outputs;  ///< empty until the outputs of the model are known
};

/// The variables that training steps update.
struct TrainedVariables {
  CompiledFlags flags;
  Variables variables;
  bool collected = false;       ///< whether `variables` is set
  uint64_t trainable_seen = 0;  ///< trainable_changes() at the last check
  /// Whether the user was warned that other variables, or none, are trainable now.
  bool warned = false;
};

/// The names of the results of a step: its own logs, then norms.
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

/// The compiled steps, valid for one structure version.
struct StepCache {
  uint64_t structure_seen = 0, constraints_seen = 0;
  bool planned = false;  ///< whether everything is built and planned
  std::vector<CompiledLayoutPtr> train, test;
  Function predict, results;
  int64_t predict_key = 0;  ///< trainable_key() at predict_trainable
  uint64_t predict_trainable = 0;
  std::vector<int64_t> result_sizes;  ///< number of elements of each metric's result

  // Members that are kept so that the next batch can reuse their memory:
  StepLayout layout;
  Tensors inputs;
  Tensors logs;            ///< logs of the last step, followed by its norms
  CompiledLayoutPtr last;  ///< the last step

  /// Drops the steps when the structure changes.
  void forget();
};

/// The step that is being traced or runs eagerly.
struct TracedStep {
  bool inference_metrics = false;   ///< whether metrics should be computed in inference mode
  bool measured_inference = false;  ///< whether the step has computed them in inference mode
  Share share;                      ///< the rows of the batch that the model is called on
};

struct Model::Training {
  StepOwnership ownership;
  RunRecord runs;
  CompileSpec spec;
  OutputPlan plan;
  TrainedVariables trained;
  StepCache steps;
  TracedStep traced;
};

/// The options of compile, with objects where objects were given.
Dict compile_options(const CompileSpec& spec);
/// Compiles `to`, a model made from `from`, with the same optimizer, losses and metrics, so that
/// training continues; does nothing if `from` is not compiled.
void carry_training(const Model& from, Model& to);

/// The keys of outputs that do not come from layers of a graph.
OutputKeys output_keys(const std::vector<std::string>& names, const Value& structure,
                       const std::vector<Shape>& shapes);
/// The keys of a graph's outputs.
OutputKeys output_keys(const Model& graph);
/// Makes the losses and metrics for these outputs. Fails with the messages of Keras.
std::vector<OutputTraining> plan_outputs(const CompileOptions& options, const OutputKeys& outputs);

/// A compiled step and its arguments.
struct CompiledStep {
  Function function;
  Tensors inputs;
  int64_t key;
};

/// Makes and runs the steps of a model: builds layers, compiles, runs. Each call holds a StepLock;
/// a prediction does until its program is found and runs.
class Stepper {
 public:
  explicit Stepper(Model& model);
  /// Builds the model and its optimizer for inputs with these specs.
  void prepare(const Tensors& x);
  void train(const Batch& batch, const StepExtras& extras = {}) { run(batch, true, extras); }
  void test(const Batch& batch, const StepExtras& extras = {}) { run(batch, false, extras); }
  /// Runs the training step op by op, and undoes what it changed.
  void rehearse_eagerly(const Batch& batch);
  /// Writes the results to `outputs`, reusing their memory unless other handles share it.
  void predict(const Tensors& x, Tensors& outputs);
  CompiledStep compiled_train(const Batch& batch);
  CompiledStep compiled_test(const Batch& batch);
  CompiledStep compiled_predict(const Tensors& x);
  /// The current loss and metrics in Keras' order. The elements of a result are "name[0]", ...
  NamedValues results();

 private:
  void run(const Batch& batch, bool training, const StepExtras& extras);
  void follow_structure();
  Tensors build(const Tensors& x);
  void build_and_plan(const Tensors& x);
  void mark_planned();
  void rehearse(const Batch& batch);
  void collect_trained();
  CompiledLayoutPtr lay_out(const Batch& batch, bool training, const StepExtras& extras = {});
  CompiledLayoutPtr compiled_layout(bool training);
  const Function& predict_function(const Tensors& x);
  Tensors step(const Batch& batch, bool training, const StepExtras& extras, StepNames& names);
  void add_own_logs(NamedValues& values) const;
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
