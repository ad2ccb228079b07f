#include "classes/lua_factory.h"

#include <algorithm>
#include <limits>

#include "classes/building.h"
#include "classes/lua_base.h"
#include "classes/lua_dataset.h"
#include "classes/options.h"
#include "instances/hooks.h"
#include "instances/lua_model.h"
#include "values/modules.h"

namespace crescent::lua {
namespace {

/// Whether the class or one of its parents defines the function; the base class (cr.Layer, ...) is
/// not searched.
bool defines(lua_State* L, int class_index, const char* name) {
  StackRestorer restorer(L);
  lua_pushstring(L, name);
  return push_member(L, class_index);
}

constexpr const char* kEndpoints[] = {"inputs", "outputs"};

/// Whether the options give the model a graph: `inputs` or `outputs` is a symbol, a table of
/// symbols or a Functional. Other values may belong to options that a class with an init declares
/// under these names.
bool has_graph(lua_State* L, int class_index, int options_index) {
  if (!is_model(base_at(L, class_index))) return false;
  return std::any_of(std::begin(kEndpoints), std::end(kEndpoints), [&](const char* endpoint) {
    const StackRestorer restorer(L);
    push_field(L, options_index, endpoint);
    return is_symbolic(L, -1) || object_as<Functional>(L, -1);
  });
}

bool is_endpoint(const std::string& name) {
  return std::find(std::begin(kEndpoints), std::end(kEndpoints), name) != std::end(kEndpoints);
}

/// The options in the table that the schema declares; the init of the class handles the others.
Dict known_options(lua_State* L, int class_index, int options_index, const SchemaData& schema) {
  Dict result;
  const bool has_init = defines(L, class_index, "init");
  const bool declares_endpoints = has_init && !has_graph(L, class_index, options_index);
  for (lua_pushnil(L); lua_next(L, options_index); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) {
      if (!has_init)
        fail(schema.title, ": no option at position ", text_of(L, -2), "; give options by name");
      continue;
    }
    const std::string name = text_of(L, -2);
    const Field* field = schema.find(name);
    if (field && !(declares_endpoints && field->keyword_only && is_endpoint(name)))
      result.set(name, to_value(L, lua_gettop(L)));
    else if (!has_init)
      fail(schema.title, ": no option '", name, "'", did_you_mean(name, schema.names()));
  }
  adapt_options(result, schema);
  return result;
}

/// Puts the options in the order of their declarations, and adds the defaults of declared options
/// that were not given. Layers among the options become sublayers in this order.
Dict with_defaults(const Dict& options, const SchemaData& schema) {
  Dict result;
  const auto add = [&](const std::string& name) {
    const Value* value = options.find(name);
    if (value) result.set(name, *value);
    return value != nullptr;
  };
  for (const Field& field : schema.fields) {
    const bool is_given =
        add(field.name) || std::any_of(field.aliases.begin(), field.aliases.end(), add);
    if (!field.keyword_only && !is_given) result.set(field.name, field.default_value);
  }
  for (const DictEntry& entry : options) result.set(entry.key, entry.value);
  return result;
}

/// Removes the option build_config, the argument of build_from_config, from the table and returns
/// it, unless the class declares an option of this name.
Value take_build_config(lua_State* L, int options_index, const SchemaData& schema) {
  if (schema.find(kBuildConfig)) return {};
  push_field(L, options_index, kBuildConfig);
  Value config = to_value(L, lua_gettop(L));
  lua_pop(L, 1);
  lua_pushnil(L);
  lua_setfield(L, options_index, kBuildConfig);
  return config;
}

/// Makes an object of the class from the table of options, without calling configured().
ObjectPtr make_instance(lua_State* L, int class_index, int options_index, const ClassPtr& info) {
  push_bases(L);
  push_field(L, -1, base_at(L, class_index).name);
  warn_of_uncalled_hooks(L, class_index, lua_gettop(L), base_at(L, class_index).name);
  lua_pop(L, 2);
  mark_instantiated(L, class_index);
  const Value build_config = take_build_config(L, options_index, info->schema);
  const Dict options =
      with_defaults(known_options(L, class_index, options_index, info->schema), info->schema);
  auto object = base_at(L, class_index).make(info->schema, options);
  if (auto* configurable = dynamic_cast<Configurable*>(object.get())) configurable->attach(info);
  // the options that the base class handles and that init does not get
  std::vector<const char*> base_options;
  if (has_graph(L, class_index, options_index))
    base_options.assign(std::begin(kEndpoints), std::end(kEndpoints));
  if (is_model(base_at(L, class_index))) base_options.push_back("build_input_shape");
  for (const char* option : base_options) {
    lua_pushnil(L);
    lua_setfield(L, options_index, option);
  }
  auto& instance = dynamic_cast<Instance&>(*object);
  instance.adopt(L, class_index, options_index);
  if (defines(L, class_index, "build_from_config")) instance.set_build_config(build_config);
  return object;
}

/// The object that the class's function from_config returns for the configuration on top of the
/// stack.
std::shared_ptr<Configurable> new_object_of_class(lua_State* L, int class_index) {
  const int config_index = lua_gettop(L);
  lua_pushliteral(L, "from_config");
  push_member(L, class_index);
  lua_pushvalue(L, class_index);
  lua_pushvalue(L, config_index);
  protected_call(L, 2, 1);
  auto object = object_as<Configurable>(L, -1);
  auto* instance = dynamic_cast<Instance*>(object.get());
  if (!instance || !object->info() || object->info()->kind != base_at(L, class_index).kind)
    fail("from_config() of the class: expected an object of it, got ", describe(L, -1));
  instance->skip_next_start();
  return object;
}

std::shared_ptr<Configurable> make_dataset_source(std::shared_ptr<LuaDataset> data,
                                                  const ClassInfo& info) {
  const auto source = ClassFactory<DatasetSource>(info.schema).make({});
  std::dynamic_pointer_cast<DatasetSource>(source)->set_stream(std::move(data));
  return source;
}

/// The kinds of objects, besides layers, that options of Lua classes may hold.
constexpr const char* kNestedKinds[] = {"optimizer",         "schedule",    "loss",
                                        "distillation_loss", "metric",      "activation",
                                        "initializer",       "regularizer", "constraint"};

/// The number of options of the class that a configuration lacks; a large number if it has an
/// option that the class does not have.
size_t count_missing_options(const ClassInfo& info, const Dict& config) {
  for (const DictEntry& entry : config)
    if (!info.schema.find(entry.key)) return std::numeric_limits<size_t>::max();
  return info.schema.names().size() - config.size();
}

/// The kind of the object with this configuration: that of a layer if there is such a class, else
/// that of the class whose options fit best; null if there is none. The name MeanSquaredError, for
/// instance, is that of a loss and of a metric.
const char* kind_of_object(std::string_view class_name, const Value& config) {
  if (registry().find(Layer::kKind, class_name)) return Layer::kKind;
  const Dict options = config.is_dict() ? config.as_dict() : Dict();
  const char* best_kind = nullptr;
  size_t fewest_missing_options = std::numeric_limits<size_t>::max();
  for (const char* kind : kNestedKinds) {
    const auto info = registry().find(kind, class_name);
    const size_t missing_options =
        info ? count_missing_options(*info, options) : fewest_missing_options;
    if (missing_options < fewest_missing_options)
      fewest_missing_options = missing_options, best_kind = kind;
  }
  return best_kind;
}

/// The value of an option in a file, with objects in place of the configurations that
/// Instance::get_config stores for them.
Value with_objects(const Value& value) {
  if (value.is_list()) {
    List list;
    for (const Value& item : value.as_list()) list.push_back(with_objects(item));
    return list;
  }
  if (!value.is_dict()) return value;
  const Dict& config = value.as_dict();
  const Value* class_name = config.find("class_name");
  if (class_name && class_name->is_string() && config.contains("config")) {
    const std::string_view name = class_name->as_string();
    const char* kind = kind_of_object(name.substr(name.rfind('>') + 1), config.at("config"));
    return kind ? Value(get_object(kind, value)) : value;
  }
  Dict dict;
  for (const DictEntry& entry : config) dict.set(entry.key, with_objects(entry.value));
  return dict;
}

/// The configuration with objects in place of nested configurations, except in the options that the
/// base class handles.
Dict with_objects(const Dict& config, const SchemaData& schema) {
  Dict options;
  for (const DictEntry& entry : config) {
    const Field* field = schema.find(entry.key);
    const bool is_base_option = field && field->keyword_only;
    options.set(entry.key, is_base_option ? entry.value : with_objects(entry.value));
  }
  return options;
}

bool has_null(const Value& value) {
  if (value.is_list()) return std::any_of(value.as_list().begin(), value.as_list().end(), has_null);
  if (!value.is_dict()) return value.is_null();
  return std::any_of(value.as_dict().begin(), value.as_dict().end(),
                     [](const DictEntry& entry) { return has_null(entry.value); });
}

/// Pushes a value of a configuration. Nulls in it become cr.null: as nil they would be missing from
/// the table, and an option whose default is not null, such as activation_quantizer, would get this
/// default.
void push_with_nulls(lua_State* L, const Value& value) {
  reserve(L, 4);
  if (value.is_null()) return lua_pushlightuserdata(L, nullptr);
  if (!has_null(value)) return push_value(L, value);
  lua_newtable(L);
  if (value.is_list()) {
    for (const Value& item : value.as_list()) {
      push_with_nulls(L, item);
      lua_rawseti(L, -2, static_cast<lua_Integer>(lua_rawlen(L, -2)) + 1);
    }
    return;
  }
  for (const DictEntry& entry : value.as_dict()) {
    push_with_nulls(L, entry.value);
    lua_setfield(L, -2, entry.key.c_str());
  }
}

/// Pushes a configuration without the options that are null; these then get their defaults.
void push_config(lua_State* L, const Dict& config) {
  Dict non_null;
  for (const DictEntry& entry : config)
    if (!entry.value.is_null()) non_null.set(entry.key, entry.value);
  push_with_nulls(L, non_null);
}

/// The factory of a Lua class. It makes the objects that files and nested configurations describe.
class LuaFactory final : public Factory {
 public:
  explicit LuaFactory(Ref class_table) : class_table_(std::move(class_table)) {}
  std::shared_ptr<Configurable> make(const Dict& options) const override {
    lua_State* L = current();
    StackRestorer restorer(L);
    reserve(L, 8);
    class_table_.push(L);
    const int class_index = lua_gettop(L);
    const bool makes_model = is_model(base_at(L, class_index));
    const Dict config = makes_model ? with_graph(options) : options;
    const ClassPtr info = class_of_table(L, class_index);
    const bool has_from_config = defines(L, class_index, "from_config");
    has_from_config ? push_value(L, config) : push_config(L, with_objects(config, info->schema));
    if (has_from_config) return new_object_of_class(L, class_index);
    const ObjectPtr object = make_instance(L, class_index, class_index + 1, info);
    if (auto data = std::dynamic_pointer_cast<LuaDataset>(object))
      return make_dataset_source(data, *info);
    return std::dynamic_pointer_cast<Configurable>(object);
  }

 private:
  Ref class_table_;
};

/// Replaces arguments {units=3}, (3, {name="x"}) or (3) by one table of options.
void gather_options(lua_State* L, const SchemaData& schema) {
  const int last_index = lua_gettop(L);
  if (last_index == 2 && is_plain_table(L, 2)) {
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, 2);) {
      lua_pushvalue(L, -2);
      lua_insert(L, -2);
      lua_rawset(L, 3);
    }
  } else {
    lua_newtable(L);
    const int table_index = lua_gettop(L);
    const bool has_named_options = last_index > 2 && is_options(L, last_index);
    for (int i = 2; i <= last_index - has_named_options; ++i) {
      lua_pushvalue(L, i);
      lua_rawseti(L, table_index, i - 1);
    }
    if (has_named_options)
      for (lua_pushnil(L); lua_next(L, last_index);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, table_index);
      }
  }
  lua_Integer index = 0;
  for (const Field& field : schema.fields) {
    if (field.keyword_only) continue;
    lua_rawgeti(L, -1, ++index);
    if (lua_isnil(L, -1)) {
      lua_pop(L, 1);
      continue;
    }
    lua_setfield(L, -2, field.name.c_str());
    lua_pushnil(L);
    lua_rawseti(L, -2, index);
  }
}

/// Replaces the positional arguments of Model(inputs, outputs, {name = "x"}) by one table with
/// named arguments.
void name_inputs_and_outputs(lua_State* L) {
  if (lua_gettop(L) < 3 || !is_symbolic(L, 2)) return;
  lua_newtable(L);
  const int table_index = lua_gettop(L);
  if (table_index > 4 && is_plain_table(L, 4))
    for (lua_pushnil(L); lua_next(L, 4);) {
      lua_pushvalue(L, -2);
      lua_insert(L, -2);
      lua_rawset(L, table_index);
    }
  lua_pushvalue(L, 2);
  lua_setfield(L, table_index, "inputs");
  lua_pushvalue(L, 3);
  lua_setfield(L, table_index, "outputs");
  lua_replace(L, 2);
  lua_settop(L, 2);
}

void configure_object(Object& object) {
  if (auto* configurable = dynamic_cast<Configurable*>(&object)) return configurable->configured();
  dynamic_cast<Instance&>(object).start();
}

}  // namespace

std::shared_ptr<const Factory> factory_of(lua_State* L, int table_index) {
  return std::make_shared<LuaFactory>(Ref(L, table_index));
}

int construct(lua_State* L) {
  reserve(L, 12);
  const ClassPtr info = class_of_table(L, 1);
  const Base& base = base_at(L, 1);
  if (lua_istable(L, 2)) refuse_module(L, lua_topointer(L, 2), info ? info->name : base.name);
  if (!info) {
    if (is_model(base)) return make_functional(L);
    fail(base.name, " has no behaviour of its own: derive a class with ", base.name,
         ":subclass(name)");
  }
  if (is_model(base)) name_inputs_and_outputs(L);
  gather_options(L, info->schema);
  const ObjectPtr object = make_instance(L, 1, lua_gettop(L), info);
  configure_object(*object);
  push_object(L, object);
  return 1;
}

}  // namespace crescent::lua
