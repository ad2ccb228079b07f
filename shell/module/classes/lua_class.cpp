#include "classes/lua_class.h"

#include <algorithm>

#include "classes/building.h"
#include "classes/object_types.h"
#include "classes/options.h"
#include "instances/hooks.h"
#include "instances/lua_model.h"
#include "instances/lua_optimizer.h"
#include "values/callable.h"

namespace crescent::lua {
namespace {

const char base_key = 0;   // in a class table: its Base
const char bases_key = 0;  // registry: name -> table of a base

// ---- options that a class declares

/// Reads and writes an option of a Lua class in the attributes of an instance.
template <class T>
class AttributeAccess final : public FieldAccess {
 public:
  explicit AttributeAccess(std::string name) : name_(std::move(name)) {}
  Value get(const void* object) const override {
    return static_cast<const T*>(object)->option(name_);
  }
  void set(void* object, const Value& value) const override {
    static_cast<T*>(object)->set_option(name_, value);
  }

 private:
  std::string name_;
};

struct Declared {
  std::string name, doc;
  Value value;
};

Field field_of(const Declared& option, std::shared_ptr<const FieldAccess> access) {
  Field field;
  field.name = option.name;
  field.doc = option.doc;
  field.type = option.value.is_null() ? "a value" : describe_kind(option.value.kind());
  field.default_value = option.value;
  field.access = std::move(access);
  return field;
}

// ---- bases

/// A base that Lua classes derive from, without its C++ type.
struct Base {
  const char* name;
  const char* kind;
  SchemaData (*schema)(const std::string& title, const std::vector<Declared>& options);
  std::shared_ptr<Configurable> (*make)(const SchemaData& schema, const Dict& options);
  Dict (*base_config)(const Configurable& object);
};

template <class T>
SchemaData schema_for(const std::string& title, const std::vector<Declared>& options) {
  const T defaults{};
  Schema<T> schema(title, &defaults);
  schema.keyword_only(true);
  T::template describe_base<T>(schema);
  std::vector<Field>& fields = schema.data().fields;
  for (const Declared& option : options) {
    const auto base = std::find_if(fields.begin(), fields.end(), [&](const Field& field) {
      return field.name == option.name && !field.keyword_only;
    });
    if (base != fields.end())  // another default of the base's own
      base->default_value = option.value;
    else
      fields.push_back(field_of(option, std::make_shared<AttributeAccess<T>>(option.name)));
  }
  return schema.data();
}

template <class T>
Base base_of(const char* name = kind_named(T::kKind).base) {
  return {name, T::kKind, schema_for<T>,
          [](const SchemaData& schema, const Dict& options) {
            return ClassFactory<T>(schema).make(options);
          },
          [](const Configurable& object) { return dynamic_cast<const T&>(object).base_config(); }};
}

const std::vector<Base>& bases() {
  static const std::vector<Base> all = {
      base_of<LuaLayer>(),       base_of<LuaModel>("Model"), base_of<LuaLoss>(),
      base_of<LuaMetric>(),      base_of<LuaCallback>(),     base_of<LuaInitializer>(),
      base_of<LuaRegularizer>(), base_of<LuaConstraint>(),   base_of<LuaActivation>(),
      base_of<LuaSchedule>(),    base_of<LuaOptimizer>()};
  return all;
}

const Base& base_at(lua_State* L, int index) {
  lua_rawgetp(L, index, &base_key);
  auto* base = static_cast<const Base*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  if (!base) fail("expected a class such as cr.Layer, got a table that has lost what makes it one");
  return *base;
}

bool is_model(const Base& base) { return std::string_view(base.name) == "Model"; }

void check_class(lua_State* L, const char* function) {
  if (!is_class(L, 1))
    fail(function, ": expected a class such as cr.Layer, got ", describe(L, 1),
         " (call it with ':')");
}

// ---- instances

/// True when a class of the chain (not the base) defines it.
bool defines(lua_State* L, int class_index, const char* name) {
  Height height(L);
  lua_pushvalue(L, class_index);
  while (lua_type(L, -1) == LUA_TTABLE) {
    push_field(L, -1, name);
    if (!lua_isnil(L, -1)) return true;
    lua_pop(L, 1);
    lua_rawgetp(L, -1, super_key());
  }
  return false;
}

/// The options of the table that the schema knows; others are the business of the class' init.
Dict known_options(lua_State* L, int class_index, int options_index, const SchemaData& schema) {
  Dict known;
  const bool open = defines(L, class_index, "init");
  for (lua_pushnil(L); lua_next(L, options_index); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) {
      if (!open)
        fail(schema.title, ": no option at position ", text_of(L, -2), "; give options by name");
      continue;
    }
    const std::string name = text_of(L, -2);
    if (schema.find(name))
      known.set(name, to_value(L, lua_gettop(L)));
    else if (!open)
      fail(schema.title, ": no option '", name, "'", did_you_mean(name, schema.names()));
  }
  adapt_options(known, schema);
  return known;
}

/// Defaults of declared options that were not given.
void add_defaults(Dict& options, const SchemaData& schema) {
  for (const Field& field : schema.fields) {
    const bool given = options.contains(field.name) ||
                       std::any_of(field.aliases.begin(), field.aliases.end(),
                                   [&](const std::string& name) { return options.contains(name); });
    if (!field.keyword_only && !given) options.set(field.name, field.default_value);
  }
}

/// What build_from_config gets, out of the options; a class may have an option of this name.
Value take_build_config(lua_State* L, int options_index, const SchemaData& schema) {
  if (schema.find(kBuildConfig)) return {};
  push_field(L, options_index, kBuildConfig);
  Value config = to_value(L, lua_gettop(L));
  lua_pop(L, 1);
  lua_pushnil(L);
  lua_setfield(L, options_index, kBuildConfig);
  return config;
}

/// A new object of the class from the table of options, without configured().
std::shared_ptr<Configurable> make_instance(lua_State* L, int class_index, int options_index,
                                            const ClassPtr& info) {
  push_base_class(L, base_at(L, class_index).name);
  warn_of_unread_hooks(L, class_index, lua_gettop(L), base_at(L, class_index).name);
  lua_pop(L, 1);
  const Value build_config = take_build_config(L, options_index, info->schema);
  Dict options = known_options(L, class_index, options_index, info->schema);
  add_defaults(options, info->schema);
  auto object = base_at(L, class_index).make(info->schema, options);
  object->attach(info);
  if (is_model(base_at(L, class_index)))
    for (const char* end : {"inputs", "outputs", "build_input_shape"}) {  // not the class' own
      lua_pushnil(L);
      lua_setfield(L, options_index, end);
    }
  auto& instance = dynamic_cast<Instance&>(*object);
  instance.adopt(L, class_index, options_index);
  if (defines(L, class_index, "build_from_config")) instance.set_build_config(build_config);
  return object;
}

/// What the from_config of a class makes of the configuration on top of the stack.
std::shared_ptr<Configurable> made_by_class(lua_State* L, int class_index) {
  const int config = lua_gettop(L);
  push_field(L, class_index, "from_config");
  lua_pushvalue(L, class_index);
  lua_pushvalue(L, config);
  protected_call(L, 2, 1);
  auto object = object_as<Configurable>(L, -1);
  auto* instance = dynamic_cast<Instance*>(object.get());
  if (!instance || !object->info() || object->info()->kind != base_at(L, class_index).kind)
    fail("from_config() of the class: expected an object of it, got ", describe(L, -1));
  instance->set_complete();
  return object;
}

/// Makes instances for files and nested configurations.
class LuaFactory final : public Factory {
 public:
  LuaFactory(Ref class_table, SchemaData) : class_(std::move(class_table)) {}
  std::shared_ptr<Configurable> make(const Dict& options) const override {
    lua_State* L = current();
    Height height(L);
    reserve(L, 8);
    class_.push(L);
    const int class_index = lua_gettop(L);
    const bool model = is_model(base_at(L, class_index));
    push_value(L, model ? with_graph(options) : options);
    if (defines(L, class_index, "from_config")) return made_by_class(L, class_index);
    return make_instance(L, class_index, class_index + 1, class_of_table(L, class_index));
  }

 private:
  Ref class_;
};

/// Leaves one table of options on top: {units=3}, (3, {name="x"}), (3).
void gather_options(lua_State* L, const SchemaData& schema) {
  const int last = lua_gettop(L);
  if (last == 2 && is_plain_table(L, 2)) {
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, 2);) {
      lua_pushvalue(L, -2);
      lua_insert(L, -2);
      lua_rawset(L, 3);
    }
  } else {
    lua_newtable(L);
    const int table = lua_gettop(L);
    const bool named = last > 2 && is_options(L, last);
    for (int i = 2; i <= last - named; ++i) {
      lua_pushvalue(L, i);
      lua_rawseti(L, table, i - 1);
    }
    if (named)
      for (lua_pushnil(L); lua_next(L, last);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, table);
      }
  }
  lua_Integer place = 0;
  for (const Field& field : schema.fields) {
    if (field.keyword_only) continue;
    lua_rawgeti(L, -1, ++place);
    if (lua_isnil(L, -1)) {
      lua_pop(L, 1);
      continue;
    }
    lua_setfield(L, -2, field.name.c_str());
    lua_pushnil(L);
    lua_rawseti(L, -2, place);
  }
}

/// Model(inputs, outputs, {name = "x"}): the ends by name.
void name_ends(lua_State* L) {
  if (lua_gettop(L) < 3 || !is_symbolic(L, 2)) return;
  lua_newtable(L);
  const int table = lua_gettop(L);
  if (table > 4 && is_plain_table(L, 4))
    for (lua_pushnil(L); lua_next(L, 4);) {
      lua_pushvalue(L, -2);
      lua_insert(L, -2);
      lua_rawset(L, table);
    }
  lua_pushvalue(L, 2);
  lua_setfield(L, table, "inputs");
  lua_pushvalue(L, 3);
  lua_setfield(L, table, "outputs");
  lua_replace(L, 2);
  lua_settop(L, 2);
}

/// Class(...): the class table and its arguments.
int construct(lua_State* L) {
  reserve(L, 12);
  const ClassPtr info = class_of_table(L, 1);
  const Base& base = base_at(L, 1);
  if (!info) {
    if (is_model(base)) return make_functional(L);
    fail(base.name, " has no behaviour of its own: derive a class with ", base.name,
         ":subclass(name)");
  }
  if (is_model(base)) name_ends(L);
  gather_options(L, info->schema);
  auto object = make_instance(L, 1, lua_gettop(L), info);
  object->configured();
  push_object(L, object);
  return 1;
}

// ---- making classes

/// {{"units", 32, "Width."}, "name", ...} in order, or {units = 32} (by name only).
std::vector<Declared> declarations(lua_State* L, int index, const char* what) {
  std::vector<Declared> declared;
  if (lua_isnoneornil(L, index)) return declared;
  const Value given = to_value(L, index);
  if (given.is_dict()) {
    for (const DictEntry& entry : given.as_dict()) declared.push_back({entry.key, "", entry.value});
    return declared;
  }
  for (const Value& row : given.as_list()) {
    const List parts = row.is_string() ? List{row} : row.is_list() ? row.as_list() : List();
    if (parts.empty()) fail("subclass: expected ", what, " as {name, default, doc}, got ", row);
    declared.push_back({parts[0].as_string(), parts.size() > 2 ? parts[2].as_string() : "",
                        parts.size() > 1 ? parts[1] : Value()});
  }
  return declared;
}

/// What call takes by name: the parent's arguments and those in the table.
std::vector<Argument> call_arguments(lua_State* L, int index, const Base& base,
                                     const ClassPtr& parent) {
  std::vector<Argument> arguments = parent ? parent->schema.arguments : std::vector<Argument>();
  for (Declared& declared : declarations(L, index, "arguments of call")) {
    if (std::string_view(base.kind) != Layer::kKind)
      fail("subclass: only layers and models have arguments of call");
    if (declared.name == "training" || declared.name == "mask")
      fail("subclass: every call has '", declared.name, "'; it is not declared");
    std::erase_if(arguments,
                  [&](const Argument& inherited) { return inherited.name == declared.name; });
    arguments.push_back(
        {std::move(declared.name), std::move(declared.doc), std::move(declared.value), {}, true});
  }
  return arguments;
}

std::vector<Declared> inherited_options(const ClassPtr& parent) {
  std::vector<Declared> options;
  if (!parent) return options;
  for (const Field& field : parent->schema.fields)
    if (!field.keyword_only) options.push_back({field.name, field.doc, field.default_value});
  return options;
}

void set_class_metatable(lua_State* L, int table, int parent) {
  static const CallablePtr call = raw("call", construct);
  static const CallablePtr text = raw("tostring", [](lua_State* state) {
    push_field(state, 1, "__name");
    return push_string(state, printable(concat("<class ", text_of(state, -1), ">"))), 1;
  });
  lua_createtable(L, 0, 5);
  if (parent) {
    lua_pushvalue(L, parent);
    lua_setfield(L, -2, "__index");
  }
  push_callable(L, *call);
  lua_setfield(L, -2, "__call");
  push_callable(L, *text);
  lua_setfield(L, -2, "__tostring");
  mark_class(L);
  lua_setmetatable(L, table);
}

/// Beside a class of ours the name has the package that Keras gives to those without one.
std::string name_beside_ours(const char* kind, const std::string& name) {
  const ClassPtr there = registry().find(kind, name);
  const bool taken = there && there->origin != "Lua" &&
                     (there->name == name || std::find(there->aliases.begin(), there->aliases.end(),
                                                       name) != there->aliases.end());
  return taken ? "Custom>" + name : name;
}

ClassPtr register_class(lua_State* L, int table, const Base& base, const std::string& name,
                        const std::vector<Declared>& options, std::vector<Argument> arguments) {
  ClassInfo info;
  info.kind = base.kind;
  info.name = name_beside_ours(base.kind, name);
  info.schema = base.schema(name, options);
  info.schema.arguments = std::move(arguments);
  info.open_options = true;
  info.plugin = "Lua";
  info.origin = "Lua";
  info.factory = std::make_shared<LuaFactory>(Ref(L, table), info.schema);
  registry().replace(info);
  return registry().get(info.kind, info.name);
}

/// base:subclass(name, options, arguments): a new class table.
int subclass(lua_State* L) {
  check_class(L, "subclass");
  lua_settop(L, 4);
  reserve(L, 12);
  const std::string name = Read<std::string>::from(L, 2);
  const Base& base = base_at(L, 1);
  const ClassPtr parent = class_of_table(L, 1);
  std::vector<Declared> options = inherited_options(parent);
  for (Declared& option : declarations(L, 3, "options")) options.push_back(std::move(option));
  std::vector<Argument> arguments = call_arguments(L, 4, base, parent);
  lua_newtable(L);
  const int table = lua_gettop(L);
  push_string(L, name);
  lua_setfield(L, table, "__name");
  lua_pushvalue(L, 1);
  lua_setfield(L, table, "super");
  lua_pushlightuserdata(L, const_cast<Base*>(&base));
  lua_rawsetp(L, table, &base_key);
  if (parent) {
    lua_pushvalue(L, 1);
    lua_rawsetp(L, table, super_key());
  }
  set_class_metatable(L, table, 1);
  set_class_of_table(L, table, register_class(L, table, base, name, options, std::move(arguments)));
  lua_settop(L, table);
  return 1;
}

int from_config(lua_State* L) {
  check_class(L, "from_config");
  lua_settop(L, 2);
  if (!is_plain_table(L, 2)) fail_expected(L, 2, "a configuration");
  if (is_model(base_at(L, 1)) && !class_of_table(L, 1))
    return push(L, model_from_config(to_value(L, 2))), 1;
  if (is_model(base_at(L, 1))) {
    push_value(L, with_graph(to_dict(L, 2)));
    lua_replace(L, 2);
  }
  return construct(L);
}

/// cr.Layer.get_config(self): the options that every layer has.
int base_config(lua_State* L) {
  auto object = Read<std::shared_ptr<Configurable>>::from(L, 1);
  for (const Base& base : bases())
    if (object->info() && dynamic_cast<Instance*>(object.get()) &&
        std::string_view(base.kind) == object->info()->kind) {
      const bool model = dynamic_cast<Model*>(object.get());
      if (std::string_view(base.kind) == "layer" && model != is_model(base)) continue;
      return push(L, base.base_config(*object)), 1;
    }
  return push(L, object->get_config()), 1;
}

/// cr.Layer.init(self, options), from the init of a class: the base has taken its options already.
/// cr.Model.init(self, inputs, outputs): what the model's graph is.
int base_init(lua_State*) { return 0; }
void connect(const std::shared_ptr<Object>& object, Any inputs, Any outputs) {
  auto* model = dynamic_cast<LuaModel*>(object.get());
  if (!model) fail("expected a model of a class made by subclass");
  if (!is_symbolic(current(), inputs.index)) return;
  model->connect(to_value(current(), inputs.index), to_value(current(), outputs.index));
}

void push_new_base(lua_State* L, const Base& base) {
  static const CallablePtr make_class =
      raw("subclass", subclass, {"self", "name", "options=nil", "arguments=nil"},
          "A new class derived from this one. Options and, of layers, the arguments of call are "
          "rows {name, default, doc}.");
  static const CallablePtr make_from = raw("from_config", from_config, {"self", "config"});
  static const CallablePtr config = raw("get_config", base_config, {"self"});
  const ObjectPtr sample = base.make(base.schema(base.name, {}), {});
  object_type(*sample).push_methods(L);
  const int table = lua_gettop(L);
  push_callable(L, *make_class);
  lua_setfield(L, table, "subclass");
  push_callable(L, *make_from);
  lua_setfield(L, table, "from_config");
  push_callable(L, *config);
  lua_setfield(L, table, "get_config");
  static const CallablePtr init = raw("init", base_init, {"self", "options=nil"},
                                      "For the init of a class, which may call it.");
  static const CallablePtr graph = bound("init", &connect, {"self", "inputs=nil", "outputs=nil"},
                                         "From the init of a class: the graph that it is.");
  push_callable(L, is_model(base) ? *graph : *init);
  lua_setfield(L, table, "init");
  lua_pushstring(L, base.name);
  lua_setfield(L, table, "__name");
  lua_pushlightuserdata(L, const_cast<Base*>(&base));
  lua_rawsetp(L, table, &base_key);
  set_class_metatable(L, table, 0);
}

}  // namespace

void register_class_as(lua_State* L, int table, const std::string& name) {
  const ClassPtr known = class_of_table(L, table);
  if (!known) fail_expected(L, table, "a class made by subclass");
  ClassInfo info = *known;
  info.name = name;
  registry().replace(info);
  set_class_of_table(L, table, registry().get(info.kind, name));
}

void push_base_class(lua_State* L, const char* name) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &bases_key) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &bases_key);
  }
  push_field(L, -1, name);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    for (const Base& base : bases())
      if (std::string_view(base.name) == name) push_new_base(L, base);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, name);
  }
  lua_remove(L, -2);
}

}  // namespace crescent::lua
