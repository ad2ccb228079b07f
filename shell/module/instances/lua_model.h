// Models whose class is written in Lua. A model with inputs and outputs, given by Mine { inputs =
// i, outputs = o } or by connect() in its init, consists of the graph between them; its class may
// define training steps and call.
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
  /// Sets the graph from `inputs` to `outputs`, each a symbol, a list of symbols or a table with
  /// names.
  void connect(const Value& inputs, const Value& outputs);
  /// The graph; null if the model has none. follow_graph() must be called after losses and metrics
  /// were added to the graph.
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
  bool is_graph() const override { return graph_ != nullptr; }
  Dict get_config() const override;
  Dict base_config() const;

 protected:
  std::vector<Symbol> graph_inputs() const override;
  std::vector<Symbol> graph_outputs() const override;

 private:
  void build_again(const Value& shapes);
  void adopt_graph(std::shared_ptr<Functional> graph);

  Value inputs_, outputs_, build_input_shape_;
  Value built_for_;  ///< the input shapes for which the model was built; null before build, and for
                     ///< a model with a graph
  std::shared_ptr<Functional> graph_;
  bool given_ = false;  ///< true if the graph was given as an option; false if init made it
};

/// The options with inputs and outputs replaced by a graph that is made from the configuration.
Dict with_graph(const Dict& options);

}  // namespace crescent::lua
