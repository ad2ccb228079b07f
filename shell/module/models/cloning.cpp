#include "models/cloning.h"

#include "classes/lambda_layer.h"
#include "crescent/model/rewire.h"
#include "models/model_files.h"
#include "values/structured.h"

namespace crescent::lua {
namespace {

LayerPtr layer_from(const LuaFunction& function, const LayerPtr& layer) {
  lua_State* L = current();
  StackRestorer restorer(L);
  function.function.push(L);
  push(L, layer);
  protected_call(L, 1, 1);
  return Read<LayerPtr>::from(L, -1);
}

/// Calls the Lua function on a layer and its inputs, followed by a table of the other arguments.
std::vector<Symbol> outputs_of_call_function(const LuaFunction& function, const LayerPtr& layer,
                                             const std::vector<Symbol>& inputs,
                                             const CallOptions& options) {
  lua_State* L = current();
  StackRestorer restorer(L);
  function.function.push(L);
  push(L, layer);
  push_nested(L, options.structure, inputs);
  Dict arguments = options.arguments;
  if (options.training) arguments.set("training", *options.training);
  const int count = arguments.empty() ? 2 : 3;
  if (count == 3) push(L, Value(arguments));
  protected_call(L, count, 1);
  return symbols_of(nested_at(L, -1));
}

/// The arguments of clone_model besides the model.
struct CloneOptions {
  std::vector<Symbol> input_tensors;
  std::shared_ptr<LuaFunction> clone_function, call_function;
  bool recursive;
};

ModelPtr copy_of(Model& model, const CloneOptions& options);

LayerPtr copy_of_layer(const LayerPtr& layer, const CloneOptions& options) {
  const auto model = std::dynamic_pointer_cast<Model>(layer);
  const bool is_copied_whole =
      options.recursive && model && (model->is_graph() || dynamic_cast<Sequential*>(model.get()));
  if (!is_copied_whole) return layer_from(*options.clone_function, layer);
  return copy_of(*model, {{}, options.clone_function, options.call_function, true});
}

ModelPtr copy_of_stack(Sequential& stack, const CloneOptions& options) {
  if (options.input_tensors.size() > 1)
    fail("clone_model: a Sequential model has one input, got ", options.input_tensors.size());
  std::vector<LayerPtr> layers;
  for (const LayerPtr& layer : stack.layers()) layers.push_back(copy_of_layer(layer, options));
  const ModelPtr copy = Sequential::make(layers, stack.name());
  if (!options.input_tensors.empty())
    copy->build_for({options.input_tensors.front().shape()});
  else if (stack.is_graph())
    copy->build_for({stack.inputs().front().shape()});
  return copy;
}

ModelPtr copy_of_graph(const Model& model, const CloneOptions& options) {
  std::vector<Replacement> replacements;
  if (options.clone_function)
    for (const LayerPtr& layer : model.operations())
      if (layer->class_name() != "InputLayer")
        replacements.push_back({layer, copy_of_layer(layer, options)});
  const std::vector<Symbol>& inputs = options.input_tensors;
  if (!inputs.empty() && inputs.size() != model.inputs().size())
    fail("clone_model: input_tensors: expected ", model.inputs().size(), ", one for each input of ",
         model.name(), ", got ", inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) replacements.push_back({model.inputs()[i], inputs[i]});
  LayerCall call;
  if (options.call_function)
    call = [&](const LayerPtr& layer, const std::vector<Symbol>& layer_inputs,
               const CallOptions& call_options) {
      return outputs_of_call_function(*options.call_function, layer, layer_inputs, call_options);
    };
  return rewire(model, replacements, model.name(), call);
}

/// A copy of the model in which each layer is replaced by the layer that clone_function returns for
/// it, or by one of the same configuration, and called by call_function.
ModelPtr copy_of(Model& model, const CloneOptions& options) {
  auto* stack = dynamic_cast<Sequential*>(&model);
  if (stack && options.clone_function) return copy_of_stack(*stack, options);
  if (options.clone_function) return copy_of_graph(model, options);
  const ModelPtr copy = clone_model(model);
  if (stack && !options.input_tensors.empty())
    copy->build_for({options.input_tensors.front().shape()});
  const bool is_copied_again = !stack && (options.call_function || !options.input_tensors.empty());
  return is_copied_again ? copy_of_graph(*copy, options) : copy;
}

std::shared_ptr<LuaFunction> function_or_null(const char* name, const Value& value) {
  auto function = value.object_as<LuaFunction>();
  if (!function && !value.is_null())
    fail("clone_model: ", name, ": expected a function, got ", value);
  return function;
}

/// Compiles the copy of a graph with the configuration of the model, if that is compiled.
void compile_like(Model& copy, const Model& model) {
  const Value config =
      copy.is_graph() || dynamic_cast<Sequential*>(&copy) ? model.compile_config() : Value();
  if (!config.is_dict()) return;
  try {
    copy.compile(config.as_dict());
  } catch (const Error& error) {
    warn("clone_model: the copy of ", model.name(), " is not compiled: ", error.what());
  }
}

}  // namespace

ModelPtr clone_of(Model& model, Any input_tensors, const Value& clone_function,
                  const Value& call_function, bool recursive) {
  lua_State* L = current();
  CloneOptions options{{},
                       function_or_null("clone_function", clone_function),
                       function_or_null("call_function", call_function),
                       recursive};
  if (!lua_isnil(L, input_tensors.index))
    options.input_tensors = symbols_of(nested_at(L, input_tensors.index));
  const bool is_stack = dynamic_cast<Sequential*>(&model) != nullptr;
  const bool has_options =
      options.clone_function || options.call_function || !options.input_tensors.empty();
  if (has_options && !is_stack && !model.is_graph())
    fail(
        "clone_model: clone_function, call_function and input_tensors are for Sequential models "
        "and graphs, got ",
        model.class_name(), " ", model.name());
  if (is_stack && options.call_function)
    fail("clone_model: call_function is for graphs, got the Sequential model ", model.name());
  if (!options.clone_function) custom_objects(functions_of_lambdas(model));
  const ModelPtr copy = copy_of(model, options);
  compile_like(*copy, model);
  return copy;
}

}  // namespace crescent::lua
