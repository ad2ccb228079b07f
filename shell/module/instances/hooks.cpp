#include "instances/hooks.h"

#include <algorithm>
#include <set>

#include "crescent/model/callback_hooks.h"
#include "crescent/model/model.h"
#include "instances/instance.h"
#include "lua/class_table.h"
#include "lua/misspelling.h"

namespace crescent::lua {
namespace {

// The address is the key of a field of class tables, which is set once the hooks of the class have
// been checked.
const char hooks_checked_key = 0;

/// A name that a Lua class may give to a function. If `reason_unused` is null, C++ calls such a
/// function; otherwise nothing calls it, and `reason_unused` is the reason for a warning.
struct Hook {
  const char *base, *name, *reason_unused;
};

constexpr const char* kShapesByCall = "output shapes are found by running call";
constexpr const char* kOverrideSteps =
    "what fit compiles is the model's train_step, test_step or predict_step; override those";

constexpr const char* kFilesKeepCompile = "files keep what cr.Model.compile was given";
constexpr const char* kSlotsNameState = "slots() names what each variable has beside it";
constexpr const char* kUpdateRule =
    "update_step(gradient, variable, learning_rate, state) is the rule";

constexpr Hook kHooksOfClasses[] = {
    {"", "init", nullptr},
    {"", "__init__", "init() is"},
    {"", "get_config", nullptr},
    {"", "from_config", nullptr},
    {"Layer", "learned_options", nullptr},
    {"Layer", "build", nullptr},
    {"Layer", "call", nullptr},
    {"Layer", "__call__", "call() is"},
    {"Layer", "compute_mask", nullptr},
    {"Layer", "reset_states", nullptr},
    {"Layer", "compute_output_shape", kShapesByCall},
    {"Layer", "compute_output_spec", kShapesByCall},
    {"Layer", "save_own_variables", nullptr},
    {"Layer", "load_own_variables", nullptr},
    {"Layer", "save_assets", nullptr},
    {"Layer", "load_assets", nullptr},
    {"Layer", "get_build_config", nullptr},
    {"Layer", "build_from_config", nullptr},
    {"Model", "train_step", nullptr},
    {"Model", "test_step", nullptr},
    {"Model", "predict_step", nullptr},
    {"Model", "compute_loss", nullptr},
    {"Model", "compute_metrics", nullptr},
    {"Model", "get_compile_config", kFilesKeepCompile},
    {"Model", "compile_from_config", kFilesKeepCompile},
    {"Model", "make_train_function", kOverrideSteps},
    {"Model", "make_test_function", kOverrideSteps},
    {"Model", "make_predict_function", kOverrideSteps},
    {"Activation", "call", nullptr},
    {"Constraint", "call", nullptr},
    {"Initializer", "call", nullptr},
    {"LearningRateSchedule", "call", nullptr},
    {"DistillationLoss", "compute_loss", nullptr},
    {"DistillationLoss", "validate_outputs", nullptr},
    {"DistillationLoss", "validate_model_compatibility", nullptr},
    {"DistillationLoss", "call", "compute_loss(teacher_outputs, student_outputs) is"},
    {"Loss", "call", nullptr},
    {"Loss", "__call__", "call() is"},
    {"Regularizer", "call", nullptr},
    {"Optimizer", "slots", nullptr},
    {"Optimizer", "initial_slot", nullptr},
    {"Optimizer", "update_step", nullptr},
    {"Optimizer", "build", kSlotsNameState},
    {"Optimizer", "apply", kUpdateRule},
    {"Optimizer", "apply_gradients", kUpdateRule},
    {"Metric", "update_state", nullptr},
    {"Metric", "result", nullptr},
    {"Metric", "reset_state", nullptr},
    {"Metric", "reset_states", "reset_state() is"},
    {"Dataset", "len", nullptr},
    {"Dataset", "get", nullptr},
    {"Dataset", "on_epoch_begin", nullptr},
    {"Dataset", "on_epoch_end", nullptr},
    {"Dataset", "__len", "len() is"},
    {"Dataset", "__len__", "len() is"},
    {"Dataset", "__getitem__", "get(number) is, which counts from 1"},
    {"Dataset", "num_batches", "len() is"},
    {"Format", "save_model", nullptr},
    {"Format", "load_model", nullptr},
    {"Format", "save_weights", nullptr},
    {"Format", "load_weights", nullptr},
    {"Format", "read_array", nullptr},
    {"Format", "read_arrays", nullptr},
    {"Format", "write_arrays", nullptr},
    {"Format", "endings", nullptr},
    {"Format", "signatures", nullptr},
    {"Format", "open_array", "read_array() is"},
    {"Format", "write_array", "write_arrays(path, arrays) is"},
    {"Format", "match", "files are found by the class's endings and signatures"},
    {"Callback", "set_model", "the model is in self.model"},
    {"Callback", "set_params", "the run's parameters are in self.params"},
};

/// The hooks of all bases.
const std::vector<Hook>& hooks() {
  static const std::vector<Hook> all_hooks = [] {
    std::vector<Hook> hooks(std::begin(kHooksOfClasses), std::end(kHooksOfClasses));
    for (const CallbackHook& hook : kCallbackHooks) {
      hooks.push_back({"Callback", hook.name, nullptr});
      if (hook.older_name) hooks.push_back({"Callback", hook.older_name, nullptr});
    }
    return hooks;
  }();
  return all_hooks;
}

/// Whether the hook belongs to the base; a model also has the hooks of layers.
bool is_hook_of(const Hook& hook, std::string_view base) {
  return !*hook.base || hook.base == base ||
         (base == "Model" && std::string_view(hook.base) == "Layer");
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The text " (did you mean 'build'?)" if the name is a misspelling of a hook that the class does
/// not define; else empty. A function of a callback whose name begins with on_ is most likely meant
/// as a hook; its name need only be roughly similar to that of the hook.
std::string hook_suggestion(const std::string& name, std::string_view base,
                            const std::vector<std::string>& function_names) {
  std::vector<std::string> event_hooks;
  for (const Hook& hook : hooks()) {
    const std::string hook_name = hook.name;
    if (!is_hook_of(hook, base) || contains(function_names, hook_name)) continue;
    if (is_misspelling(name, hook_name)) return concat(" (did you mean '", hook_name, "'?)");
    if (hook_name.starts_with("on_")) event_hooks.push_back(hook_name);
  }
  return name.starts_with("on_") ? did_you_mean(name, event_hooks) : "";
}

void warn_of_unused_name(const std::string& class_name, const std::string& name, const char* base,
                         const std::vector<std::string>& function_names) {
  for (const Hook& hook : hooks()) {
    if (!is_hook_of(hook, base) || name != hook.name) continue;
    if (hook.reason_unused)
      warn("class ", class_name, ": ", name, "() is not called: ", hook.reason_unused);
    return;
  }
  if (std::any_of(hooks().begin(), hooks().end(), [&](const Hook& hook) {
        return name == hook.name && std::string_view(hook.base) == "Layer" &&
               !is_hook_of(hook, base);
      }))
    return warn("class ", class_name, ": ", name, "() is not called: layers have it, and ", base,
                " does not");
  if (const std::string suggestion = hook_suggestion(name, base, function_names);
      !suggestion.empty())
    warn("class ", class_name, ": ", name, "() is not a hook of ", base, suggestion);
}

/// The names of the parameters of a function that the class itself defines in Lua.
std::vector<std::string> parameters_of(lua_State* L, int class_index, const std::string& name) {
  const StackRestorer restorer(L);
  std::vector<std::string> names;
  push_string(L, name);
  push_member(L, class_index);
  if (!lua_isfunction(L, -1) || lua_iscfunction(L, -1)) return names;
  for (int i = 1; const char* parameter = lua_getlocal(L, nullptr, i); ++i)
    names.push_back(parameter);
  return names;
}

/// Warns of a hook that is defined without self, such as function Net.call(x): the first argument
/// of a hook is the object.
void warn_of_missing_self(lua_State* L, int class_index, const std::string& class_name,
                          const std::string& name) {
  static const std::set<std::string_view> kNamesOfObjects = {
      "self", "this",   "me",       "cls",       "class",    "object", "layer",   "model",
      "loss", "metric", "callback", "optimizer", "schedule", "data",   "dataset", "format"};
  const std::vector<std::string> parameters = parameters_of(L, class_index, name);
  if (parameters.empty() || parameters[0][0] == '_' || kNamesOfObjects.contains(parameters[0]))
    return;
  warn("class ", class_name, ": ", name, "() gets the object as '", parameters[0],
       "'; with ':' the object is self: function ", class_name, ":", name, "(", join(parameters),
       ")");
}

std::string name_of_class(lua_State* L, int class_index) {
  StackRestorer restorer(L);
  lua_getfield(L, class_index, "__name");
  return text_of(L, -1);
}

/// Whether the table itself has the field, not by its metatable.
bool has_field(lua_State* L, int table_index, const std::string& name) {
  const StackRestorer restorer(L);
  push_string(L, name);
  return lua_rawget(L, table_index) != LUA_TNIL;
}

}  // namespace

bool is_hook(std::string_view name, std::string_view base) {
  return std::any_of(hooks().begin(), hooks().end(),
                     [&](const Hook& hook) { return is_hook_of(hook, base) && name == hook.name; });
}

void warn_of_uncalled_hooks(lua_State* L, int class_index, int base_index, const char* base) {
  StackRestorer restorer(L);
  if (lua_rawgetp(L, class_index, &hooks_checked_key) != LUA_TNIL) return;
  lua_pushboolean(L, true);
  lua_rawsetp(L, class_index, &hooks_checked_key);
  const std::vector<std::string> function_names = defined_functions(L, class_index);
  const std::string class_name = name_of_class(L, class_index);
  for (const std::string& name : function_names) {
    const bool is_called = is_hook(name, base);
    if (is_called) warn_of_missing_self(L, class_index, class_name, name);
    if (is_called || !has_field(L, base_index, name))
      warn_of_unused_name(class_name, name, base, function_names);
  }
}

}  // namespace crescent::lua
