#include "reflection.h"

#include "crescent/model.h"
#include "instance.h"
#include "lua_class.h"
#include "namespaces.h"
#include "object_types.h"
#include "session_lua.h"

namespace crescent::lua {
namespace {

/// Methods whose options are a schema.
const SchemaData* schema_of_method(const std::string& name) {
  if (name == "compile") return &schema_of<CompileOptions>("compile");
  if (name == "fit" || name == "start_training") return &schema_of<FitOptions>("fit");
  if (name == "evaluate") return &schema_of<EvaluateOptions>("evaluate");
  if (name == "predict") return &schema_of<PredictOptions>("predict");
  if (name == "summary") return &schema_of<SummaryOptions>("summary");
  if (name == "profile") return &schema_of<ProfileOptions>("profile");
  return nullptr;
}

List options_of(const SchemaData& schema) {
  List options;
  for (const Field& field : schema.fields) {
    Dict option{{"name", field.name},
                {"type", field.type},
                {"doc", field.doc},
                {"required", field.required},
                {"keyword_only", field.keyword_only}};
    option.set("default", field.default_value);
    if (!field.choices.empty()) option.set("choices", Value(field.choices));
    if (!field.aliases.empty()) option.set("aliases", Value(field.aliases));
    options.push_back(std::move(option));
  }
  return options;
}

/// What call takes by name.
List arguments_of(const SchemaData& schema) {
  List arguments;
  for (const Argument& argument : schema.arguments) {
    if (!argument.supported) continue;
    Dict row{{"name", argument.name}, {"doc", argument.doc}};
    row.set("default", argument.default_value);
    arguments.push_back(std::move(row));
  }
  return arguments;
}

Dict describe_function(const Callable& f) {
  Dict result{
      {"what", "function"}, {"name", f.name()}, {"signature", f.signature()}, {"doc", f.doc()}};
  List parameters;
  for (const Parameter& p : f.parameters()) parameters.push_back(p.name);
  result.set("parameters", std::move(parameters));
  if (const SchemaData* schema = schema_of_method(f.name()))
    result.set("options", options_of(*schema));
  return result;
}

Dict describe_class(const ClassInfo& info) {
  return {{"what", "class"},
          {"name", info.name},
          {"kind", info.kind},
          {"plugin", info.plugin},
          {"doc", info.schema.description},
          {"aliases", Value(info.aliases)},
          {"options", options_of(info.schema)},
          {"arguments", arguments_of(info.schema)}};
}

Dict describe_members(const Type& type) {
  Dict result{{"what", type.name()},
              {"methods", Value(type.method_names())},
              {"properties", Value(type.property_names())}};
  List signatures;
  for (const std::string& name : type.method_names()) {
    const Callable& method = *type.find_method(name);
    signatures.push_back(List{method.signature(), method.doc()});
  }
  result.set("signatures", std::move(signatures));
  return result;
}

Dict describe_object(lua_State* L, int index, const Type& type) {
  Dict result = describe_members(type);
  if (auto* configurable = dynamic_cast<Configurable*>(to_object(L, index));
      configurable && configurable->info())
    result.set("class", describe_class(*configurable->info()));
  return result;
}

/// What a value is: a function, a class, a namespace or an object with its members; null for plain
/// values.
Value describe_value(Any value) {
  lua_State* L = current();
  if (const Callable* f = to_callable(L, value.index)) return describe_function(*f);
  if (auto* info = to_handle<ClassPtr>(L, value.index)) return describe_class(**info);
  if (const ClassPtr info = class_of_table(L, value.index)) return describe_class(*info);
  if (const char* kind = kind_of_namespace(L, value.index))
    return Dict{{"what", "namespace"},
                {"kind", kind},
                {"names", Value(registry().names(kind))},
                {"words", Value(registry().all_names(kind))}};
  if (const Type* type = type_of(L, value.index)) return describe_object(L, value.index, *type);
  return {};
}

/// Runs the part of the module that is written in Lua: it is given the table, and adds help,
/// complete and show.
void run_session(lua_State* L, int module) {
  if (luaL_loadbufferx(L, kSessionLua, kSessionLuaSize, "=crescent", "t") != LUA_OK)
    fail(text_of(L, -1));
  lua_pushvalue(L, module);
  protected_call(L, 1, 0);
}

}  // namespace

void set_reflection(lua_State* L) {
  static const CallablePtr describe =
      bound("describe", &describe_value, {"value=nil"}, "What a value is, as a table.");
  push_callable(L, *describe);
  lua_setfield(L, -2, "describe");
  static const CallablePtr shown = bound(
      "printable", [](const std::string& text) { return printable(text); }, {"text"},
      "The text with control characters written out, as it can be shown on a terminal.");
  push_callable(L, *shown);
  lua_setfield(L, -2, "printable");
  run_session(L, lua_gettop(L));
}

}  // namespace crescent::lua
