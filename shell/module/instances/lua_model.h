// Models whose class is written in Lua. A model with inputs and outputs, which an object of a class
// Mine gets by Mine { inputs = i, outputs = o } or by connect() in its init, consists of the graph
// between them; a model of a class derived from Sequential consists of a sequence of layers. Their
// classes may define training steps and call.
#pragma once
#include "instances/lua_objects.h"

namespace crescent::lua {

class LuaModel final : public LuaLayerOf<Model> {
 public:
  static void describe(Schema<LuaModel>&) {}
  template <class T>
  static void describe_base(Schema<T>& s) {
    LuaLayerOf<Model>::describe_base<T>(s);
    s.field("inputs", &LuaModel::inputs_, "A symbol, or several, where the graph begins.")
        .not_stored()
        .field("outputs", &LuaModel::outputs_, "A symbol, or several, where it ends.")
        .not_stored()
        .field("build_input_shape", &LuaModel::build_input_shape_,
               "What a model from a file is built for: a shape, or several.")
        .not_stored();
  }
  void configured() override;
  void build(const std::vector<Shape>& input_shapes) override;
  /// Sets the graph from `inputs` to `outputs`, each a symbol, a list of symbols or a table with
  /// names.
  void connect(const Value& inputs, const Value& outputs);
  /// Makes the model a sequence of layers, like a Sequential. It has no layers at first.
  void become_stack();
  /// Appends a layer to a model for which become_stack() was called. The configuration of the model
  /// contains the layer if `is_in_config` is true or if init has run; otherwise init makes the
  /// layer again.
  void add(const LayerPtr& layer, bool is_in_config);
  /// Removes the last layer of a model for which become_stack() was called.
  void pop();
  /// The Functional or Sequential of which the model consists; null if there is none.
  /// follow_graph() must be called after losses and metrics were added to it.
  const std::shared_ptr<Functional>& graph() const { return graph_; }
  void follow_graph();

  Tensors call(const Tensors& inputs, const Call& call) override;
  Tensors compute_mask(const Tensors& inputs, const Tensors& masks,
                       const Tensors& outputs) override;
  std::vector<LayerPtr> operations() const override;
  std::vector<Symbol> inputs() const override;
  std::vector<Symbol> outputs() const override;
  std::vector<std::string> input_names() const override;
  std::vector<std::string> output_names() const override;
  Structures structures() const override;
  bool is_graph() const override { return graph_ && graph_->is_graph(); }
  Dict get_config() const override;
  /// The variables of optimizers in attributes, with which a train_step of the class trains parts
  /// of the model.
  Variables states() const override;
  Dict base_config() const;

 protected:
  std::vector<Symbol> graph_inputs() const override;
  std::vector<Symbol> graph_outputs() const override;

 private:
  void build_again(const Value& shapes);
  void adopt_graph(std::shared_ptr<Functional> graph);
  Sequential& stack() const;
  List layer_configs() const;

  Value inputs_, outputs_, build_input_shape_;
  Value built_input_shapes_;  ///< the input shapes for which the model was built; null before
                              ///< build, and for a model with a graph
  std::shared_ptr<Functional> graph_;
  /// The layers of the Sequential that the configuration of the model contains.
  std::vector<LayerPtr> config_layers_;
  bool has_started_ = false;  ///< whether init has run
  /// true if the graph was given as an option; false if init made it
  bool has_given_graph_ = false;
};

/// Returns the options with which a model is made from its configuration. If the configuration
/// describes a graph of layers ("input_layers", ...), makes the graph and returns it as the option
/// `inputs`; otherwise returns `options` unchanged.
Dict with_graph(const Dict& options);

}  // namespace crescent::lua
