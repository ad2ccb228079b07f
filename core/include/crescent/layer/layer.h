// A Layer is a class with options, weights and a function call(). Everything else is derived from
// these: the output shapes come from running call() on abstract tensors, the gradients from the ops
// that call() uses, the contents of files and the Lua interface from the options.
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
#include "crescent/layer/activation.h"
#include "crescent/layer/input_spec.h"
#include "crescent/layer/node.h"
#include "crescent/layer/weight_rules.h"
#include "crescent/ops/ops.h"
#include "crescent/ops/random.h"

namespace crescent {

class Metric;

/// The arguments of a call besides its input tensors.
struct CRESCENT_API Call {
  bool training = false;
  /// The masks of the inputs, with an empty Tensor for an input without mask; no elements if no
  /// input has a mask.
  Tensors masks;
  Dict arguments;   ///< arguments declared with Schema::argument; tensors are boxed
  Value structure;  ///< how the input tensors are nested (structure.h)

  /// Returns the mask of this input, or an empty Tensor if the input has none.
  const Tensor& mask(size_t input = 0) const;
  /// Returns the value passed for this argument, or its declared default if none was passed; null
  /// if no default is declared.
  const Value& argument(std::string_view name) const;
  /// The value of a boolean argument.
  bool flag(std::string_view name) const;
  /// Returns the value of a tensor argument, or an empty Tensor if none was passed.
  Tensor tensor(std::string_view name) const;
};

/// Options of Layer::operator(). If `training` is not set, it is that of the enclosing layer call,
/// or false outside of layer calls.
struct CallOptions {
  std::optional<bool> training{};
  Tensors masks{};  ///< explicit masks, which take precedence over masks that the tensors carry
  /// Values of arguments that the layer declares; tensors and symbols are boxed. The names "1",
  /// "2", ... stand for the arguments that follow the inputs by position.
  Dict arguments{};
  Value structure{};  ///< how the input tensors are nested (structure.h)
};

/// A dtype policy (float32, mixed_bfloat16, ...): the dtypes of a layer's computation and
/// variables.
struct CRESCENT_API DTypePolicy {
  std::string name = "float32";
  DType compute = DType::float32, variables = DType::float32;
  static DTypePolicy named(std::string_view name);
  /// Whether `name` is the JSON text of a DTypePolicyMap of Keras, which has a policy for each
  /// layer path.
  static bool is_map(std::string_view name);
};
// Decodes a name, or Keras 3's {"class_name": "DTypePolicy", "config": {"name": ...}}.
CRESCENT_CODEC(DTypePolicy);
/// The policy of layers that are made without a dtype option; initially "float32".
CRESCENT_API const DTypePolicy& default_policy();
CRESCENT_API void set_default_policy(std::string_view name);

/// The options of Layer::add_weight().
struct WeightOptions {
  std::shared_ptr<Regularizer> regularizer{};
  std::shared_ptr<Constraint> constraint{};
  bool trainable = true;
  std::optional<DType> dtype{};  ///< nullopt: variable_dtype() of the layer
  bool autocast = true;          ///< see Variable::Options::autocast
};

/// The number of tensors that a layer may be called on.
struct CRESCENT_API InputCount {
  size_t min = 1, max = static_cast<size_t>(-1);
  /// The start of the error message for a wrong number of inputs; empty: the text of Keras.
  std::string expected{};
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

  // ---- calling: every call goes through operator()
  // A call takes these steps, in order: it checks the inputs against the InputSpecs; builds the
  // layer if it is not built, and sets the initial weights; casts the inputs as the dtype policy
  // demands; collects the masks of the inputs; runs call(); adds the loss of the activity
  // regularizer; attaches masks to the outputs; and, if the inputs are symbols, makes a node of the
  // graph. Errors name the layer once. The result has one element per output tensor.
  Tensors operator()(const Tensors& inputs, const CallOptions& options = {});
  Tensor operator()(const Tensor& input, const CallOptions& options = {});
  std::vector<Symbol> operator()(const std::vector<Symbol>& inputs,
                                 const CallOptions& options = {});
  Symbol operator()(const Symbol& input, const CallOptions& options = {});

  // ---- what authors override
  /// The number of inputs that the layer accepts; it is checked before every build and call.
  virtual InputCount input_count() const;
  /// Creates the weights for these input shapes, whose batch dimension may be -1. Called once,
  /// before the first call.
  virtual void build(const std::vector<Shape>& inputs);
  /// Computes the outputs from the inputs by ops. The inputs may be abstract, so that only their
  /// specs are known. operator() calls this function.
  virtual Tensors call(const Tensors& inputs, const Call& call) = 0;
  /// Returns the mask of each output. The default returns the mask of a single input when
  /// supports_masking(), else no masks.
  virtual Tensors compute_mask(const Tensors& inputs, const Tensors& masks, const Tensors& outputs);
  /// Whether masks of inputs are passed to call() and propagated to the outputs. If false, a mask
  /// of an input is dropped, with one warning, as in Keras 3.
  virtual bool supports_masking() const { return supports_masking_; }
  /// Whether call gets the masks of its inputs; the default is supports_masking().
  virtual bool reads_masks() const { return supports_masking(); }
  /// Whether the layer keeps state other than weights between batches (stateful RNN).
  virtual bool stateful() const { return false; }
  virtual void reset_states();
  /// The variables that hold the state of a stateful layer. A snapshot of a training run between
  /// batches includes them.
  virtual Variables states() const;
  void configured() override;
  /// The arguments of call besides inputs, training and mask; by default those declared by
  /// Schema::argument.
  virtual const std::vector<Argument>& call_arguments() const;
  /// The names of the arguments that may follow the inputs by position.
  virtual std::vector<std::string> positional_arguments() const;
  /// How the outputs of the last call are nested (structure.h).
  const Value& output_structure() const { return output_structure_; }
  /// Whether call reads Call::structure. Other layers get all tensors of nested inputs as a flat
  /// list.
  virtual bool takes_structures() const { return false; }
  /// Whether call may compute with the sizes of its inputs. Such sizes must be known numbers even
  /// during shape inference before data are seen.
  virtual bool computes_with_sizes() const { return false; }

  // ---- identity and state
  const std::string& name() const { return name_; }
  void set_name(std::string name);
  virtual bool trainable() const { return trainable_; }
  /// Sets `trainable` of this layer and its sublayers. A compiled model keeps training the
  /// variables that it was compiled with until compile is called again.
  virtual void set_trainable(bool on);
  bool built() const { return built_; }
  /// Builds the layer for these input shapes without calling it on data.
  void build_for(const std::vector<Shape>& inputs);
  DType compute_dtype() const { return policy_.compute; }
  DType variable_dtype() const { return policy_.variables; }
  const DTypePolicy& policy() const { return policy_; }

  // weights() lists all trainable weights before the others. In each of these groups, the layer's
  // own weights, in order of creation, precede the weights of its sublayers.
  Variables weights() const;
  Variables trainable_weights() const;  ///< empty while trainable() is false
  Variables non_trainable_weights() const;
  /// The weights in the order in which get_weights returns them and set_weights takes them. In
  /// models this order lists them layer by layer, as in Keras.
  virtual Variables weights_in_keras_order() const;
  Tensors get_weights() const;  ///< copies of the values of weights_in_keras_order()
  /// Sets the values of the weights in the order of get_weights(). Fails with the messages of Keras
  /// for a wrong number of tensors or a wrong shape.
  void set_weights(const Tensors& values);
  int64_t count_params() const;  ///< fails while the layer is not built (Keras' message)

  const std::vector<InputSpec>& input_specs() const { return input_specs_; }
  void set_input_specs(std::vector<InputSpec> specs);

  /// The losses of the last call that was not inside another layer's call: the values that add_loss
  /// added in this layer, those that it added in sublayers, and the penalties of weight
  /// regularizers.
  Tensors losses() const;
  /// The losses that depend on these inputs; for empty `inputs`, those that depend on no input.
  Tensors get_losses_for(const std::vector<Symbol>& inputs) const;
  const std::vector<std::shared_ptr<Metric>>& metrics() const { return metrics_; }
  const std::vector<LayerPtr>& sublayers() const { return sublayers_; }
  /// This layer and all sublayers below it, each once, in depth-first order.
  std::vector<Layer*> flatten_layers();
  const std::vector<SeedGenerator>& seed_generators() const { return seed_generators_; }
  /// A number that changes whenever call may compute something else, in this layer or in a layer
  /// below it: after changes of sublayers, weights, metrics or losses. A model recompiles its steps
  /// when its number has changed.
  uint64_t structure_version() const { return version_; }

  // ---- graph
  std::vector<NodePtr> inbound_nodes() const;   ///< calls of this layer on symbols
  std::vector<NodePtr> outbound_nodes() const;  ///< calls of other layers on outputs of this layer
  // `node_index` counts the calls of this layer on symbols from 0; -1 is the last call. input(),
  // output() and the masks fail unless there was exactly one call; the shapes fail if there was
  // none or calls with different shapes; get_..._at() fail for an index without a call.
  std::vector<Symbol> input() const;
  std::vector<Symbol> output() const;
  std::vector<Symbol> get_input_at(int node_index) const;
  std::vector<Symbol> get_output_at(int node_index) const;
  std::vector<Shape> input_shape() const;
  std::vector<Shape> output_shape() const;
  std::vector<Shape> get_input_shape_at(int node_index) const;
  std::vector<Shape> get_output_shape_at(int node_index) const;
  Tensor input_mask() const;  ///< an empty Tensor if the input has no mask
  Tensor output_mask() const;
  /// The input shape, including the batch axis, that one of the options batch_input_shape,
  /// input_shape and input_dim declares; nullopt if none is given.
  std::optional<Shape> declared_input_shape() const;
  /// Output shapes for input shapes, by running call on abstract tensors (builds the layer when
  /// needed).
  virtual std::vector<Shape> compute_output_shape(const std::vector<Shape>& inputs);

  Dict get_config() const override;

  // ---- for authors, inside build and call
  /// Creates a variable with the path LAYER/name, which the layer owns and files contain. A null
  /// initializer gives zeros. Fails for a shape with an unknown size, and if the initializer
  /// returns another shape.
  Variable add_weight(const std::string& name, const Shape& shape,
                      const Ref<Initializer>& initializer = "glorot_uniform",
                      const WeightOptions& options = {});
  /// Adds a weight with the initializer, regularizer and constraint that the user chose.
  Variable add_weight(const std::string& name, const Shape& shape, const WeightRules& rules,
                      bool autocast = true);
  void add_loss(const Tensor& value);  ///< adds the sum of a tensor to the loss of training
  /// Assigns `value` to the variable, as Keras' add_update does; a compiled step writes it in
  /// place.
  void add_update(const Variable& variable, const Tensor& value);
  /// Adds a metric that averages `value` over batches (a Mean).
  void add_metric(const Tensor& value, const std::string& name);
  void add_metric(std::shared_ptr<Metric> metric);
  /// Registers a sublayer, so that this layer's weights, losses and states include the sublayer's.
  /// A repeated registration has no effect.
  void track(const LayerPtr& layer);
  void untrack(const LayerPtr& layer);
  void track(const Variable& variable);  ///< registers a variable that add_weight did not create
  /// Adds a random generator whose state is saved with the model. Without a seed, the seed is drawn
  /// from the generator of the process.
  SeedGenerator& add_seed_generator(std::optional<int64_t> seed = {});
  void set_supports_masking(bool on);
  std::shared_ptr<Regularizer> activity_regularizer() const {  ///< null if there is none
    return activity_regularizer_.shared();
  }
  void set_activity_regularizer(std::shared_ptr<Regularizer> regularizer);
  /// Gives this layer and all layers that contain it a new structure_version(). The functions
  /// above that change the structure call it; a layer calls it after other such changes.
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
  /// Whether floating inputs are cast to compute_dtype(). False in models, whose layers cast their
  /// own inputs.
  bool autocast_ = true;
  /// Sets how the outputs that the running call will return are nested.
  void set_output_structure(Value structure) { output_structure_ = std::move(structure); }
  /// While build() runs within the first call: the options of that call; otherwise null.
  const CallOptions* first_call() const { return first_call_; }
  /// The input and output symbols of a layer that is a graph by itself (a model, an InputLayer);
  /// other layers have none.
  virtual std::vector<Symbol> graph_inputs() const;
  virtual std::vector<Symbol> graph_outputs() const;

 private:
  static void describe_options(Schema<Layer>& s);
  friend class Node;
  friend struct LayerAccess;  // gives core's graph and model code access to private members
  Tensors run(const Tensors& inputs, const CallOptions& options);

  bool supports_masking_ = false, warned_of_mask_ = false;
  Value output_structure_;
  const CallOptions* first_call_ = nullptr;
  Variables own_trainable_weights_, own_non_trainable_weights_;
  std::vector<LayerPtr> sublayers_;
  // The layers that have this layer as a sublayer. The destructor of such a layer removes it from
  // this list.
  std::vector<Layer*> owners_;
  uint64_t version_ = 0;
  std::vector<std::shared_ptr<Metric>> metrics_;
  std::vector<SeedGenerator> seed_generators_;
  Tensors call_losses_;
  std::vector<std::weak_ptr<const Node>> inbound_nodes_, outbound_nodes_;
};

/// Base class of layers with one input tensor and one output tensor.
class CRESCENT_API UnaryLayer : public Layer {
 public:
  virtual void build(const Shape& input);
  virtual Tensor call(const Tensor& x, const Call& call) = 0;
  InputCount input_count() const final;
  void build(const std::vector<Shape>& inputs) final;
  Tensors call(const Tensors& inputs, const Call& call) final;
};

/// Returns a new layer name, whose number counts the names with this base: dense_1, dense_2.
CRESCENT_API std::string unique_name(std::string_view base);
/// Restarts the counters of names and frees compiled programs and cached memory. Existing models
/// keep working; their programs are recompiled on demand.
CRESCENT_API void clear_session();

}  // namespace crescent
