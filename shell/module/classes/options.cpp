#include "classes/options.h"

#include <algorithm>

#include "crescent/layer/layer.h"
#include "values/callable.h"

namespace crescent::lua {
namespace {

void add_named_options(lua_State* L, int table_index, Dict& keywords) {
  for (lua_pushnil(L); lua_next(L, table_index); lua_pop(L, 1)) {
    if (lua_type(L, -2) == LUA_TSTRING)
      keywords.set(text_of(L, -2), to_value(L, lua_gettop(L)));
    else if (!lua_isinteger(L, -2))
      fail_expected(L, -2, "the name of an option");
  }
}

void add_positional_options(lua_State* L, int table_index, List& positional) {
  const auto length = static_cast<lua_Integer>(lua_rawlen(L, table_index));
  for (lua_Integer i = 1; i <= length; ++i) {
    lua_rawgeti(L, table_index, i);
    positional.push_back(to_value(L, lua_gettop(L)));
    lua_pop(L, 1);
  }
}

bool is_layer(const Value& value) { return value.object_as<Layer>() != nullptr; }

/// Joins several layers to one list, as in RNN {a, b}, if only the first parameter of the class
/// takes layers.
void join_layers(List& positional, const SchemaData& schema) {
  std::vector<const Field*> positional_fields;
  for (const Field& field : schema.fields)
    if (!field.keyword_only) positional_fields.push_back(&field);
  const bool takes_list =
      !positional_fields.empty() && positional_fields[0]->kind == Layer::kKind &&
      (positional_fields.size() == 1 || positional_fields[1]->kind != Layer::kKind);
  if (takes_list && positional.size() > 1 &&
      std::all_of(positional.begin(), positional.end(), is_layer))
    positional = List{std::move(positional)};
}

bool is_number(const Value& value) { return value.is_number(); }
bool is_size(const Value& value) { return value.is_number() || value.is_null(); }
bool is_list(const Value& value) { return value.is_list(); }

/// Joins positional numbers to a list if the class has only one positional parameter, or if the
/// default of its first parameter is a list of as many numbers: Reshape {2, 3}, MaxPooling2D {3,
/// 2}. Lists are joined in the same way to a list of lists: ZeroPadding2D {{1, 2}, {3, 4}}. With
/// only one positional parameter nulls are unknown sizes of a shape: Reshape {null, 3}.
void join_numbers(List& positional, const SchemaData& schema) {
  std::vector<const Field*> positional_fields;
  for (const Field& field : schema.fields)
    if (!field.keyword_only) positional_fields.push_back(&field);
  if (positional_fields.empty() || positional.size() < 2) return;
  const Value& default_value = positional_fields.front()->default_value;
  const bool default_has_same_length =
      default_value.is_list() && default_value.as_list().size() == positional.size();
  const auto all_are = [&](bool (*predicate)(const Value&)) {
    return std::all_of(positional.begin(), positional.end(), predicate);
  };
  if ((all_are(is_size) && positional_fields.size() == 1) ||
      (all_are(is_number) && default_has_same_length) ||
      (all_are(is_list) && default_has_same_length && is_list(default_value.as_list().front())))
    positional = List{std::move(positional)};
}

void drop_trailing_nulls(List& values) {
  while (!values.empty() && values.back().is_null()) values.pop_back();
}

/// Whether every name in the table is the name of a parameter.
bool names_parameters(lua_State* L, int table_index, const SchemaData& parameters) {
  Dict names;
  add_named_options(L, table_index, names);
  return std::all_of(names.begin(), names.end(),
                     [&](const DictEntry& entry) { return parameters.find(entry.key) != nullptr; });
}

/// Whether the last value is a table of keyword options, not a positional argument.
bool ends_in_keywords(lua_State* L, int first, const SchemaData& parameters) {
  const int last_index = lua_gettop(L), parameter_index = last_index - first;
  if (parameter_index < 0 || !is_options(L, last_index)) return false;
  const bool has_parameter = parameter_index < static_cast<int>(parameters.fields.size());
  if (!is_keywords(L, last_index))
    return !has_parameter || !parameters.fields[parameter_index].required;
  return !has_parameter || !parameters.fields[parameter_index].takes_dict ||
         names_parameters(L, last_index, parameters);
}

}  // namespace

Dict arguments_from(lua_State* L, int first, const SchemaData& parameters) {
  List positional;
  Dict keywords;
  reserve(L, 8);
  const int last_index = lua_gettop(L);
  const bool has_keywords = ends_in_keywords(L, first, parameters);
  if (has_keywords) add_named_options(L, last_index, keywords);
  if (has_keywords && last_index == first) add_positional_options(L, first, positional);
  for (int i = first; i <= last_index - has_keywords; ++i) positional.push_back(to_value(L, i));
  drop_trailing_nulls(positional);
  Dict arguments;
  for (const DictEntry& entry : parameters.by_name(positional, keywords))
    if (!entry.value.is_null()) arguments.set(entry.key, entry.value);
  adapt_options(arguments, parameters);
  return arguments;
}

Dict options_from(lua_State* L, int first, const SchemaData& schema) {
  List positional;
  Dict keywords;
  int last_index = lua_gettop(L);
  reserve(L, 8);
  if (last_index == first && is_plain_table(L, first)) {
    add_positional_options(L, first, positional);
    join_layers(positional, schema);
    join_numbers(positional, schema);
    add_named_options(L, first, keywords);
  } else {
    const bool has_keywords = last_index > first && is_options(L, last_index);
    if (has_keywords) add_named_options(L, last_index, keywords);
    for (int i = first; i <= last_index - has_keywords; ++i) positional.push_back(to_value(L, i));
    drop_trailing_nulls(positional);
  }
  Dict options = schema.by_name(positional, keywords);
  adapt_options(options, schema);
  return options;
}

Value take_option(Dict& options, std::string_view name) {
  const Value* option = options.find(name);
  Value value = option ? *option : Value();
  options.erase(name);
  return value;
}

}  // namespace crescent::lua
