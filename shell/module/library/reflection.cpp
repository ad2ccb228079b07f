#include "library/reflection.h"

#include "classes/lua_class.h"
#include "classes/object_types.h"
#include "instances/instance.h"
#include "library/namespaces.h"

namespace crescent::lua {
namespace {

List options_of(const SchemaData& schema) {
  List options;
  for (const Field& field : schema.fields) {
    Dict option{{"name", field.name},
                {"type", field.type},
                {"doc", field.doc},
                {"required", field.required},
                {"keyword_only", field.keyword_only}};
    option.set("default", field.default_value);
    if (!field.kind.empty()) option.set("kind", field.kind);
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
  if (const SchemaData* schema = f.options()) {
    result.set("options", options_of(*schema));
    result.set("word", schema->word);
  }
  return result;
}

/// What objects of the class have besides what every one of its kind has.
List members_of(const SchemaData& schema) {
  List members;
  for (const Method& method : schema.methods) {
    std::vector<std::string> names;
    for (const Field& parameter : method.parameters.fields) names.push_back(parameter.name);
    members.push_back(Dict{{"name", method.name},
                           {"text", concat(method.name, "(", join(names), ")",
                                           method.result.empty() ? "" : " -> " + method.result)},
                           {"doc", method.parameters.description}});
  }
  for (const Field& property : schema.properties)
    members.push_back(Dict{{"name", property.name},
                           {"text", concat(property.name, ": ", property.type)},
                           {"doc", property.doc}});
  return members;
}

Dict describe_class(const ClassInfo& info) {
  return {{"what", "class"},
          {"name", info.name},
          {"kind", info.kind},
          {"plugin", info.plugin},
          {"doc", info.schema.description},
          {"aliases", Value(info.aliases)},
          {"options", options_of(info.schema)},
          {"arguments", arguments_of(info.schema)},
          {"members", members_of(info.schema)}};
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
                {"doc", kind_named(kind).doc},
                {"names", Value(registry().names(kind))},
                {"words", Value(registry().all_names(kind))}};
  if (const Type* type = type_of(L, value.index)) return describe_object(L, value.index, *type);
  return {};
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
}

}  // namespace crescent::lua
