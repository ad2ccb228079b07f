#include "classes/lua_class.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "classes/building.h"
#include "classes/lua_base.h"
#include "classes/lua_factory.h"
#include "classes/lua_format.h"
#include "classes/object_types.h"
#include "instances/hooks.h"
#include "instances/lua_model.h"
#include "instances/lua_origin.h"
#include "lua/misspelling.h"
#include "values/callable.h"

namespace crescent::lua {
namespace {

void check_class(lua_State* L, const char* function) {
  if (!is_class(L, 1))
    fail(function, ": expected a class such as cr.Layer, got ", describe(L, 1),
         " (call it with ':')");
}

/// Reads declarations of options or arguments: an ordered list {{"units", 32, "Width."}, "name",
/// ...}, or a table {units = 32}, whose options have the order of their names.
std::vector<Declaration> declarations(lua_State* L, int index, const char* what) {
  std::vector<Declaration> result;
  if (lua_isnoneornil(L, index)) return result;
  const Value value = to_value(L, index);
  if (value.is_dict()) {
    for (const DictEntry& entry : value.as_dict()) result.push_back({entry.key, "", entry.value});
    std::sort(result.begin(), result.end(),
              [](const Declaration& a, const Declaration& b) { return a.name < b.name; });
    return result;
  }
  for (const Value& row : value.as_list()) {
    const List fields = row.is_string() ? List{row} : row.is_list() ? row.as_list() : List();
    if (fields.empty()) fail("subclass: expected ", what, " as {name, default, doc}, got ", row);
    const auto text = [&](size_t i) { return fields.size() > i ? fields[i].as_string() : ""; };
    result.push_back({text(0), text(2), fields.size() > 1 ? fields[1] : Value(), text(3)});
  }
  return result;
}

/// The named arguments of call(): those that the parent class declares and those in the table at
/// `index`.
std::vector<Argument> call_arguments(lua_State* L, int index, const Base& base,
                                     const ClassPtr& parent) {
  std::vector<Argument> arguments = parent ? parent->schema.arguments : std::vector<Argument>();
  for (Declaration& declaration : declarations(L, index, "arguments of call")) {
    if (std::string_view(base.kind) != Layer::kKind)
      fail("subclass: only layers and models have arguments of call");
    if (declaration.name == "training" || declaration.name == "mask")
      fail("subclass: every call has '", declaration.name, "'; it is not declared");
    std::erase_if(arguments,
                  [&](const Argument& inherited) { return inherited.name == declaration.name; });
    arguments.push_back({std::move(declaration.name),
                         std::move(declaration.doc),
                         std::move(declaration.default_value),
                         {},
                         true});
  }
  return arguments;
}

std::vector<Declaration> inherited_options(const ClassPtr& parent) {
  std::vector<Declaration> options;
  if (!parent) return options;
  for (const Field& field : parent->schema.fields) {
    const Value& default_value = field.default_value;
    const bool has_default_type =
        !default_value.is_null() && field.type == describe_kind(default_value.kind());
    if (!field.keyword_only)
      options.push_back({field.name, field.doc, default_value, has_default_type ? "" : field.type});
  }
  return options;
}

/// Whether the objects of the base class have this method.
bool is_method(lua_State* L, const Base& base, const std::string& name) {
  const StackRestorer restorer(L);
  push_base_class(L, base.name);
  push_string(L, name);
  return lua_rawget(L, -2) == LUA_TFUNCTION;
}

/// The metamethod __newindex of class tables.
int define_member(lua_State* L) {
  lua_settop(L, 3);
  return set_member(L, 1), 0;
}

/// The metamethod __pairs of class tables, which iterates over the members.
int member_pairs(lua_State* L) {
  lua_getglobal(L, "next");
  lua_rawgetp(L, 1, members_key());
  lua_pushnil(L);
  return 3;
}

/// The metamethod __index of base classes, for a name that the class does not have.
int fail_missing_member(lua_State* L) {
  if (lua_type(L, 2) != LUA_TSTRING) return lua_pushnil(L), 1;
  const std::string name = text_of(L, 2);
  std::vector<std::string> names;
  for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1))
    if (lua_type(L, -2) == LUA_TSTRING) names.push_back(text_of(L, -2));
  fail("class ", base_at(L, 1).name, ": no attribute '", name, "'", did_you_mean(name, names));
}

/// Sets the metatable of a class table. The members of a class with a parent are in a separate
/// table, so that __newindex sees every definition. The members of a base class such as cr.Layer
/// are fields of the class table itself.
void set_class_metatable(lua_State* L, int table_index, int parent_index, const std::string& name) {
  static const CallablePtr newindex = raw("newindex", define_member);
  static const CallablePtr pairs = raw("pairs", member_pairs);
  static const CallablePtr missing = raw("index", fail_missing_member);
  static const CallablePtr call = raw("call -> a tensor or a structure of them", construct);
  static const CallablePtr text = raw("tostring", [](lua_State* state) {
    lua_getfield(state, 1, "__name");
    return push_string(state, printable(concat("<class ", text_of(state, -1), ">"))), 1;
  });
  lua_createtable(L, 0, 7);
  push_string(L, name);
  lua_setfield(L, -2, "__name");
  if (parent_index) {
    add_members(L, table_index, parent_index);
    lua_setfield(L, -2, "__index");
    push_callable(L, *newindex);
    lua_setfield(L, -2, "__newindex");
    push_callable(L, *pairs);
    lua_setfield(L, -2, "__pairs");
  } else {
    push_callable(L, *missing);
    lua_setfield(L, -2, "__index");
  }
  push_callable(L, *call);
  lua_setfield(L, -2, "__call");
  push_callable(L, *text);
  lua_setfield(L, -2, "__tostring");
  mark_class(L);
  lua_setmetatable(L, table_index);
}

/// The name under which a Lua class is registered: if a built-in class has this name, it gets the
/// prefix "Custom>", the default package of Keras.
std::string name_with_package(const char* kind, const std::string& name) {
  const ClassPtr existing_class = registry().find(kind, name);
  const bool is_taken = existing_class && existing_class->origin != "Lua" &&
                        (existing_class->name == name ||
                         std::find(existing_class->aliases.begin(), existing_class->aliases.end(),
                                   name) != existing_class->aliases.end());
  return is_taken ? "Custom>" + name : name;
}

/// The file of the Lua code that calls subclass; "" at the prompt.
std::string defining_file(lua_State* L) {
  lua_Debug frame;
  for (int level = 0; lua_getstack(L, level, &frame); ++level) {
    lua_getinfo(L, "S", &frame);
    if (*frame.what != 'C' && std::strncmp(frame.short_src, "crescent/", 9) != 0)
      return *frame.source == '@' ? frame.source + 1 : "";
  }
  return "";
}

/// Warns if classes of the same kind and name are defined in two files; the class in `file` then
/// replaces the earlier class.
void warn_of_two_files(const ClassInfo& info, const std::string& file) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>, std::string> files;
  const std::lock_guard lock(mutex);
  std::string& previous_file = files[{info.kind, info.name}];
  if (!previous_file.empty() && !file.empty() && previous_file != file)
    warn("the ", info.kind, " ", info.name, " of '", file, "' takes the place of that of '",
         previous_file, "'");
  previous_file = file;
}

ClassPtr register_class(lua_State* L, int table_index, const Base& base, const std::string& name,
                        const std::vector<Declaration>& options, std::vector<Argument> arguments) {
  ClassInfo info;
  info.kind = base.kind;
  info.name = name_with_package(base.kind, name);
  info.schema = base.schema(name, options);
  info.schema.arguments = std::move(arguments);
  info.open_options = true;
  set_lua_origin(info);
  info.factory = factory_of(L, table_index);
  warn_of_two_files(info, defining_file(L));
  registry().replace(info);
  return registry().get(info.kind, info.name);
}

/// Implements base:subclass(name, options, arguments), which makes a class table.
int subclass(lua_State* L) {
  check_class(L, "subclass");
  lua_settop(L, 4);
  reserve(L, 12);
  const std::string name = Read<std::string>::from(L, 2);
  const Base& base = base_at(L, 1);
  const ClassPtr parent = class_of_table(L, 1);
  std::vector<Declaration> options = inherited_options(parent);
  for (Declaration& option : declarations(L, 3, "options")) {
    if (is_hook(option.name, base.name))
      fail("subclass: an option cannot be called '", option.name, "', which is a method of ",
           base.name);
    if (is_method(L, base, option.name))
      warn("class ", name, ": the option '", option.name, "' hides the method ", option.name,
           "() of its objects");
    options.push_back(std::move(option));
  }
  std::vector<Argument> arguments = call_arguments(L, 4, base, parent);
  lua_newtable(L);
  const int table_index = lua_gettop(L);
  set_base(L, table_index, base);
  if (parent) {
    lua_pushvalue(L, 1);
    lua_rawsetp(L, table_index, super_key());
  }
  set_class_metatable(L, table_index, 1, name);
  push_string(L, name);
  lua_setfield(L, table_index, "__name");
  lua_pushvalue(L, 1);
  lua_setfield(L, table_index, "super");
  set_class_of_table(L, table_index,
                     register_class(L, table_index, base, name, options, std::move(arguments)));
  if (is_format(base)) watch_format(L, table_index);
  lua_settop(L, table_index);
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

/// Implements cr.Layer.get_config(self), which returns the options that all layers have.
int base_config(lua_State* L) {
  auto object = Read<std::shared_ptr<Configurable>>::from(L, 1);
  for (const Base& base : bases())
    if (object->info() && base.base_config && dynamic_cast<Instance*>(object.get()) &&
        std::string_view(base.kind) == object->info()->kind) {
      const bool is_model_object = dynamic_cast<Model*>(object.get());
      if (std::string_view(base.kind) == "layer" && is_model_object != is_model(base)) continue;
      return push(L, base.base_config(*object)), 1;
    }
  return push(L, object->get_config()), 1;
}

/// Implements cr.Layer.init(self, options), which the init of a Lua class may call. It does
/// nothing, since the options of the base class are set before init is called. Models have another
/// init, connect() below, which sets the graph of the model.
int base_init(lua_State*) { return 0; }
void connect(const std::shared_ptr<Object>& object, Any inputs, Any outputs) {
  auto* model = dynamic_cast<LuaModel*>(object.get());
  if (!model) fail("expected a model of a class made by subclass");
  if (!is_symbolic(current(), inputs.index)) return;
  model->connect(to_value(current(), inputs.index), to_value(current(), outputs.index));
}

void push_new_base(lua_State* L, const Base& base) {
  static const CallablePtr make_class =
      raw("subclass -> a class", subclass,
          {"self: the class or an object", "name: a string", "options: a table of defaults=nil",
           "arguments: a table with names=nil"},
          "A new class derived from this one. Its options, and the arguments of a layer's call, "
          "are rows {name, default, doc}.");
  static const CallablePtr make_from_config =
      raw("from_config -> an object of the class", from_config,
          {"self: the class or an object", "config: a table with names"},
          "Creates an object from the options that get_config returned.");
  static const CallablePtr get_config =
      raw("get_config -> a table with names", base_config, {"self: an object"},
          "The options as a table, from which from_config creates an equal object.");
  const ObjectPtr sample = base.make(base.schema(base.name, {}), {});
  object_type(*sample).push_methods(L);
  const int table_index = lua_gettop(L);
  push_callable(L, *make_class);
  lua_setfield(L, table_index, "subclass");
  if (base.base_config) {
    push_callable(L, *make_from_config);
    lua_setfield(L, table_index, "from_config");
    push_callable(L, *get_config);
    lua_setfield(L, table_index, "get_config");
  }
  static const CallablePtr init_of_object =
      raw("init -> an object of the class", base_init,
          {"self: the class or an object", "options: a table with names=nil"},
          "Initializes the base class; called by the init of a derived class.");
  static const CallablePtr init_of_model =
      bound("init -> an object of the class", &connect,
            {"self: the class or an object", "inputs: a symbol or a structure of them=nil",
             "outputs: a symbol or a structure of them=nil"},
            "Defines the graph of the model; called by the init of a derived class.");
  push_callable(L, is_model(base) ? *init_of_model : *init_of_object);
  lua_setfield(L, table_index, "init");
  lua_pushstring(L, base.name);
  lua_setfield(L, table_index, "__name");
  set_base(L, table_index, base);
  set_class_metatable(L, table_index, 0, base.name);
}

}  // namespace

void register_class_as(lua_State* L, int table_index, const std::string& name) {
  const ClassPtr registered_class = class_of_table(L, table_index);
  if (!registered_class) fail_expected(L, table_index, "a class made by subclass");
  if (!base_at(L, table_index).base_config)
    fail(registered_class->name,
         " is a class of datasets, which are in no file: it needs no registration");
  ClassInfo info = *registered_class;
  info.name = name;
  registry().replace(info);
  set_class_of_table(L, table_index, registry().get(info.kind, name));
}

void push_base_class(lua_State* L, const char* name) {
  push_bases(L);
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
