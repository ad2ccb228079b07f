#include "library/scripts.h"

#include <algorithm>
#include <mutex>

#include "classes/building.h"
#include "classes/lua_class.h"
#include "crescent/base/pattern.h"
#include "crescent/io/format.h"
#include "crescent/io/picture.h"
#include "crescent/layer/operation.h"
#include "crescent/layer/training.h"
#include "crescent/program/distribution.h"
#include "crescent/program/division.h"
#include "crescent/system/terminal.h"
#include "crescent/tensor/print.h"
#include "host/run_limits.h"
#include "instances/custom_classes.h"
#include "instances/functions.h"
#include "instances/lua_model.h"
#include "library/examples.h"
#include "library/feature_spaces.h"
#include "library/lua_sources.h"
#include "library/namespaces.h"
#include "library/searches.h"
#include "lua/lists.h"
#include "lua/misspelling.h"
#include "lua/results.h"
#include "values/callable.h"
#include "values/modules.h"

namespace crescent::lua {
namespace {

// The key in the Lua registry of the table `shell`, which the Lua libraries share.
const char shell_key = 0;

/// The beginning of the names under which error messages refer to Lua libraries, as in
/// "crescent/applications/resnet:12: ".
constexpr std::string_view kChunkPrefix = "crescent/";

/// Converts a row {name=, type=, default=, doc=, required=} to an option, for help and completion.
Field option_from(const Dict& row) {
  Field option;
  option.name = row.at("name").as_string();
  option.type = row.at("type").as_string();
  option.doc = row.at("doc").as_string();
  option.required = row.contains("required");
  if (const Value* fallback = row.find("default")) option.default_value = *fallback;
  return option;
}

/// A bit mask of the rows that have this flag; there is one row per parameter.
unsigned flag_mask(const List& rows, const char* flag) {
  unsigned bits = 0;
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].as_dict().contains(flag)) bits |= 1u << i;
  return bits;
}

SchemaData options_from(const List& rows) {
  SchemaData options;
  for (const Value& row : rows) options.fields.push_back(option_from(row.as_dict()));
  return options;
}

/// Whether only Lua libraries call the function of this name. The message of its error must name
/// the library function that the user called.
bool is_internal_function(std::string_view word) {
  constexpr std::string_view kInternalFunctions[] = {"draw", "save_picture", "permutation",
                                                     "randint", "uniform"};
  return std::find(std::begin(kInternalFunctions), std::end(kInternalFunctions), word) !=
             std::end(kInternalFunctions) ||
         registry().find(Operation::kKind, word) != nullptr;
}

/// The message of an error in an internal function, with the internal function's name replaced by
/// the name of the function that the user called.
std::string with_called_name(std::string_view message, std::string_view name) {
  const std::string_view word = message.substr(0, std::min(message.find(": "), message.size()));
  return is_internal_function(word) ? concat(name, message.substr(word.size()))
                                    : std::string(message);
}

/// Calls a library function written in Lua. Errors are reported at the line of the user's code that
/// called the function; their messages begin with its name.
void call_library(lua_State* L, int argument_count, std::string_view name) {
  try {
    protected_call(L, argument_count, LUA_MULTRET);
  } catch (const LuaError& error) {
    const std::string_view text = error.what();
    const size_t colon = text.starts_with(kChunkPrefix) ? text.find(": ") : text.npos;
    if (colon == text.npos) throw;
    fail(with_called_name(text.substr(colon + 2), name));
  }
}

/// A function that a Lua library defines by shell.define. Its body, a Lua function, is the second
/// upvalue of the C function; it is called with one value per option.
class LibraryFunction final : public Callable {
 public:
  LibraryFunction(const std::string& name, const std::string& doc, const List& rows)
      : LibraryFunction(name, doc, options_from(rows)) {
    takes_names_ = flag_mask(rows, "takes_names");
    takes_lists_ = flag_mask(rows, "takes_lists");
  }

  int call(lua_State* L) const override {
    arrange(L, takes_names_, takes_lists_);
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_insert(L, 1);
    call_library(L, lua_gettop(L) - 1, name());
    return lua_gettop(L);
  }
  const SchemaData* options() const override { return &options_; }

 private:
  LibraryFunction(const std::string& name, const std::string& doc, SchemaData options)
      : Callable(name, Parameters({options.fields.begin(), options.fields.end()}), doc),
        options_(std::move(options)) {
    options_.title = this->name();
  }

  SchemaData options_;
  unsigned takes_names_ = 0, takes_lists_ = 0;
};

/// Stores a function until the process ends, because Lua refers to each Callable by a plain
/// pointer. This is no leak, since libraries define a limited number of functions.
const Callable& keep_callable(CallablePtr function) {
  static std::mutex mutex;
  static std::vector<CallablePtr> functions;
  const std::lock_guard lock(mutex);
  functions.push_back(std::move(function));
  return *functions.back();
}

/// Implements define(name, doc, options, body): makes a function that has these options and calls
/// `body`.
OnStack define(const std::string& name, const std::string& doc, Value options, Any body) {
  lua_State* L = current();
  const Callable& function =
      keep_callable(std::make_unique<const LibraryFunction>(name, doc, options.as_list()));
  lua_pushlightuserdata(L, const_cast<Callable*>(&function));
  lua_pushvalue(L, body.index);
  lua_pushcclosure(L, crescent_invoke, 2);
  return {};
}

void load_source(lua_State* L, const std::string& name) {
  const LuaSource& source = lua_source(name);
  const std::string chunk = concat("=", kChunkPrefix, name);
  if (luaL_loadbufferx(L, source.text.data(), source.text.size(), chunk.c_str(), "t") != LUA_OK)
    fail(text_of(L, -1));
}

OnStack library_chunk(const std::string& name) {
  load_source(current(), name);
  return {};
}

/// The parts of the next automatic layer name: "conv2d" and 3 for the class "Conv2D".
std::tuple<std::string, int64_t> next_layer_name_parts(const std::string& class_name) {
  const std::string base_name = to_snake_case(class_name);
  return {base_name, std::stoll(unique_name(base_name).substr(base_name.size() + 1))};
}

/// The class of datasets with this name; nil if there is none.
OnStack dataset_class(const std::string& name) {
  const ClassPtr info = registry().find(kDatasetKind, name);
  info ? push(current(), info) : lua_pushnil(current());
  return {};
}

void warning(const std::string& text) { warn(text); }

std::string suggestion(const std::string& word, Value names) {
  std::vector<std::string> candidates;
  for (const Value& name : names.as_list()) candidates.push_back(name.as_string());
  return did_you_mean(word, candidates);
}

bool misspelled(const std::string& word, const std::string& intended_word) {
  return is_misspelling(word, intended_word);
}

/// Whether the value is a table without a metatable, or a list that C++ returned (lists.h,
/// results.h).
bool is_structure(Any value) {
  lua_State* L = current();
  if (!lua_istable(L, value.index)) return false;
  const StackRestorer restorer(L);
  return is_marked_list(L, value.index) || is_results(L, value.index) ||
         !lua_getmetatable(L, value.index);
}

void set_printing(int64_t precision, int64_t threshold, int64_t width) {
  set_print_options({static_cast<int>(std::clamp<int64_t>(precision, -1, 17)), threshold, width});
}

void set_data_parallel(bool on) {
  set_distribution(on ? Distribution::data_parallel : Distribution::none);
}

/// Sets how weights are distributed over processes. Each row is for the weights whose paths match
/// its pattern and whose number of axes is `rank`: `axis` is divided among `parts` processes.
/// Without `parts`, each process has the whole weights.
void set_weight_layouts(const Value& list) {
  std::vector<WeightLayout> layouts;
  for (const Value& row : list.is_list() ? list.as_list() : List()) {
    const Dict& entry = row.as_dict();
    const auto number = [&](const char* name) { return static_cast<int>(entry.at(name).as_int()); };
    WeightLayout layout{entry.at("pattern").as_string(), number("rank"), std::nullopt};
    if (entry.contains("parts"))
      layout.division = {number("axis"), number("parts"), number("stride"), communicator()->size()};
    layouts.push_back(std::move(layout));
  }
  set_layouts(std::move(layouts));
}

bool is_data_parallel() { return distribution() == Distribution::data_parallel; }

void register_named_function(const std::string& name, Any function) {
  register_function(name, Ref(current(), function.index));
}

void withdraw_named_function(const std::string& name) { withdraw_function(name); }

void use_custom_classes(Any table) { set_custom_classes(current(), table.index); }

void register_named_class(const std::string& name, Any table) {
  register_class_as(current(), table.index, name);
}

void set_base_maker(const std::string& name, Any maker) {
  lua_State* L = current();
  push_base_makers(L);
  lua_pushvalue(L, maker.index);
  lua_setfield(L, -2, name.c_str());
  lua_pop(L, 1);
}

bool save_space(const std::string& path, NamedValueTable space) {
  return save_feature_space(path, space.dict);
}

/// Calls the method `method` of the file format `name`.
Value call_format(const std::string& name, const std::string& method, NamedValueTable arguments) {
  return format_named(name, ModelFormat::kAbility)->call_method(method, arguments.dict);
}

/// Pushes the options with which an object of a class written in Lua was made.
OnStack options_of_instance(Any object) {
  lua_getiuservalue(current(), object.index, kOptions);
  return {};
}

LuaModel& lua_model(const std::shared_ptr<Object>& object) {
  if (auto* model = dynamic_cast<LuaModel*>(object.get())) return *model;
  fail("expected a model of a class made by subclass");
}

void become_stack(const std::shared_ptr<Object>& model) { lua_model(model).become_stack(); }
void add_to_stack(const std::shared_ptr<Object>& model, const StackedLayer& layer,
                  bool is_in_config) {
  lua_model(model).add(layer.layer, is_in_config);
}
void pop_from_stack(const std::shared_ptr<Object>& model) { lua_model(model).pop(); }

/// The names of all dtypes.
std::vector<std::string> dtypes() {
  std::vector<std::string> names;
  for (int i = 0; i < kDTypeCount; ++i) names.emplace_back(name_of(static_cast<DType>(i)));
  return names;
}

/// Whether the regular expression matches the whole text.
bool matches(const std::string& expression, const std::string& text) {
  return Pattern(expression, "expression").matches(text);
}

void record_path(const std::string& path, Any table) {
  lua_State* L = current();
  const StackRestorer restorer(L);
  lua_pushvalue(L, table.index);
  record_path_of_module(L, path);
}

/// The bytes of a picture file of a figure, drawn by the picture class `picture_class`
/// (crescent/io/picture.h).
std::string draw_picture(const std::string& picture_class, NamedValueTable figure,
                         NamedValueTable options) {
  return make<Picture>(picture_class)->draw(figure.dict, options.dict);
}

void save_drawn_picture(const std::string& path, NamedValueTable figure, NamedValueTable options) {
  save_picture(path, figure.dict, options.dict);
}

const std::vector<CallablePtr>& script_functions() {
  static const std::vector<CallablePtr> functions = [] {
    std::vector<CallablePtr> callables;
    callables.push_back(bound("define", &define, {"name", "doc", "options", "body"}));
    callables.push_back(bound("source", &library_chunk, {"name"}));
    callables.push_back(bound("counted_name", &next_layer_name_parts, {"class_name"}));
    callables.push_back(bound("dataset_class", &dataset_class, {"name"}));
    callables.push_back(bound("warn", &warning, {"text"}));
    callables.push_back(bound("given_options", &options_of_instance, {"object"}));
    callables.push_back(bound("become_stack", &become_stack, {"model"}));
    callables.push_back(
        bound("add_to_stack", &add_to_stack, {"model", "layer", "in_config=false"}));
    callables.push_back(bound("pop_from_stack", &pop_from_stack, {"model"}));
    callables.push_back(bound("dtypes", &dtypes, {}));
    callables.push_back(bound("matches", &matches, {"expression", "text"}));
    callables.push_back(bound("note_path", &record_path, {"path", "table"}));
    callables.push_back(bound("did_you_mean", &suggestion, {"word", "names"}));
    callables.push_back(bound("is_misspelling", &misspelled, {"written", "meant"}));
    callables.push_back(bound("example", &example_of, {"name"}));
    callables.push_back(bound("errors", &errors_of, {"name"}));
    callables.push_back(bound("family", &family_of, {"name"}));
    callables.push_back(bound("names_with_example", &names_with_example, {"name=\"\""}));
    callables.push_back(bound("is_structure", &is_structure, {"value=nil"}));
    callables.push_back(bound("set_printing", &set_printing, {"precision", "threshold", "width"}));
    callables.push_back(bound("set_data_parallel", &set_data_parallel, {"on"}));
    callables.push_back(bound("is_data_parallel", &is_data_parallel, {}));
    callables.push_back(bound("set_weight_layouts", &set_weight_layouts, {"layouts"}));
    callables.push_back(bound("set_shares_inference", &crescent::set_shares_inference, {"on"}));
    callables.push_back(bound("shares_inference", &crescent::shares_inference, {}));
    callables.push_back(bound("max_epochs", &crescent::max_epochs, {}));
    callables.push_back(bound("set_max_epochs", &crescent::set_max_epochs, {"limit=nil"}));
    callables.push_back(bound("max_steps_per_epoch", &crescent::max_steps_per_epoch, {}));
    callables.push_back(
        bound("set_max_steps_per_epoch", &crescent::set_max_steps_per_epoch, {"limit=nil"}));
    callables.push_back(bound("set_shards_data", &crescent::set_shards_data, {"on"}));
    callables.push_back(bound("shards_data", &crescent::shards_data, {}));
    callables.push_back(bound("fitting_columns", &fitting_columns, {"columns", "least"}));
    callables.push_back(bound("draw", &draw_picture, {"way", "figure", "options"}));
    callables.push_back(bound("save_picture", &save_drawn_picture, {"path", "figure", "options"}));
    callables.push_back(bound("save_feature_space", &save_space, {"path", "space"}));
    callables.push_back(bound("call_format", &call_format, {"name", "method", "arguments"}));
    callables.push_back(bound("set_base", &set_base_maker, {"name", "make"}));
    callables.push_back(bound("register_function", &register_named_function, {"name", "function"}));
    callables.push_back(bound("withdraw_function", &withdraw_named_function, {"name"}));
    callables.push_back(bound("set_custom_classes", &use_custom_classes, {"classes"}));
    callables.push_back(bound("register_class", &register_named_class, {"name", "class"}));
    for (CallablePtr& function : search_functions()) callables.push_back(std::move(function));
    return callables;
  }();
  return functions;
}

}  // namespace

void run_scripts(lua_State* L) {
  const int module_index = lua_gettop(L);
  load_source(L, "libraries");
  lua_pushvalue(L, module_index);
  lua_newtable(L);
  for (const CallablePtr& function : script_functions()) {
    push_callable(L, *function);
    lua_setfield(L, -2, function->name().c_str());
  }
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &shell_key);
  protected_call(L, 2, 0);
}

int call_script_method(lua_State* L, const char* name) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &shell_key);
  push_field(L, -1, "methods");
  push_field(L, -1, name);
  lua_replace(L, -3);
  lua_pop(L, 1);
  lua_insert(L, 1);
  const std::string_view path = name;
  call_library(L, lua_gettop(L) - 1, path.substr(path.find('.') + 1));
  return lua_gettop(L);
}

}  // namespace crescent::lua
