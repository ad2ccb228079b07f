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
        .field("arguments", &Lambda::arguments_, "Handed to the function as second argument.");
  }
  void configured() override {
    Layer::configured();
    function_name_ = function_.is_string() ? function_.as_string() : name();
  }
  Tensors call(const Tensors& inputs, const Call&) override {
    auto function = function_.object_as<LuaFunction>();
    return function ? call_function(*function, inputs) : Tensors{call_by_name(inputs)};
  }
  Dict get_config() const override {
    Dict config = Layer::get_config();
    config.set("function", function_name_);
    return config;
  }

 private:
  Tensors call_function(const LuaFunction& function, const Tensors& inputs) const {
    lua_State* L = current();
    Height height(L);
    reserve(L, 6);
    function.function.push(L);
    push(L, OneOrMore<Tensor>{inputs});
    push_value(L, arguments_);
    protected_call(L, 2, 1);
    if (lua_isnil(L, -1))
      fail_in_layer(name(), "Layer ", name(), ": the function returned nothing; expected a tensor");
    return to_tensors(L, -1);
  }
  Tensor call_by_name(const Tensors& inputs) const {
    if (!registry().find(Activation::kKind, function_name_))
      fail_in_layer(name(), "Layer ", name(), ": files do not store functions; give '",
                    function_name_, "' in custom_objects when loading");
    return (*get<Activation>(function_name_))(inputs.at(0));
  }

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
