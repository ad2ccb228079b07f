#include "classes/lambda_layer.h"

#include "instances/lua_objects.h"

namespace crescent::lua {
namespace {

class Lambda final : public Layer {
 public:
  static void describe(Schema<Lambda>& s) {
    s.doc(
         "Applies a function to its input. The function is not stored in files: a file names it by "
         "the name of the layer, "
         "and load_model takes it in custom_objects.")
        .field("function", &Lambda::function_,
               "A function of a tensor (or of a table of them), or a known activation's name.")
        .required()
        .field("output_shape", &Lambda::output_shape_,
               "Found by running the function; accepted as Keras writes it.")
        .field("mask", &Lambda::mask_,
               "The mask of the output: a tensor, or a function of the inputs and their masks; "
               "null: none. Like the function it is not stored; its name is that of the layer and "
               "\"_mask\".")
        .omit_null()
        .field("arguments", &Lambda::arguments_, "Handed to the function as second argument.");
  }
  void configured() override {
    Layer::configured();
    function_name_ = function_.is_string() ? function_.as_string() : name();
    mask_name_ = mask_.is_string() ? mask_.as_string() : name() + "_mask";
    set_supports_masking(!mask_.is_null());
  }
  Tensors call(const Tensors& inputs, const Call&) override {
    auto function = function_.object_as<LuaFunction>();
    return function ? call_function(*function, inputs, arguments_) : Tensors{call_by_name(inputs)};
  }
  Tensors compute_mask(const Tensors& inputs, const Tensors& masks, const Tensors&) override {
    if (mask_.is_null()) return {};
    if (auto function = mask_.object_as<LuaFunction>())
      return call_function(*function, inputs, OneOrMore<Tensor>{masks});
    if (auto given = mask_.object_as<BoxedTensor>()) return {given->tensor};
    return mask_by_name(inputs, masks);
  }
  Dict get_config() const override {
    Dict config = Layer::get_config();
    config.set("function", function_name_);
    if (!mask_.is_null()) config.set("mask", mask_name_);
    return config;
  }

 private:
  template <class Second>
  Tensors call_function(const LuaFunction& function, const Tensors& inputs,
                        const Second& second) const {
    lua_State* L = current();
    Height height(L);
    reserve(L, 6);
    function.function.push(L);
    push(L, OneOrMore<Tensor>{inputs});
    push_second(L, second);
    protected_call(L, 2, 1);
    if (lua_isnil(L, -1))
      fail_in_layer(name(), "Layer ", name(), ": the function returned nothing; expected a tensor");
    return to_tensors(L, -1);
  }
  static void push_second(lua_State* L, const Dict& arguments) { push_value(L, arguments); }
  static void push_second(lua_State* L, const OneOrMore<Tensor>& masks) { push(L, masks); }
  Tensor call_by_name(const Tensors& inputs) const {
    if (!registry().find(Activation::kKind, function_name_)) fail_missing(function_name_);
    return (*get<Activation>(function_name_))(inputs.at(0));
  }
  /// A function of custom_objects is registered as an activation.
  Tensors mask_by_name(const Tensors& inputs, const Tensors& masks) const {
    if (!registry().find(Activation::kKind, mask_name_)) fail_missing(mask_name_);
    const auto registered = get<Activation>(mask_name_);
    const auto* code = dynamic_cast<const Instance*>(registered.get());
    if (!code) fail_missing(mask_name_);
    lua_State* L = current();
    Height height(L);
    code->invoke(L, "call", 1, OneOrMore<Tensor>{inputs}, OneOrMore<Tensor>{masks});
    return to_tensors(L, -1);
  }
  [[noreturn]] void fail_missing(const std::string& function) const {
    fail_in_layer(name(), "Layer ", name(), ": files do not store functions; give '", function,
                  "' in custom_objects when loading");
  }

  Value mask_;
  std::string mask_name_;
  Value function_, output_shape_;
  Dict arguments_;
  std::string function_name_;
};

}  // namespace

void register_lambda_layer() {
  static const bool once = (registry().add<Lambda>("Lambda"), true);
  (void)once;
}

}  // namespace crescent::lua
