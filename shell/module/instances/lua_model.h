// Models written in Lua. A model with inputs and outputs, given by Mine { inputs = i, outputs = o }
// or by connect() in its init, is the graph between them with the steps and the call of its class;
// one of a class derived from Sequential is a stack of layers in the same way.
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
  void build(const std::vector<Shape>& inputs) override;
  /// Sets the graph between these symbols, lists of symbols or tables with names.
  void connect(const Value& inputs, const Value& outputs);
  /// Makes it a stack of layers.
  void become_stack();
  /// Adds a layer to the stack. Configurations have the layers that are `kept` and those that are
  /// added after init; the others are made again by init.
  void add(const LayerPtr& layer, bool kept);
  void pop();
  /// The graph; null without one. follow_graph() must be called after losses and metrics were added
  /// to it.
  const std::shared_ptr<Functional>& graph() const { return graph_; }
  void follow_graph();

  Tensors call(const Tensors& inputs, const Call& call) override;
  Tensors compute_mask(const Tensors& inputs, const Tensors& masks,
                       const Tensors& outputs) override;
  std::vector<LayerPtr> layers() const override;
  std::vector<Symbol> inputs() const override;
  std::vector<Symbol> outputs() const override;
  std::vector<std::string> input_names() const override;
  std::vector<std::string> output_names() const override;
  Structures structures() const override;
  bool is_graph() const override { return graph_ && graph_->is_graph(); }
  Dict get_config() const override;
  Dict base_config() const;

 protected:
  std::vector<Symbol> graph_inputs() const override;
  std::vector<Symbol> graph_outputs() const override;

 private:
  void build_again(const Value& shapes);
  void adopt_graph(std::shared_ptr<Functional> graph);
  Sequential& stack() const;
  List kept_layers() const;

  Value inputs_, outputs_, build_input_shape_;
  Value built_for_;  ///< the input shapes of build; null before it, and for a graph, which has them
  std::shared_ptr<Functional> graph_;
  std::vector<LayerPtr> kept_;
  bool has_started_ = false;  ///< whether init has run
  bool given_ = false;        ///< whether the graph is an option, and not made by init
};

/// Options with a graph that is made of the configuration, in place of inputs and outputs.
Dict with_graph(const Dict& options);

}  // namespace crescent::lua
