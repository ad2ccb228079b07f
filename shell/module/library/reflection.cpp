#include "library/reflection.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "classes/lua_class.h"
#include "classes/object_types.h"
#include "instances/instance.h"
#include "library/lua_sources.h"
#include "library/namespaces.h"
#include "library/parameter_texts.h"

namespace crescent::lua {
namespace {

/// The beginning of the names of Lua chunks that are libraries (shell/lua).
constexpr std::string_view kLibraryChunk = "=crescent/";

Dict describe_parameter(const Parameter& parameter) {
  Dict row{{"name", parameter.name},
           {"type", parameter.type},
           {"doc", parameter.doc},
           {"required", parameter.required}};
  if (!parameter.required) row.set("default", parameter.default_value);
  if (parameter.variadic) row.set("variadic", true);
  return row;
}

List describe_parameters(const std::vector<Parameter>& parameters) {
  List rows;
  for (const Parameter& parameter : parameters) rows.push_back(describe_parameter(parameter));
  return rows;
}

/// The rows, where those without documentation have the texts of parameter_texts.h.
List with_shared_texts(List rows, std::string_view function) {
  for (Value& value : rows) {
    Dict& row = value.as_dict();
    if (row.at("doc").as_string().empty())
      row.set("doc", std::string(parameter_text(function, row.at("name").as_string(),
                                                row.at("type").as_string())));
  }
  return rows;
}

List options_of(const SchemaData& schema) {
  List options;
  for (const Field& field : schema.fields) {
    Dict option = describe_parameter(field);
    option.set("keyword_only", field.keyword_only);
    if (!field.kind.empty()) option.set("kind", field.kind);
    if (!field.choices.empty()) option.set("choices", Value(field.choices));
    if (field.min) option.set("min", *field.min);
    if (field.max) option.set("max", *field.max);
    if (!field.aliases.empty()) option.set("aliases", Value(field.aliases));
    options.push_back(std::move(option));
  }
  return options;
}

/// The descriptions of the named arguments of call().
List arguments_of(const SchemaData& schema) {
  List arguments;
  for (const Argument& argument : schema.arguments) {
    if (!argument.supported) continue;
    Dict row{{"name", argument.name}, {"doc", argument.doc}};
    row.set("default", argument.default_value);
    // if the argument is an input tensor: its number among the inputs, from 1
    if (argument.input) row.set("input", *argument.input + 1);
    arguments.push_back(std::move(row));
  }
  return arguments;
}

Dict describe_method(const Method& method) {
  std::vector<std::string> names;
  for (const Field& parameter : method.parameters.fields) names.push_back(parameter.name);
  return {{"name", method.name},
          {"text", concat(method.name, "(", join(names), ")",
                          method.result.empty() ? "" : " -> " + method.result)},
          {"doc", method.parameters.description},
          {"parameters", options_of(method.parameters)},
          {"result", method.result}};
}

Dict describe_property(const Field& property) {
  return {{"name", property.name},
          {"text", concat(property.name, ": ", property.type)},
          {"doc", property.doc},
          {"type", property.type},
          {"settable", !property.read_only}};
}

/// The members that the class has in addition to those of all classes of its kind.
List members_of_class(const SchemaData& schema) {
  List members;
  for (const Method& method : schema.methods) members.push_back(describe_method(method));
  for (const Field& property : schema.properties) members.push_back(describe_property(property));
  return members;
}

/// The text of a line of a comment, without the dashes.
std::string_view comment_text(std::string_view line) {
  while (line.starts_with('-') || line.starts_with(' ')) line.remove_prefix(1);
  return line;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1))
    lines.push_back(text.substr(0, end));
  return lines;
}

/// The lines of the comment above a line; lines count from 1.
std::vector<std::string_view> comment_above(std::string_view source, int line) {
  const std::vector<std::string_view> lines = lines_of(source);
  int first_line = line - 1;
  while (first_line > 0 && lines[first_line - 1].starts_with("--")) --first_line;
  std::vector<std::string_view> texts;
  for (int i = first_line; i < line - 1; ++i) texts.push_back(comment_text(lines[i]));
  return texts;
}

/// Removes the first word and the space after it from the text; returns the word.
std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(word.size() + 1, text.size()));
  return word;
}

/// Reads a comment into a signature: lines `@param name type` and `@return type` set types, the
/// other lines are the documentation.
void read_comment(const std::vector<std::string_view>& comment, Signature& signature) {
  std::vector<std::string> doc;
  for (std::string_view line : comment) {
    const std::string_view full_line = line, word = take_word(line);
    if (word == "@return") {
      signature.result = line;
    } else if (word == "@param") {
      const std::string_view name = take_word(line);
      for (Parameter& parameter : signature.parameters)
        if (parameter.name == name) parameter.type = line;
    } else {
      doc.emplace_back(full_line);
    }
  }
  signature.doc = join(doc, " ");
}

/// The names of the parameters of a Lua function.
std::vector<Parameter> parameters_of(lua_State* L, int index, const lua_Debug& function_info) {
  std::vector<Parameter> parameters;
  lua_pushvalue(L, index);
  for (int i = 1; i <= function_info.nparams; ++i)
    parameters.push_back(parse_parameter(concat(lua_getlocal(L, nullptr, i), "=nil")));
  lua_pop(L, 1);
  if (function_info.isvararg) {
    parameters.push_back(parse_parameter("...=nil"));
    parameters.back().variadic = true;
  }
  return parameters;
}

/// A function of a Lua library may do nothing but call another one, its upvalue `body`
/// (shell/lua/libraries.lua). Pushes the `body` of the function at `index`; if it has none, pushes
/// the function itself.
void push_body(lua_State* L, int index) {
  for (int i = 1; const char* name = lua_getupvalue(L, index, i); ++i) {
    if (std::string_view(name) == "body" && lua_isfunction(L, -1)) return;
    lua_pop(L, 1);
  }
  lua_pushvalue(L, index);
}

/// Whether the function at `index` is defined in a Lua library; stores its debug information in
/// `function_info`.
bool is_library_function(lua_State* L, int index, lua_Debug& function_info) {
  lua_pushvalue(L, index);
  lua_getinfo(L, ">Su", &function_info);
  return std::string_view(function_info.source).starts_with(kLibraryChunk);
}

/// The description of a function of a Lua library; null for a function of the user.
Value describe_library_function(lua_State* L, int index) {
  const StackRestorer restorer(L);
  lua_Debug function_info;
  if (!is_library_function(L, index, function_info)) return {};
  push_body(L, index);
  index = lua_gettop(L);
  if (!is_library_function(L, index, function_info)) return {};
  const std::string_view chunk = function_info.source;
  const std::string_view source = lua_source(chunk.substr(kLibraryChunk.size())).text;
  Signature signature;
  signature.parameters = parameters_of(L, index, function_info);
  read_comment(comment_above(source, function_info.linedefined), signature);
  std::vector<std::string> names;
  for (const Parameter& parameter : signature.parameters) names.push_back(parameter.name);
  return Dict{{"what", "function"},
              {"signature", "function(" + join(names) + ")"},
              {"doc", signature.doc},
              {"parameters", describe_parameters(signature.parameters)},
              {"result", signature.result}};
}

/// The description of a callable table, whose metamethod __describe returns the function to
/// describe.
Value describe_callable_table(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TTABLE || !luaL_getmetafield(L, index, "__describe")) return {};
  protected_call(L, 0, 1);
  const Callable* function = to_callable(L, lua_gettop(L));
  lua_pop(L, 1);
  return function ? Value(describe_function(*function)) : Value();
}

/// Replaces the parameters in a description by their names, for scripts, and stores the full
/// parameters as `arguments`.
Value with_parameter_names(Value description) {
  if (!description.is_dict()) return description;
  description.as_dict().set("arguments", description.as_dict().at("parameters"));
  Value& parameters = description.as_dict()["parameters"];
  for (Value& parameter : parameters.as_list()) parameter = Value(parameter.as_dict().at("name"));
  return description;
}

/// Statistics of a numeric tensor in memory; min, max, mean and std are those of its finite
/// elements. Null for other tensors.
Value statistics_of(const Tensor& tensor) {
  const bool is_numeric = tensor.dtype() != DType::string && tensor.dtype() != DType::complex64;
  if (tensor.is_abstract() || !tensor.in_memory() || !is_numeric) return {};
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double minimum = kInfinity, maximum = -kInfinity, mean = 0, squared_deviations = 0;
  int64_t count = 0, zeros = 0, nans = 0, infinities = 0;
  const Tensor flat = tensor.view({tensor.size()});
  for (int64_t first = 0, chunk_size = 1 << 16; first < flat.size(); first += chunk_size)
    for (const double x :
         flat.view_rows(first, std::min(chunk_size, flat.size() - first)).to_vector()) {
      zeros += x == 0, nans += std::isnan(x), infinities += std::isinf(x);
      if (!std::isfinite(x)) continue;
      const double distance = x - mean;
      mean += distance / static_cast<double>(++count);
      squared_deviations += distance * (x - mean);
      minimum = std::min(minimum, x), maximum = std::max(maximum, x);
    }
  Dict result{{"count", tensor.size()}, {"zeros", zeros}, {"nan", nans}, {"inf", infinities}};
  if (count == 0) return result;
  result.set("min", minimum), result.set("max", maximum), result.set("mean", mean);
  result.set("std", std::sqrt(squared_deviations / static_cast<double>(count)));
  return result;
}

Dict describe_object(lua_State* L, int index, const HandleType& type) {
  Dict result{{"what", type.name()},
              {"methods", Value(type.method_names())},
              {"properties", Value(type.property_names())}};
  List signatures;
  for (const std::string& name : type.method_names()) {
    const Callable& method = *type.find_method(name);
    signatures.push_back(List{method.text(), method.doc()});
  }
  result.set("signatures", std::move(signatures));
  if (auto* configurable = dynamic_cast<Configurable*>(to_object(L, index));
      configurable && configurable->info())
    result.set("class", describe_class(*configurable->info()));
  return result;
}

/// The description of a function, a class, a namespace or an object with its members; null for
/// plain values.
Value describe_value(Any value) {
  lua_State* L = current();
  if (is_tensor_like(L, value.index)) {
    Dict result = describe_object(L, value.index, *type_of(L, value.index));
    result.set("statistics", statistics_of(to_tensor(L, value.index)));
    return result;
  }
  if (auto* info = to_handle<ClassPtr>(L, value.index)) return describe_class(**info);
  if (const ClassPtr info = class_of_table(L, value.index)) return describe_class(*info);
  if (const char* kind = kind_of_namespace(L, value.index)) return describe_namespace(kind);
  if (const HandleType* type = type_of(L, value.index))
    return describe_object(L, value.index, *type);
  return with_parameter_names(describe_function(L, value.index));
}

}  // namespace

Dict describe_function(const Callable& f) {
  const Signature signature = f.full_signature();
  const std::string_view name =
      std::string_view(signature.name).substr(signature.name.rfind('.') + 1);  // npos + 1 is 0
  Dict result{{"what", "function"},
              {"name", signature.name},
              {"signature", f.text()},
              {"doc", signature.doc},
              {"parameters", with_shared_texts(describe_parameters(signature.parameters), name)},
              {"result", signature.result}};
  if (const SchemaData* schema = f.options()) {
    result.set("options", with_shared_texts(options_of(*schema), name));
    result.set("word", schema->word);
  }
  return result;
}

Value describe_function(lua_State* L, int index) {
  if (const Callable* f = to_callable(L, index)) return describe_function(*f);
  return lua_isfunction(L, index) ? describe_library_function(L, index)
                                  : describe_callable_table(L, index);
}

Dict describe_class(const ClassInfo& info) {
  return {{"what", "class"},
          {"name", info.name},
          {"kind", info.kind},
          {"path", path_of_class(info)},
          {"plugin", info.plugin},
          {"doc", info.schema.description},
          {"aliases", Value(info.aliases)},
          {"options", options_of(info.schema)},
          {"arguments", arguments_of(info.schema)},
          {"members", members_of_class(info.schema)}};
}

Dict describe_namespace(const std::string& kind) {
  const std::vector<std::string> names = class_names_in(kind_named(kind));
  std::vector<std::string> words = registry().all_names(kind);
  words.insert(words.end(), names.begin(), names.end());
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return {{"what", "namespace"},
          {"kind", kind},
          {"doc", kind_named(kind).doc},
          {"names", Value(names)},
          {"words", Value(words)}};
}

void set_reflection(lua_State* L) {
  static const CallablePtr describe =
      bound("describe -> a table with names", &describe_value, {"value: any value=nil"},
            "Describes a value as a table. Tensors of numbers have statistics: count, min, max, "
            "mean, std, zeros, nan, inf; min to std are of the finite elements.");
  push_callable(L, *describe);
  lua_setfield(L, -2, "describe");
  static const CallablePtr printable_function = bound(
      "printable", [](const std::string& text) { return printable(text); }, {"text"},
      "The text with control characters escaped, safe to show on a terminal.");
  push_callable(L, *printable_function);
  lua_setfield(L, -2, "printable");
}

}  // namespace crescent::lua
