// What compile leaves in a model, and the steps made from it.
#pragma once
#include <mutex>
#include <thread>

#include "training/state/compiled_flags.h"
#include "training/state/model_access.h"

namespace crescent {

using MetricPtr = std::shared_ptr<Metric>;

/// Loss and metrics of one output.
struct OutputTraining {
  std::string name;                      ///< in data and in options of compile
  std::string loss_name, metric_prefix;  ///< what is shown goes by
  std::shared_ptr<Loss> loss;            ///< null: this output is not trained
  double weight = 1;
  MetricPtr tracker;  ///< mean of the loss; null when no other output has a loss
  std::vector<MetricPtr> metrics, weighted_metrics;
};

/// Outputs without a loss and metrics have no use for targets.
bool needs_target(const OutputTraining& output);
/// Which of so many targets is that of an output: there is one for each output, or for each that
/// needs one; `targets` where there is none for it.
size_t target_place(const std::vector<OutputTraining>& outputs, size_t output, size_t targets);

/// How a batch is flattened into the inputs of a compiled step: inputs, targets, the sample weights
/// that there are.
struct StepLayout {
  size_t x = 0, y = 0;
  std::vector<bool> weighted;  ///< per output
  bool inference_metrics = false;

  /// The batch of which these are the tensors.
  Batch batch_of(const Tensors& flat) const;
  bool operator==(const StepLayout&) const = default;
};

/// What losses and metrics of an output are chosen by, and what names them.
struct OutputKey {
  std::string name;   ///< in data and in options of compile
  std::string layer;  ///< that gives it; as Keras, two outputs may have the same
  int64_t width = 1;
  bool operator==(const OutputKey&) const = default;
};
struct OutputKeys {
  Value structure;  ///< structure.h
  std::vector<OutputKey> outputs;
  bool operator==(const OutputKeys&) const = default;
};

/// Who uses the model: steps come one after the other.
struct StepTurn {
  std::recursive_mutex mutex;  ///< of the thread that is in a step
  std::thread::id counting;    ///< the thread that trains or evaluates,
  int countings = 0;           ///< if it does
};

/// Training runs, and what they leave.
struct RunRecord {
  SeedGenerator order;  ///< of the samples
  int64_t epochs = 0;
  std::shared_ptr<History> history;
  std::weak_ptr<TrainingRun> run;  ///< that goes on, or is paused
  Value left;                      ///< by the last run, for run_state()
  bool left_is_loaded = false;     ///< it came from a file: the next run goes on with it
};

/// What compile was given.
struct CompileSpec {
  bool compiled = false;
  CompileOptions options;
  std::shared_ptr<Optimizer> optimizer;
  MetricPtr loss;  ///< its mean
};

/// Losses and metrics of the outputs.
struct OutputPlan {
  OutputKeys keys;                      ///< what `outputs` were planned for
  std::vector<OutputTraining> outputs;  ///< empty until the model's outputs are known
};

/// The variables that steps train.
struct TrainedVariables {
  CompiledFlags flags;
  Variables variables;
  bool collected = false;       ///< `variables` are known
  uint64_t trainable_seen = 0;  ///< trainable_changes() that was looked at last
  bool warned = false;          ///< that something else is trainable now, or that nothing is
};

/// A step for batches of one layout, and what its results are called. It is traced once for each
/// signature.
struct CompiledLayout {
  StepLayout layout;
  Function function;
  std::shared_ptr<std::vector<std::string>> names;
};
using CompiledLayoutPtr = std::shared_ptr<const CompiledLayout>;

/// Compiled steps, for the structure that was seen last.
struct StepCache {
  uint64_t structure_seen = 0, constraints_seen = 0;
  bool settled = false;  ///< all is built and planned
  std::vector<CompiledLayoutPtr> train, test;
  Function predict, results;
  int64_t predict_key = 0;  ///< trainable_key() when trainable_changes() was:
  uint64_t predict_trainable = 0;
  std::vector<int64_t> result_sizes;  ///< how many numbers each metric's result has

  // Kept from batch to batch, for their memory:
  StepLayout layout;
  Tensors inputs;
  Tensors logs;            ///< that the last step gave,
  CompiledLayoutPtr last;  ///< which was this one

  /// What was compiled for another structure.
  void forget();
};

/// The step that is being traced, or runs eagerly.
struct TracedStep {
  bool inference_metrics = false;   ///< metrics are to be those of inference mode
  bool measured_inference = false;  ///< and the step did so
};

struct Model::Training {
  StepTurn turn;
  RunRecord runs;
  CompileSpec spec;
  OutputPlan plan;
  TrainedVariables trained;
  StepCache steps;
  TracedStep traced;
};

/// Of outputs that have no layers.
OutputKeys output_keys(const std::vector<std::string>& names, const Value& structure,
                       const std::vector<Shape>& shapes);
/// Of a graph's outputs.
OutputKeys output_keys(const Model& graph);
/// Losses and metrics for these outputs. Fails in Keras' words on what does not fit.
std::vector<OutputTraining> plan_outputs(const CompileOptions& options, const OutputKeys& outputs);

/// A step in its compiled form and what it is to be called with.
struct CompiledStep {
  Function function;
  Tensors inputs;
  int64_t key;
};

/// Makes the steps of a model run: builds what is not built, compiles, runs. Each takes a turn.
class Stepper {
 public:
  explicit Stepper(Model& model);
  /// Builds the model and what trains it, for inputs like these.
  void prepare(const Tensors& x);
  void train(const Batch& batch, bool inference_metrics = false) {
    run(batch, true, inference_metrics);
  }
  void test(const Batch& batch) { run(batch, false, false); }
  /// Into `outputs`, whose memory is used again where nobody else has it.
  void predict(const Tensors& x, Tensors& outputs);
  CompiledStep compiled_train(const Batch& batch);
  CompiledStep compiled_test(const Batch& batch);
  CompiledStep compiled_predict(const Tensors& x);
  /// Loss and metrics so far, in Keras' order. A result of several numbers is "name[0]", ...
  NamedValues results();

 private:
  void run(const Batch& batch, bool training, bool inference_metrics);
  void follow_structure();
  Tensors build(const Tensors& x);
  void settle(const Tensors& x);
  void settle_parts();
  void rehearse(const Batch& batch);
  void collect_trained();
  CompiledLayoutPtr lay_out(const Batch& batch, bool training, bool inference_metrics = false);
  CompiledLayoutPtr compiled_layout(bool training);
  const Function& predict_function(const Tensors& x);
  Tensors step(const Batch& batch, bool training, bool inference_metrics,
               std::vector<std::string>& names);
  NamedValues own_logs() const;

  Model& model_;
  ModelAccess::Training& state_;
};

/// Names and metrics of the results, in Keras' order: the loss first.
std::vector<std::pair<std::string, MetricPtr>> named_metrics(const Model& model);
/// The name a metric goes by.
std::string metric_name(const Metric& metric);

}  // namespace crescent
