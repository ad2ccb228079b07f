#include "listing.h"

#include <cmath>
#include <map>
#include <set>

#include "classes/object_types.h"
#include "crescent/base/export.h"
#include "crescent/base/mapped.h"
#include "library/examples.h"
#include "library/namespaces.h"
#include "library/reflection.h"
#include "models/graph.h"
#include "tensors/ops.h"
#include "tensors/tensors.h"

namespace crescent::lua {
namespace {

const char module_key = 0;  // the key in the Lua registry of the module's table

/// The rows of the listing, sorted by name.
using Rows = std::map<std::string, Dict>;

List list_of(Rows rows) {
  List list;
  for (auto& [name, row] : rows) list.push_back(std::move(row));
  return list;
}

/// Adds the example and the possible errors that are stored under this name to the row, if there
/// are any.
void add_example(Dict& row, const std::string& name) {
  if (std::string text = example_of(name); !text.empty()) row.set("example", std::move(text));
  if (std::string text = errors_of(name); !text.empty()) row.set("errors", std::move(text));
}

/// Collects the functions, namespaces and values in the table of the module, by their paths.
class ListingBuilder {
 public:
  explicit ListingBuilder(lua_State* L) : L_(L) {}

  /// Collects the members of the table on top of the stack, which has this path; pops the table.
  void visit_table(const std::string& path) {
    reserve(L_, 8);
    const int index = lua_gettop(L_);
    if (enclosing_tables_.insert(lua_topointer(L_, index)).second) {
      add_lazy_fields(index);
      if (luaL_getmetafield(L_, index, "__members")) lua_replace(L_, index);
      for (lua_pushnil(L_); lua_next(L_, index);) {
        if (lua_type(L_, -2) == LUA_TSTRING && !is_internal(index, text_of(L_, -2)))
          visit_member(concat(path, ".", text_of(L_, -2)));
        else
          lua_pop(L_, 1);
      }
      enclosing_tables_.erase(lua_topointer(L_, index));
    }
    lua_settop(L_, index - 1);
  }

  /// If a function is found by several paths and one of them has an example, gives the example and
  /// the errors to all of them.
  void share_examples() {
    std::map<const void*, std::string> paths;
    for (const auto& [path, row] : functions)
      if (row.contains("example")) paths[identities_[path]] = path;
    for (auto& [path, row] : functions)
      if (const auto it = paths.find(identities_[path]);
          it != paths.end() && !row.contains("example"))
        add_example(row, it->second);
  }

  Rows functions, namespaces, values;

 private:
  /// Adds the fields of a table that are otherwise added when they are first read.
  void add_lazy_fields(int index) {
    if (luaL_getmetafield(L_, index, "__fill")) protected_call(L_, 0, 0);
  }

  /// Whether the table's metatable marks this field as one that only the program uses; the set of
  /// these fields is made by shell/lua/libraries.lua.
  bool is_internal(int index, const std::string& name) {
    const StackRestorer restorer(L_);
    if (luaL_getmetafield(L_, index, "__internal") != LUA_TTABLE) return false;
    return lua_getfield(L_, -1, name.c_str()) != LUA_TNIL;
  }

  /// Collects the value on top of the stack, which has this path; pops the value.
  void visit_member(const std::string& path) {
    const int index = lua_gettop(L_);
    if (const Value description = describe_function(L_, index); !description.is_null())
      visit_function(path, index, description.as_dict());
    else if (const char* kind = kind_of_namespace(L_, index))
      add(namespaces, path, describe_namespace(kind));
    else
      values[path] = Dict{{"path", path}, {"type", luaL_typename(L_, index)}};
    lua_istable(L_, index) ? visit_table(path) : lua_settop(L_, index - 1);
  }

  void visit_function(const std::string& path, int index, const Dict& description) {
    add(functions, path, description);
    add_example(functions[path], path);
    const Callable* callable = to_callable(L_, index);
    identities_[path] = callable ? callable : lua_topointer(L_, index);
  }

  static void add(Rows& rows, const std::string& path, const Dict& description) {
    Dict row{{"path", path}};
    for (const DictEntry& entry : description) row.set(entry.key, entry.value);
    row.erase("what");
    rows[path] = std::move(row);
  }

  lua_State* L_;
  std::map<std::string, const void*> identities_;  ///< the address of the function at each path
  std::set<const void*> enclosing_tables_;         ///< the tables that contain the table being
                                                   ///< visited
};

/// Rows that describe the classes of each kind for which Lua has a table, such as cr.losses.
List classes() {
  List rows;
  for (const KindInfo& kind : kinds()) {
    if (!namespace_of_kind(kind)) continue;
    for (const std::string& name : class_names_in(kind)) {
      Dict row = describe_class(*class_in(kind, name));
      row.erase("what");
      add_example(row, row.at("path").as_string());
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

/// The name under which the example of a method is stored; methods of tensors are functions of
/// cr.ops.
std::string example_name_of(const HandleType& type, const std::string& method) {
  return concat(&type == &operation_methods() ? "cr.ops" : type.name(), ".", method);
}

List own_methods(const HandleType& type) {
  List rows;
  for (const Callable* method : type.own_methods()) {
    Dict row = describe_function(*method);
    row.erase("what");
    add_example(row, example_name_of(type, method->name()));
    rows.push_back(std::move(row));
  }
  return rows;
}

List own_properties(const HandleType& type) {
  List rows;
  for (const Callable* getter : type.own_getters())
    rows.push_back(Dict{{"name", getter->name()},
                        {"doc", getter->doc()},
                        {"type", getter->signature().result},
                        {"settable", type.find_setter(getter->name()) != nullptr}});
  return rows;
}

/// Describes the members of a type, without those of its parents, which have entries of their own.
Dict describe_type(const HandleType& type) {
  Dict row{
      {"name", type.name()}, {"methods", own_methods(type)}, {"properties", own_properties(type)}};
  row.set("parent", type.parent() ? Value(type.parent()->name()) : Value());
  add_example(row, type.name());
  return row;
}

List types() {
  List rows;
  for (const HandleType* type : {&operation_methods(), &tensor_type(), &variable_type(),
                                 &symbol_type(), &node_type(), &input_spec_type(), &class_type()})
    rows.push_back(describe_type(*type));
  for (const ObjectType& entry : object_types()) rows.push_back(describe_type(entry.type));
  return rows;
}

/// The value in a form that JSON can express: objects become the names of their classes, and
/// infinite numbers and NaN become strings.
Value json_compatible(const Value& value) {
  return mapped(value, [](const Value& element) -> std::optional<Value> {
    if (element.is_object()) return Value(element.as_object()->class_name());
    if (element.is_float() && !std::isfinite(element.as_float())) return Value(to_text(element));
    return std::nullopt;
  });
}

}  // namespace

Dict listing(lua_State* L, int module_index) {
  ListingBuilder builder(L);
  lua_pushvalue(L, module_index);
  builder.visit_table("cr");
  builder.share_examples();
  const Value result = json_compatible(Dict{{"version", CRESCENT_VERSION},
                                            {"functions", list_of(std::move(builder.functions))},
                                            {"namespaces", list_of(std::move(builder.namespaces))},
                                            {"classes", classes()},
                                            {"types", types()},
                                            {"values", list_of(std::move(builder.values))}});
  return result.as_dict();
}

void set_listing(lua_State* L) {
  static const CallablePtr function = bound(
      "listing",
      [](bool only_types) {
        if (only_types) return Dict{{"types", json_compatible(types())}};
        lua_State* state = current();
        lua_rawgetp(state, LUA_REGISTRYINDEX, &module_key);
        return listing(state, lua_gettop(state));
      },
      {"only_types=false"},
      "Everything that can be called, as a table: what `crescent describe --json` prints. With "
      "`only_types`, only the types of objects with their methods and properties.");
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &module_key);
  push_callable(L, *function);
  lua_setfield(L, -2, "listing");
}

}  // namespace crescent::lua
