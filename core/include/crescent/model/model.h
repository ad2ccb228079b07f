// Models: a Layer that also trains. Sequential and Functional are graphs of layers; derive from
// Model for anything else.
//
//   auto model = Sequential::make({make<Layer>("Dense", {{"units", 10}, {"input_shape",
//   List{4}}})}); model->compile({{"optimizer", "adam"}, {"loss", "mse"}}); model->fit({x}, {y},
//   {{"epochs", 3}});
//
// Threads: predict may run on several threads at once, and beside one thread that trains or
// evaluates: steps of one model take turns. A second thread that trains or evaluates meanwhile is
// refused, since both would count in the same metrics. Who does anything else with a model that
// other threads use (assigns or saves weights, calls it as a layer, compiles or changes it) has a
// StepLock meanwhile. Models that share layers do not know of each other: their threads take turns
// by themselves.
#pragma once
#include "crescent/data/data.h"
#include "crescent/layer/layer.h"
#include "crescent/model/callback.h"
#include "crescent/program/program.h"
#include "crescent/system/interrupt.h"

namespace crescent {

/// Options of compile, in Keras' order.
struct CRESCENT_API CompileOptions {
  Value optimizer = "rmsprop", loss, metrics, loss_weights, weighted_metrics;
  bool run_eagerly = false;
  int64_t steps_per_execution = 1;
  Value jit_compile = "auto";  ///< accepted, always compiled
  bool auto_scale_loss = true;
  bool mask_as_weights = false;
  static void describe(Schema<CompileOptions>& s);
};

/// Options of fit after x and y, in Keras' order.
struct CRESCENT_API FitOptions {
  std::optional<int64_t> batch_size;  ///< 32
  int64_t epochs = 1;
  Value verbose = "auto";  ///< 0 quiet, 1 bar, 2 a line an epoch, "auto": 1
  Value callbacks;         ///< a callback or a list of them
  double validation_split = 0;
  Value validation_data;  ///< list {x, y[, sample_weight]} of boxed tensors
  Value shuffle = true;   ///< or "batch"
  Value class_weight, sample_weight;
  int64_t initial_epoch = 0;
  std::optional<int64_t> steps_per_epoch, validation_steps, validation_batch_size;
  Value validation_freq = 1;
  Value resume = false;  ///< true or the path of a file: go on with an earlier run
  bool inference_metrics = false;
  static void describe(Schema<FitOptions>& s);
};
struct CRESCENT_API EvaluateOptions {  // after x and y
  std::optional<int64_t> batch_size;
  Value verbose = "auto", sample_weight;
  std::optional<int64_t> steps;
  Value callbacks;
  bool return_dict = false;
  static void describe(Schema<EvaluateOptions>& s);
};
struct CRESCENT_API PredictOptions {  // after x
  std::optional<int64_t> batch_size;
  Value verbose = 0;
  std::optional<int64_t> steps;
  Value callbacks;
  static void describe(Schema<PredictOptions>& s);
};
struct CRESCENT_API SummaryOptions {
  std::optional<int64_t> line_length;
  std::vector<double> positions;
  bool expand_nested = false, show_trainable = false;
  static void describe(Schema<SummaryOptions>& s);
};
struct CRESCENT_API ProfileOptions {  // after x and y
  std::optional<int64_t> batch_size, steps;
  std::string by = "both", sort = "time";
  std::optional<int64_t> line_length;
  static void describe(Schema<ProfileOptions>& s);
};
/// What a step costs. Rows follow the order of running; what a layer does several times alike is
/// one row.
struct CRESCENT_API Profile {
  std::vector<ProfileRow> rows;  ///< of one step, on average
  double seconds = 0;            ///< a step takes when nothing in it is timed
  int64_t batch_size = 0;
  std::vector<std::string> lines;  ///< the tables, laid out as the options say
};

struct CRESCENT_API ValidateOptions {  // after x and y
  std::optional<int64_t> batch_size;
  Value sample_weight;
  static void describe(Schema<ValidateOptions>& s);
};
/// What is beyond its bound: an element of an instruction's result, the worst there is.
struct CRESCENT_API Finding {
  std::string step;         ///< "train_step", "test_step", "predict_step"
  std::string instruction;  ///< with shapes, "matmul a'b 32x8, 32x4 -> 8x4"; or whose value it is
  std::string layer;        ///< path of the layer that asked for it, or empty
  std::string pass;         ///< that rewrote it wrongly or made the instruction, or empty
  std::string kernel;       ///< that computed it, or empty where the rewriting is at fault
  std::vector<int64_t> element;  ///< from 0
  double got = 0, expected = 0, bound = 0;
};
/// A model's compiled steps beside their plain form in float64.
struct CRESCENT_API Validation {
  bool ok() const { return findings.empty(); }
  std::vector<Finding> findings;        ///< of each step the first
  std::vector<std::string> steps;       ///< that were checked
  int64_t instructions = 0;             ///< of the plain programs
  int64_t kernels = 0;                  ///< results of the compiled programs' kernels, as they ran
  int64_t elements = 0, undecided = 0;  ///< that were compared; of them without a bound
  double tightness = 0;  ///< median of error / bound over the results of kernels that had an error
  std::vector<std::string> lines;  ///< a summary
};

using NamedValues = std::vector<std::pair<std::string, double>>;

/// How a model's inputs and outputs are nested (structure.h).
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
  /// Dicts are checked against the options' schemas (schema_of<CompileOptions>("compile")).
  void compile(const Dict& options);
  bool compiled() const;
  /// Returns the history of whole epochs, also when it was interrupted; evaluate and predict then
  /// throw Interrupted.
  std::shared_ptr<History> fit(const Tensors& x, const Tensors& y, const Dict& options = {});
  std::shared_ptr<History> fit(DatasetPtr data, const Dict& options = {},
                               DatasetPtr validation = {});
  /// What fit does, as an object that goes on a batch at a time and keeps the model
  /// (training_run.h).
  TrainingRunPtr start_training(const Tensors& x, const Tensors& y, const Dict& options = {});
  TrainingRunPtr start_training(DatasetPtr data, const Dict& options = {},
                                DatasetPtr validation = {});
  /// The one that goes on now, or is paused; null when there is none.
  TrainingRunPtr training_run() const;
  NamedValues evaluate(const Tensors& x, const Tensors& y, const Dict& options = {});
  NamedValues evaluate(DatasetPtr data, const Dict& options = {});
  Tensors predict(const Tensors& x, const Dict& options = {});
  Tensors predict(DatasetPtr data, const Dict& options = {});
  /// The numbers of this batch; without `reset_metrics` of all batches since the metrics were reset
  /// last.
  NamedValues train_on_batch(const Tensors& x, const Tensors& y, const Tensors& sample_weight = {},
                             const Dict& class_weight = {}, bool reset_metrics = true);
  NamedValues test_on_batch(const Tensors& x, const Tensors& y, const Tensors& sample_weight = {},
                            bool reset_metrics = true);
  Tensors predict_on_batch(const Tensors& x);

  std::shared_ptr<Optimizer> optimizer() const;
  std::vector<std::shared_ptr<Metric>> all_metrics()
      const;  ///< loss trackers, compiled and layers' metrics
  std::vector<std::string> metrics_names() const;
  /// Of the value with this name in the logs: down for losses, else what its metric says; unknown
  /// for other names. "val_" in front makes no difference.
  Direction direction_of(std::string_view log) const;
  void reset_metrics();
  std::shared_ptr<History> history() const;  ///< of the last fit
  bool stop_training = false;                ///< callbacks set it; looked at after each batch
  /// Arguments of compile as given, serialised (training_config in files); null when not compiled.
  Value compile_config() const;
  /// Draws the order of samples; its state is saved with the model.
  const SeedGenerator& shuffle_order() const;
  /// Epochs trained so far in all fits (saved; initial_epoch is the user's business).
  int64_t epochs_trained() const;
  void set_epochs_trained(int64_t epochs);
  /// What the next run may go on from, saved with the model. "callbacks": what those of the current
  /// or the last run remember, a list of {class_name, config, state} (callback.h), which the first
  /// run after set_run_state() hands to its own. While a run is unfinished, also where it is:
  /// TrainingRun::restore takes it.
  Value run_state() const;
  void set_run_state(const Value& state);
  /// Forgets compiled steps. Changes of structure do it by themselves, see structure_version().
  void forget_programs();

  // ---- structure
  virtual std::vector<LayerPtr> layers() const;     ///< a graph's layers, or tracked sublayers
  LayerPtr get_layer(std::string_view name) const;  ///< "No such layer: NAME" with a suggestion
  LayerPtr get_layer(int64_t index) const;          ///< from 0
  virtual std::vector<Symbol> inputs() const;       ///< of a graph; fails for subclassed models
  virtual std::vector<Symbol> outputs() const;
  virtual std::vector<std::string> input_names() const;
  virtual std::vector<std::string> output_names() const;
  /// How inputs() and outputs() are nested; of a model that is no graph what it was called on last.
  virtual Structures structures() const;
  /// For a model that is no graph: how the inputs are nested that it gets next from fit and its
  /// kin.
  void set_input_structure(Value structure);
  virtual bool is_graph() const { return false; }
  bool stateful() const override;
  void reset_states() override;
  Variables weights_in_order() const override;

  /// Lines of the summary in the layout of Keras 2.3.1: a row for each layer with its output shape
  /// and number of parameters, then the totals. The options are those of SummaryOptions.
  std::vector<std::string> summary(const Dict& options = {}) const;
  /// Where the time of a training step goes, or without y of predict: runs steps on the first batch
  /// of x and y and takes back what they did to variables. The first profile of a model compiles
  /// that step.
  Profile profile(const Tensors& x, const Tensors& y = {}, const Dict& options = {});
  /// Checks the compiled steps (of training, testing and prediction; without y of prediction) on
  /// the first batch of x and y: what the passes made of the recorded program against that program,
  /// evaluated in float64, and each kernel's results as it ran against float64, within bounds of
  /// the rounding errors. The model stays as it was.
  Validation validate(const Tensors& x, const Tensors& y = {}, const Dict& options = {});
  /// The architecture as Keras writes it, JSON for model_from_json: ours and Keras'. Options are
  /// those of the format that translates configurations ("target"); without one, core's own form.
  std::string to_json(const Dict& options = {}) const;

  bool supports_masking() const override { return true; }

 private:
  struct Training;  // compiled state, in core/src/model
  friend struct ModelAccess;
  /// Hears the shapes of data before they are checked against the graph.
  virtual void adapt(const std::vector<Shape>& /*inputs*/) const {}
  std::unique_ptr<Training> training_;
  Value input_structure_;
};

/// While it lives, no other thread is in a step of the model. A thread may have several at once. It
/// must not wait for another thread that uses the model.
class CRESCENT_API StepLock {
 public:
  explicit StepLock(const Model& model);
  ~StepLock();
  StepLock(const StepLock&) = delete;

 private:
  const Model& model_;
};

/// A graph of layers from inputs to outputs; nodes in topological order, addressed by slots worked
/// out once. Inputs and outputs that are nested stand in the order of their structure; those of a
/// dictionary are known by its names.
class CRESCENT_API Functional : public Model {
 public:
  static void describe(Schema<Functional>& s);
  ~Functional() override;
  static std::shared_ptr<Functional> make(std::vector<Symbol> inputs, std::vector<Symbol> outputs,
                                          std::string name = "", bool trainable = true,
                                          Structures structures = {});
  void build(const std::vector<Shape>& inputs) override;
  Tensors call(const Tensors& inputs, const Call& call) override;
  Tensors compute_mask(const Tensors& inputs, const Tensors& masks,
                       const Tensors& outputs) override;
  std::vector<LayerPtr> layers() const override;
  std::vector<Symbol> inputs() const override;
  std::vector<Symbol> outputs() const override;
  std::vector<std::string> input_names() const override;
  std::vector<std::string> output_names() const override;
  Structures structures() const override;
  bool is_graph() const override { return graph_ != nullptr; }
  bool takes_structures() const override { return true; }
  Dict get_config() const override;

  // ---- beside the outputs, as Keras 2 has it: what follows from the model's inputs
  using Layer::add_loss;
  using Layer::add_metric;
  /// The mean of a symbol is part of what training minimises.
  void add_loss(const Symbol& loss);
  /// The mean of a symbol over the batches is shown by this name.
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
  struct Addition;
  friend struct ModelAccess;
  void add(const Addition& addition, Tensor value);
  void extend(const Addition& addition, const char* method);
  std::shared_ptr<const Graph> graph_;
  Structures structures_;
};

/// Layers one after another. Without an input shape, building waits for the first data; data of
/// other sizes may follow where the layers take them. Follows what is changed inside its layers,
/// nested models too.
class CRESCENT_API Sequential final : public Functional {
 public:
  static void describe(Schema<Sequential>& s);
  static void describe_members(Schema<Sequential>& s);
  Sequential();
  ~Sequential() override;
  static std::shared_ptr<Sequential> make(const std::vector<LayerPtr>& layers = {},
                                          std::string name = "");
  void add(const LayerPtr& layer);
  void pop();
  void build(const std::vector<Shape>& inputs) override;
  Tensors call(const Tensors& inputs, const Call& call) override;
  std::vector<LayerPtr> layers() const override;  ///< without the InputLayer
  std::vector<Symbol> inputs() const override;
  std::vector<Symbol> outputs() const override;
  bool is_graph() const override;
  Dict get_config() const override;

 private:
  struct Stack;
  void follow() const;
  void take_symbols(std::vector<Symbol> symbols) const;
  void adapt(const std::vector<Shape>& inputs) const override;
  std::unique_ptr<Stack> stack_;
};

// ---- configurations
/// {"class_name": "Sequential" | "Functional" | "Model", "config": ...} or a bare config of either,
/// as any generation of Keras wrote it; core's own form needs no format that translates
/// configurations. `custom_objects`: class name -> registered name to use instead.
CRESCENT_API ModelPtr model_from_config(const Value& config, const Value& custom_objects = {});
CRESCENT_API ModelPtr model_from_json(std::string_view json, const Value& custom_objects = {});
/// {"class_name", "config"} of a model.
CRESCENT_API Value model_config(const Model& model);
CRESCENT_API ModelPtr clone_model(const Model& model);

}  // namespace crescent
