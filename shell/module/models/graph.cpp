#include "models/graph.h"

#include <algorithm>

#include "crescent/layer/layer.h"
#include "tensors/ops.h"

namespace crescent::lua {
namespace {

/// Pushes the history of a symbol, {layer, node_index, tensor_index}; the indices count from 1.
OnStack history(Symbol& symbol) {
  lua_State* L = current();
  lua_createtable(L, 0, 3);
  push(L, symbol.layer());
  lua_setfield(L, -2, "layer");
  lua_pushinteger(L, symbol.node_index() + 1);
  lua_setfield(L, -2, "node_index");
  lua_pushinteger(L, symbol.tensor_index() + 1);
  lua_setfield(L, -2, "tensor_index");
  return {};
}

int64_t one_based(int index) { return index + 1; }

std::vector<int64_t> one_based(const std::vector<int>& indices) {
  std::vector<int64_t> result;
  for (int index : indices) result.push_back(one_based(index));
  return result;
}

std::vector<Shape> shapes_of(const std::vector<Symbol>& symbols) {
  std::vector<Shape> shapes;
  for (const Symbol& symbol : symbols) shapes.push_back(symbol.shape());
  return shapes;
}

Symbol make_input(std::optional<Shape> shape, std::optional<int64_t> batch_size,
                  std::optional<std::string> name, std::optional<DType> dtype,
                  std::optional<Shape> batch_shape, std::optional<Shape> batch_input_shape,
                  bool sparse, bool ragged, bool optional) {
  if (sparse || ragged)
    fail("Input: `", sparse ? "sparse" : "ragged", "=true` is not possible: tensors are dense");
  InputOptions options;
  options.shape = shape;
  options.batch_shape = batch_shape ? batch_shape : batch_input_shape;
  options.batch_size = batch_size;
  options.name = name.value_or("");
  options.dtype = dtype.value_or(floatx());
  options.optional = optional;
  return Input(options);
}

/// The sizes in a table such as {[-1] = 3} as pairs (axis, size), sorted for messages.
std::vector<std::pair<int, int64_t>> axis_sizes_at(lua_State* L, int index) {
  std::vector<std::pair<int, int64_t>> axes;
  if (lua_isnil(L, index)) return axes;
  if (!is_plain_table(L, index)) fail_expected(L, index, "a table such as {[-1] = 3}");
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    if (!lua_isinteger(L, -2)) fail_expected(L, -2, "an axis");
    const int top = lua_gettop(L);
    axes.emplace_back(Read<int>::from(L, top - 1), Read<int64_t>::from(L, top));
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

InputSpec make_input_spec(std::optional<DType> dtype, std::optional<Shape> shape,
                          std::optional<int> ndim, std::optional<int> max_ndim,
                          std::optional<int> min_ndim, Any axes) {
  InputSpec spec;
  spec.dtype = dtype;
  spec.shape = shape;
  spec.ndim = shape ? std::optional<int>(shape->rank()) : ndim;
  spec.max_ndim = max_ndim;
  spec.min_ndim = min_ndim;
  spec.axes = axis_sizes_at(current(), axes.index);
  return spec;
}

OnStack axes_of(InputSpec& spec) {
  lua_State* L = current();
  lua_newtable(L);
  for (const auto& [axis, dim] : spec.axes) {
    lua_pushinteger(L, dim);
    lua_rawseti(L, -2, axis);
  }
  return {};
}

int same_symbols(lua_State* L) {
  auto *a = to_handle<Symbol>(L, 1), *b = to_handle<Symbol>(L, 2);
  return lua_pushboolean(L, a && b && *a == *b), 1;
}
int same_nodes(lua_State* L) {
  auto *a = to_handle<NodePtr>(L, 1), *b = to_handle<NodePtr>(L, 2);
  return lua_pushboolean(L, a && b && *a == *b), 1;
}

}  // namespace

const HandleType& symbol_type() {
  static const HandleType type = [] {
    HandleType type("symbol", {operation_methods, find_operation_method});
    type.property(
            "shape", [](Symbol& s) { return s.shape(); }, "The shape; unknown sizes are false.")
        .property(
            "dtype", [](Symbol& s) { return s.dtype(); }, "Dtype of the elements.")
        .property(
            "name", [](Symbol& s) { return s.name(); },
            "The name of the layer that produces it and the number of the output.")
        .property(
            "rank", [](Symbol& s) { return s.shape().rank(); }, "Number of axes.")
        .property(
            "ndim", [](Symbol& s) { return s.shape().rank(); }, "Number of axes.")
        .property("history", &history,
                  "The layer, call number and output number that produce the symbol.")
        .property(
            "node", [](Symbol& s) { return s.node(); }, "The call that produces it.")
        .meta("__tostring",
              bound("tostring", [](Symbol& s) { return printable(to_text(s)); }, {"symbol"}))
        .meta("__eq", raw("==", same_symbols));
    add_symbol_operators(type);
    return type;
  }();
  return type;
}

const HandleType& node_type() {
  static const HandleType type = [] {
    HandleType type("node");
    type.property(
            "outbound_layer", [](NodePtr& n) { return n->outbound_layer; }, "The called layer.")
        .property(
            "inbound_layers", [](NodePtr& n) { return n->inbound_layers(); },
            "The layers that produce the inputs.")
        .property(
            "node_indices", [](NodePtr& n) { return one_based(n->node_indices()); },
            "For each input, the number of the call that produces it.")
        .property(
            "tensor_indices", [](NodePtr& n) { return one_based(n->tensor_indices()); },
            "For each input, the number of the output of the call that produces it.")
        .property(
            "input_tensors", [](NodePtr& n) { return n->inputs; }, "The input symbols.")
        .property(
            "output_tensors", [](NodePtr& n) { return n->output_symbols(n); },
            "The output symbols.")
        .property(
            "input_shapes", [](NodePtr& n) { return OneOrMore<Shape>{shapes_of(n->inputs)}; },
            "The shapes of its inputs.")
        .property(
            "output_shapes",
            [](NodePtr& n) { return OneOrMore<Shape>{shapes_of(n->output_symbols(n))}; },
            "The shapes of its outputs.")
        .property(
            "arguments", [](NodePtr& n) { return n->arguments; },
            "The arguments of the call besides the inputs.")
        .property(
            "index", [](NodePtr& n) { return one_based(n->index()); },
            "The number of the call of the layer.")
        .method(
            "get_config -> a table with names", [](NodePtr& n) { return n->get_config(); }, {},
            "The call as a table, as Keras stores it.")
        .meta("__tostring", bound("tostring",
                                  [](NodePtr& n) {
                                    const std::string layer =
                                        n->outbound_layer ? n->outbound_layer->name() : "";
                                    return printable(concat("<node ", one_based(n->index()),
                                                            " of layer '", layer, "'>"));
                                  },
                                  {"node"}))
        .meta("__eq", raw("==", same_nodes));
    return type;
  }();
  return type;
}

const HandleType& input_spec_type() {
  static const HandleType type = [] {
    HandleType type("InputSpec");
    type.property(
            "dtype", [](InputSpec& s) { return s.dtype; }, "The required dtype.")
        .property(
            "shape", [](InputSpec& s) { return s.shape; }, "The required shape.")
        .property(
            "ndim", [](InputSpec& s) { return s.ndim; }, "The required number of axes.")
        .property(
            "max_ndim", [](InputSpec& s) { return s.max_ndim; },
            "The largest permitted number of axes.")
        .property(
            "min_ndim", [](InputSpec& s) { return s.min_ndim; },
            "The smallest permitted number of axes.")
        .property("axes", &axes_of, "The required sizes of axes.")
        .meta("__tostring", bound("tostring", [](InputSpec& s) { return to_text(s); }, {"spec"}));
    return type;
  }();
  return type;
}

const std::vector<CallablePtr>& graph_functions() {
  static const std::vector<CallablePtr> functions = [] {
    std::vector<CallablePtr> callables;
    callables.push_back(
        bound("Input", &make_input,
              {"shape=nil", "batch_size=nil", "name=nil", "dtype=nil", "batch_shape=nil",
               "batch_input_shape=nil", "sparse=false", "ragged=false", "optional=false"},
              "An input of a model: a symbol of this shape, which excludes the batch axis."));
    callables.push_back(bound("InputSpec", &make_input_spec,
                              {"dtype=nil", "shape=nil", "ndim=nil", "max_ndim=nil", "min_ndim=nil",
                               "axes: a table of sizes by axis=nil"},
                              "The dtype, rank and shape that a layer requires of one input."));
    return callables;
  }();
  return functions;
}

std::vector<InputSpec> to_input_specs(lua_State* L, int index) {
  return lua_isnil(L, index) ? std::vector<InputSpec>{}
                             : Read<std::vector<InputSpec>>::from(L, index);
}

}  // namespace crescent::lua
