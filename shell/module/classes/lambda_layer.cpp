#include "classes/lambda_layer.h"

#include "instances/lua_objects.h"

namespace crescent::lua {
namespace {

class Lambda final : public Layer {
 public:
  static void describe(Schema<Lambda>& s) {
    s.doc(
         "Applies a function to its input. Files store only the name of the layer, under which "
         "load_model finds the function in custom_objects.")
        .field("function", &Lambda::function_,
               "A function of a tensor (or of a table of tensors), or the name of an activation.")
        .required()
        .field("output_shape", &Lambda::output_shape_,
               "Accepted for compatibility; the shape is found by running the function.")
        .field("mask", &Lambda::mask_,
               "The mask of the output: a tensor, or a function of the inputs and their masks; "
               "null: no mask. Files store only the name of the layer followed by \"_mask\".")
        .omit_null()
        .field("arguments", &Lambda::arguments_, "Second argument of the function.");
  }
  void configured() override {
    Layer::configured();
    function_name_ = function_.is_string() ? function_.as_string() : name();
    mask_name_ = mask_.is_string() ? mask_.as_string() : name() + "_mask";
    set_supports_masking(!mask_.is_null());
  }
  bool computes_with_sizes() const override { return true; }
  Tensors call(const Tensors& inputs, const Call&) override {
    auto function = function_.object_as<LuaFunction>();
    return function ? call_function(*function, inputs, arguments_) : call_by_name(inputs);
  }
  Tensors compute_mask(const Tensors& inputs, const Tensors& masks, const Tensors&) override {
    if (mask_.is_null()) return {};
    if (auto function = mask_.object_as<LuaFunction>())
      return call_function(*function, inputs, OneOrMore<Tensor>{masks});
    if (auto mask_tensor = mask_.object_as<BoxedTensor>()) return {mask_tensor->tensor};
    return mask_by_name(inputs, masks);
  }
  /// Adds the layer's Lua functions to `functions`, under the names that its configuration uses.
  void add_functions(Dict& functions) const {
    if (function_.object_as<LuaFunction>()) functions.set(function_name_, function_);
    if (mask_.object_as<LuaFunction>()) functions.set(mask_name_, mask_);
  }
  Dict get_config() const override {
    Dict config = Layer::get_config();
    config.set("function", function_name_);
    if (!mask_.is_null()) config.set("mask", mask_name_);
    return config;
  }

 private:
  template <class SecondArgument>
  Tensors call_function(const LuaFunction& function, const Tensors& inputs,
                        const SecondArgument& second_argument) const {
    lua_State* L = current();
    StackRestorer restorer(L);
    reserve(L, 6);
    function.function.push(L);
    push(L, OneOrMore<Tensor>{inputs});
    push_second_argument(L, second_argument);
    const int first_result = lua_gettop(L) - 2;
    protected_call(L, 2, LUA_MULTRET);
    if (lua_isnoneornil(L, first_result))
      fail_in_layer(name(), "Layer ", name(), ": the function returned nothing; expected a tensor");
    return returned_tensors(L, first_result);
  }
  static void push_second_argument(lua_State* L, const Dict& arguments) {
    push_value(L, arguments);
  }
  static void push_second_argument(lua_State* L, const OneOrMore<Tensor>& masks) { push(L, masks); }
  Tensors call_by_name(const Tensors& inputs) const {
    const auto activation = registered_activation(function_name_);
    if (const auto* instance = dynamic_cast<const Instance*>(activation.get()))
      return call_registered(*instance, inputs, Value(arguments_));
    return {(*activation)(inputs.at(0))};
  }
  Tensors mask_by_name(const Tensors& inputs, const Tensors& masks) const {
    const auto activation = registered_activation(mask_name_);
    const auto* instance = dynamic_cast<const Instance*>(activation.get());
    if (!instance) fail_missing(mask_name_);
    return call_registered(*instance, inputs, OneOrMore<Tensor>{masks});
  }
  /// The activation that is registered under this name; functions in custom_objects are registered
  /// as activations. Fails if there is none.
  std::shared_ptr<Activation> registered_activation(const std::string& function_name) const {
    if (!registry().find(Activation::kKind, function_name)) fail_missing(function_name);
    return get<Activation>(function_name);
  }
  template <class SecondArgument>
  Tensors call_registered(const Instance& instance, const Tensors& inputs,
                          const SecondArgument& second_argument) const {
    lua_State* L = current();
    StackRestorer restorer(L);
    const int first_result = lua_gettop(L) + 1;
    instance.invoke(L, "call", LUA_MULTRET, OneOrMore<Tensor>{inputs}, second_argument);
    return returned_tensors(L, first_result);
  }
  [[noreturn]] void fail_missing(const std::string& function_name) const {
    fail_in_layer(name(), "Layer ", name(), ": files do not store functions; give '", function_name,
                  "' in custom_objects when loading");
  }

  Value mask_;
  std::string mask_name_;
  Value function_, output_shape_;
  Dict arguments_;
  std::string function_name_;
};

}  // namespace

Dict functions_of_lambdas(Layer& owner) {
  Dict functions;
  for (const Layer* layer : owner.flatten_layers())
    if (const auto* lambda = dynamic_cast<const Lambda*>(layer)) lambda->add_functions(functions);
  return functions;
}

void register_lambda_layer(Registry& registry) { registry.add<Lambda>("Lambda"); }

}  // namespace crescent::lua
