// The C++ classes of objects whose class or function is written in Lua: their virtual functions
// call Lua.
#pragma once
#include "crescent/model/callback_hooks.h"
#include "crescent/model/distillation_loss.h"
#include "crescent/model/model.h"
#include "crescent/model/steps.h"
#include "instances/instance.h"

namespace crescent::lua {

/// The training steps of a model (train_step, ...): the methods that its Lua class defines, or the
/// default steps.
class LuaSteps : public Steps {
 public:
  StepLogs train_step(Model& model, const Batch& batch) const override;
  StepLogs test_step(Model& model, const Batch& batch) const override;
  Tensors predict_step(Model& model, const Tensors& x) const override;
  Tensor compute_loss(Model& model, const Batch& batch, const Tensors& y_pred,
                      bool training) const override;
  StepLogs compute_metrics(Model& model, const Batch& batch, const Tensors& y_pred) const override;
  bool calls_model(const Model& model) const override;
};
struct NoSteps {};

/// The tensors that a Lua function returned, on the stack from `first_result` on; `return a, {b,
/// c}` means the same as `return {a, b, c}`. Nil is left out.
Tensors returned_tensors(lua_State* L, int first_result);

/// Writes the layer's own variables to the table at `store_index`. The keys are the numbers of the
/// variables, from "0" on, as Keras stores them for classes without save_own_variables.
void store_variables_by_number(lua_State* L, int store_index, const Layer& layer);
/// Reads the layer's own variables from `stored_values`, whose keys are those of
/// store_variables_by_number().
void load_variables_by_number(const Dict& stored_values, const Layer& layer);

/// The common part of layers and models (lua_model.h); `Base` is Layer or Model.
template <class Base>
class LuaLayerOf : public Base,
                   public Instance,
                   public std::conditional_t<std::is_same_v<Base, Model>, LuaSteps, NoSteps> {
 public:
  void configured() override;
  void build(const std::vector<Shape>& inputs) override;
  Tensors call(const Tensors& inputs, const Call& call) override;
  Tensors compute_mask(const Tensors& inputs, const Tensors& masks,
                       const Tensors& outputs) override;
  void reset_states() override;
  Dict get_config() const override { return with_build_config(configuration(Base::get_config())); }
  Dict base_config() const { return Base::get_config(); }
  /// The names of the arguments that the class declares for call() or, if it declares none, of the
  /// parameters of its call function.
  std::vector<std::string> positional_arguments() const override;
  bool takes_structures() const override { return true; }
  bool reads_masks() const override { return true; }
  bool computes_with_sizes() const override { return true; }
  template <class T>
  static void describe_base(Schema<T>& s) {
    Base::template describe_base<T>(s);
    s.property("layers_by_attribute", &T::layers_by_attribute,
               "Layers by the attributes that hold them, in lists where that is a table: files of "
               "Keras 3 are laid out by them.")
        .property("cell_state_size", &T::cell_state_size,
                  "The attribute state_size, which makes it a cell of RNN; else nothing.")
        .property("keeps_own_variables", &T::keeps_own_variables,
                  "Whether its class has save_own_variables(store) or load_own_variables(store).")
        .property("own_variables", &T::own_variables, &T::set_own_variables,
                  "What save_own_variables puts into the store for files of Keras 3, and "
                  "load_own_variables takes out.")
        .property("keeps_assets", &T::keeps_assets,
                  "Whether its class has save_assets(dir_path) or load_assets(dir_path).")
        .method("write_assets", &T::write_assets,
                "Calls save_assets(dir_path) of its class, as archives of Keras 3 do when they are "
                "saved.")
        .arg("dir_path", "Path of the folder.")
        .method("read_assets", &T::read_assets,
                "Calls load_assets(dir_path) of its class, as archives of Keras 3 do when they are "
                "loaded.")
        .arg("dir_path", "Path of the folder.");
  }
  Value cell_state_size() const { return attribute("state_size"); }
  bool keeps_own_variables() const;
  Value own_variables() const;
  void set_own_variables(const Value& stored_values);
  bool keeps_assets() const;
  void write_assets(const std::string& dir_path) const {
    call_with_folder("save_assets", dir_path);
  }
  void read_assets(const std::string& dir_path) { call_with_folder("load_assets", dir_path); }

 protected:
  /// Adds the result of the class's get_build_config to the configuration; when the layer is made
  /// again, build_from_config gets it.
  Dict with_build_config(Dict config) const;
  /// How the inputs of the layer are nested: during the call that builds the layer, as in this
  /// call; otherwise, for a model, as structures().inputs says.
  Value call_structure() const;

 private:
  /// Calls the method of the class, if it has one, with the path of a folder.
  void call_with_folder(const char* method, const std::string& dir_path) const;

  bool is_resetting_ = false;
};

class LuaLayer final : public LuaLayerOf<Layer> {
 public:
  static void describe(Schema<LuaLayer>&) {}
};

/// The common part of all classes other than layers and models: options, init, configuration.
template <class Base>
class LuaObjectOf : public Base, public Instance {
 public:
  void configured() override {
    Base::configured();
    start();
  }
  std::string class_name() const override {
    return is_function() ? function_name() : Base::class_name();
  }
  Dict get_config() const override {
    return is_function() ? Dict() : configuration(Base::get_config());
  }
  Dict base_config() const { return Base::get_config(); }
};

/// Calls object:method(arguments...) and returns its result, which must be a tensor.
template <class Object, class... A>
Tensor call_for_tensor(const Object& object, const char* method, const A&... arguments) {
  lua_State* L = current();
  StackRestorer restorer(L);
  object.invoke(L, method, 1, arguments...);
  if (lua_isnil(L, -1))
    fail(object.class_name(), ": ", method, "() returned nothing; expected a tensor");
  return to_tensor(L, -1);
}

class LuaActivation final : public LuaObjectOf<Activation> {
 public:
  static void describe(Schema<LuaActivation>&) {}
  Tensor operator()(const Tensor& x) const override { return call_for_tensor(*this, "call", x); }
};
class LuaInitializer final : public LuaObjectOf<Initializer> {
 public:
  static void describe(Schema<LuaInitializer>&) {}
  Tensor operator()(const Shape& shape, DType dtype) const override;
};
class LuaRegularizer final : public LuaObjectOf<Regularizer> {
 public:
  static void describe(Schema<LuaRegularizer>&) {}
  Tensor operator()(const Tensor& weight) const override {
    return call_for_tensor(*this, "call", weight);
  }
};
class LuaConstraint final : public LuaObjectOf<Constraint> {
 public:
  static void describe(Schema<LuaConstraint>&) {}
  Tensor operator()(const Tensor& weight) const override {
    return call_for_tensor(*this, "call", weight);
  }
};
class LuaSchedule final : public LuaObjectOf<Schedule> {
 public:
  static void describe(Schema<LuaSchedule>&) {}
  Tensor operator()(const Tensor& step) const override;
};
class LuaLoss final : public LuaObjectOf<Loss> {
 public:
  static void describe(Schema<LuaLoss>&) {}
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    return call_for_tensor(*this, "call", y_true, y_pred);
  }
};

/// A distillation loss: a class with compute_loss. Its attributes teacher_layer_name and
/// student_layer_name name the layers whose outputs are compared.
class LuaDistillationLoss final : public LuaObjectOf<DistillationLoss> {
 public:
  static void describe(Schema<LuaDistillationLoss>&) {}
  Tensor compute_loss(const Value& teacher_outputs, const Value& student_outputs) const override;
  void validate_outputs(const Value& teacher_outputs, const Value& student_outputs) const override;
  void validate_model_compatibility(const Model& teacher, const Model& student) const override;
  std::optional<std::string> teacher_layer_name() const override {
    return layer_name("teacher_layer_name");
  }
  std::optional<std::string> student_layer_name() const override {
    return layer_name("student_layer_name");
  }

 private:
  std::optional<std::string> layer_name(const char* attribute_name) const {
    return Codec<std::optional<std::string>>::decode(attribute(attribute_name));
  }
  /// Calls a method of the class, or `otherwise` if the class has none; also if the method itself
  /// calls that of its base.
  template <class F, class... A>
  void run_check(const char* method, const F& otherwise, const A&... arguments) const;
  mutable bool is_checking_ = false;
};

/// A metric: a class with update_state and result, or a function whose values are averaged over
/// samples.
class LuaMetric final : public LuaObjectOf<Metric> {
 public:
  static void describe(Schema<LuaMetric>&) {}
  void configured() override;
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight) override;
  Tensor result() const override;
  void reset_state() override;
  /// The direction given by the attribute _direction, "up" or "down", of the class or the instance,
  /// as in Keras.
  Direction direction() const override;
  /// `initializer` may be null.
  Variable new_variable(std::optional<std::string> name, std::optional<Shape> shape, DType dtype,
                        const std::shared_ptr<Initializer>& initializer);

 private:
  Variable total_, count_;
};

class LuaCallback final : public LuaObjectOf<ForwardingCallback> {
 public:
  static void describe(Schema<LuaCallback>&) {}
  void on_epoch_end(int64_t epoch, Logs& logs) override;
  Dict get_state() const override;
  void set_state(const Dict& state) override;
  /// Whether the callback only writes or shows values that are equal in all processes of a
  /// distributed training, so that only one process calls its hooks: the attribute writes_for_all
  /// of the object or its class; false if there is no such attribute.
  bool writes_for_all() const override { return attribute("writes_for_all") == Value(true); }

 protected:
  /// Calls the hook by its current name or, if the class does not define a function of this name,
  /// by its older name.
  void forward(const CallbackHook& hook, int64_t number, const Logs& logs) override;
};

}  // namespace crescent::lua
