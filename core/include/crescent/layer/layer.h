// Layer: options, weights and call. Everything else follows: output shapes come from running call
// on abstract tensors, gradients from the ops it uses, files and Lua from its options.
//
//   class Scale final : public UnaryLayer {
//    public:
//     static void describe(Schema<Scale>& s) {
//       s.doc("Multiplies each feature by a learned factor.")
//           .field("initializer", &Scale::initializer_, "How factors start.");
//     }
//     void build(const Shape& input) override {
//       factor_ = add_weight("factor", {input[-1]}, initializer_);
//     }
//     Tensor call(const Tensor& x, const Call&) override { return x * factor_; }
//
//    private:
//     Ref<Initializer> initializer_ = "ones";
//     Variable factor_;
//   };
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "crescent/base/structure.h"
#include "crescent/layer/input_spec.h"
#include "crescent/layer/node.h"
#include "crescent/layer/training.h"

namespace crescent {

/// What comes with the inputs of a call.
struct CRESCENT_API Call {
  bool training = false;
  Tensors masks;    ///< one an input, no tensor where there is none; empty when no input has one
  Dict arguments;   ///< declared with Schema::argument; tensors are boxed
  Value structure;  ///< how the inputs are nested (structure.h)

  const Tensor& mask(size_t input = 0) const;  ///< no tensor when there is none
  /// As given, else the declared default; null when there is neither.
  const Value& argument(std::string_view name) const;
  /// A boolean argument.
  bool flag(std::string_view name) const;
  /// An argument that is a tensor; no tensor when it was not given.
  Tensor tensor(std::string_view name) const;
};

/// Options of operator(): training unset is inherited from the call around it, else false.
struct CallOptions {
  std::optional<bool> training{};
  Tensors masks{};  ///< explicit masks win over those that travel with the tensors
  /// Those that the layer declares; tensors and symbols are boxed. "1", "2", ... are those that
  /// follow the inputs by position.
  Dict arguments{};
  Value structure{};  ///< how the inputs are nested (structure.h)
};

/// float32, mixed_bfloat16, ...: dtype of the computation and of the variables.
struct CRESCENT_API DTypePolicy {
  std::string name = "float32";
  DType compute = DType::float32, variables = DType::float32;
  static DTypePolicy named(std::string_view name);
};
CRESCENT_CODEC(
    DTypePolicy);  // a name, or Keras 3's {"class_name": "DTypePolicy", "config": {"name": ...}}
/// Of layers made without dtype=; "float32" at start.
CRESCENT_API const DTypePolicy& default_policy();
CRESCENT_API void set_default_policy(std::string_view name);

struct WeightOptions {
  std::shared_ptr<Regularizer> regularizer{};
  std::shared_ptr<Constraint> constraint{};
  bool trainable = true;
  std::optional<DType> dtype{};
  bool autocast = true;  ///< see Variable::Options
};

/// How many tensors a layer is called on.
struct CRESCENT_API InputCount {
  size_t min = 1, max = static_cast<size_t>(-1);
  std::string expected{};  ///< start of the message for another number; empty: Keras' words
};

class Layer;
using LayerPtr = std::shared_ptr<Layer>;

class CRESCENT_API Layer : public Configurable {
 public:
  static constexpr const char* kKind = "layer";
  Layer();
  ~Layer() override;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  template <class T>
  static void describe_base(Schema<T>& s) {
    s.template base<Layer>(describe_options);
  }
  static void describe_members(Schema<Layer>& s);
  static Value encode_option(const Configurable* object) { return serialize(object); }

  // ---- calling: the only entry
  // InputSpec check, lazy build (then initial weights), dtype policy casts, masks, call, activity
  // regularizer, mask out, node. Errors carry the layer's name once. One output per element.
  Tensors operator()(const Tensors& inputs, const CallOptions& options = {});
  Tensor operator()(const Tensor& input, const CallOptions& options = {});
  std::vector<Symbol> operator()(const std::vector<Symbol>& inputs,
                                 const CallOptions& options = {});
  Symbol operator()(const Symbol& input, const CallOptions& options = {});

  // ---- what authors override
  /// Checked before every build and call, which can rely on it.
  virtual InputCount input_count() const;
  /// Makes weights for these input shapes (batch dims may be -1). Called once.
  virtual void build(const std::vector<Shape>& inputs);
  virtual Tensors call(const Tensors& inputs, const Call& call) = 0;
  /// Mask of each output; the default hands a single mask through when supports_masking(), else
  /// gives none.
  virtual Tensors compute_mask(const Tensors& inputs, const Tensors& masks, const Tensors& outputs);
  /// True: masks reach call() and pass through. False: the mask ends here, with a warning once
  /// (Keras 3).
  virtual bool supports_masking() const { return supports_masking_; }
  /// State other than weights between batches (stateful RNN).
  virtual bool stateful() const { return false; }
  virtual void reset_states();
  /// That state. A training run keeps it when it is saved between batches.
  virtual Variables states() const;
  void configured() override;
  /// What call takes beside inputs, training and mask: as declared in describe.
  virtual const std::vector<Argument>& call_arguments() const;
  /// Names of the arguments that may follow the inputs by position.
  virtual std::vector<std::string> positional_arguments() const;
  /// How what the last call gave is nested (structure.h).
  const Value& output_structure() const { return output_structure_; }
  /// Whether call looks at Call::structure. Others take their inputs one after another, all of
  /// them.
  virtual bool takes_structures() const { return false; }
  /// Whether call may compute with the sizes of its inputs, which then must be numbers even where
  /// shapes are worked out before they are known.
  virtual bool computes_with_sizes() const { return false; }

  // ---- identity and state
  const std::string& name() const { return name_; }
  void set_name(std::string name);
  virtual bool trainable() const { return trainable_; }
  /// For the sublayers too. A compiled model goes on training what it was compiled with.
  virtual void set_trainable(bool on);
  bool built() const { return built_; }
  /// Build without data.
  void build_for(const std::vector<Shape>& inputs);
  DType compute_dtype() const { return policy_.compute; }
  DType variable_dtype() const { return policy_.variables; }
  const DTypePolicy& policy() const { return policy_; }

  // trainable ones first as created, then the others; own ones before those of sublayers (in order
  // of assignment).
  Variables weights() const;
  Variables trainable_weights() const;  ///< none while trainable() is false
  Variables non_trainable_weights() const;
  /// The order of get_weights and set_weights: weights(), but a model's go layer by layer (Keras).
  virtual Variables weights_in_order() const;
  Tensors get_weights() const;              ///< copies
  void set_weights(const Tensors& values);  ///< fails in Keras' words on count or shape
  int64_t count_params() const;             ///< fails while not built (Keras' message)

  const std::vector<InputSpec>& input_specs() const { return input_specs_; }
  void set_input_specs(std::vector<InputSpec> specs);

  /// add_loss of the last outermost call, in order of calls (sublayers too), then weight
  /// regularizers' values.
  Tensors losses() const;
  /// Losses that depend on the given inputs' call; empty inputs: the unconditional ones.
  Tensors get_losses_for(const std::vector<Symbol>& inputs) const;
  const std::vector<std::shared_ptr<Metric>>& metrics() const { return metrics_; }
  const std::vector<LayerPtr>& sublayers() const { return sublayers_; }
  /// This layer and all below it, each once, depth first.
  std::vector<Layer*> flatten_layers();
  const std::vector<SeedGenerator>& seed_generators() const { return seeds_; }
  /// Another number after each change of what call computes with, here or in a layer below:
  /// sublayers, weights, metrics, losses. Models compile their steps anew when theirs has changed.
  uint64_t structure_version() const { return version_; }

  // ---- graph
  std::vector<NodePtr> inbound_nodes() const;   ///< calls of this layer on symbols
  std::vector<NodePtr> outbound_nodes() const;  ///< calls of other layers on its outputs
  // Calls are numbered from 0; -1 is the last one. Fails with the messages of Keras 2.3.1: a layer
  // that was never called, one that was called several times where its only call is asked for, and
  // a number that no call has.
  std::vector<Symbol> input() const;
  std::vector<Symbol> output() const;
  std::vector<Symbol> get_input_at(int node_index) const;
  std::vector<Symbol> get_output_at(int node_index) const;
  std::vector<Shape> input_shape() const;
  std::vector<Shape> output_shape() const;
  std::vector<Shape> get_input_shape_at(int node_index) const;
  std::vector<Shape> get_output_shape_at(int node_index) const;
  Tensor input_mask() const;
  Tensor output_mask() const;
  /// Shape with batch axis given by batch_input_shape / input_shape / input_dim, if any.
  std::optional<Shape> declared_input_shape() const;
  /// Output shapes for input shapes, by running call on abstract tensors (builds the layer when
  /// needed).
  virtual std::vector<Shape> compute_output_shape(const std::vector<Shape>& inputs);

  Dict get_config() const override;

  // ---- for authors, inside build and call
  Variable add_weight(const std::string& name, const Shape& shape,
                      const Ref<Initializer>& initializer = "glorot_uniform",
                      const WeightOptions& options = {});
  /// By what the user chose: initializer, regularizer and constraint.
  Variable add_weight(const std::string& name, const Shape& shape, const WeightRules& rules,
                      bool autocast = true);
  void add_loss(const Tensor& value);  ///< a scalar
  void add_update(const Variable& variable, const Tensor& value);
  void add_metric(const Tensor& value, const std::string& name);  ///< streamed through Mean
  void add_metric(std::shared_ptr<Metric> metric);
  /// Registers a sublayer, so that its weights, losses and states are seen. Once each.
  void track(const LayerPtr& layer);
  void untrack(const LayerPtr& layer);
  void track(const Variable& variable);  ///< a variable made elsewhere
  /// Randomness whose state is saved with the model. No seed: drawn from the process' generator.
  SeedGenerator& add_seed_generator(std::optional<int64_t> seed = {});
  void set_supports_masking(bool on);
  std::shared_ptr<Regularizer> activity_regularizer() const {  ///< null: none
    return activity_regularizer_.shared();
  }
  void set_activity_regularizer(std::shared_ptr<Regularizer> regularizer);
  /// For a layer that changes by other means than these: it and all layers above get another
  /// structure_version().
  void structure_changed();

 protected:
  std::string name_;
  bool trainable_ = true;
  DTypePolicy policy_;
  std::optional<Shape> batch_input_shape_, input_shape_option_;
  std::optional<int64_t> input_dim_, batch_size_;
  Value initial_weights_;
  Ref<Regularizer> activity_regularizer_;
  std::vector<InputSpec> input_specs_;
  bool built_ = false;
  bool autocast_ =
      true;  ///< floating inputs are cast to compute_dtype(); models leave it to their layers
  /// Of what call is about to give.
  void set_output_structure(Value structure) { output_structure_ = std::move(structure); }
  /// While build runs because of a call: the options of that.
  const CallOptions* first_call() const { return first_call_; }
  /// Ends of the graph that this layer itself is: a model's, an InputLayer's. Others have none.
  virtual std::vector<Symbol> graph_inputs() const;
  virtual std::vector<Symbol> graph_outputs() const;

 private:
  static void describe_options(Schema<Layer>& s);
  friend class Node;
  friend struct LayerAccess;  // the graph and models, in core
  Tensors run(const Tensors& inputs, const CallOptions& options);

  bool supports_masking_ = false, warned_of_mask_ = false;
  Value output_structure_;
  const CallOptions* first_call_ = nullptr;
  Variables own_trainable_, own_fixed_;
  std::vector<LayerPtr> sublayers_;
  std::vector<Layer*> owners_;  // layers that this one is a sublayer of; they take themselves out
  uint64_t version_ = 0;
  std::vector<std::shared_ptr<Metric>> metrics_;
  std::vector<SeedGenerator> seeds_;
  Tensors call_losses_;
  std::vector<std::weak_ptr<const Node>> inbound_, outbound_;
};

/// One tensor in, one out: what most layers are.
class CRESCENT_API UnaryLayer : public Layer {
 public:
  virtual void build(const Shape& input);
  virtual Tensor call(const Tensor& x, const Call& call) = 0;
  InputCount input_count() const final;
  void build(const std::vector<Shape>& inputs) final;
  Tensors call(const Tensors& inputs, const Call& given) final;
};

/// Names of layers count up per class: dense_1, dense_2.
CRESCENT_API std::string unique_name(std::string_view base);
/// Names count from 1 again; compiled programs, and memory that waits to be used again, are given
/// back. Models go on working: what they need is compiled anew.
CRESCENT_API void clear_session();

}  // namespace crescent
