#include "workers/copied.h"

#include <optional>

#include "instances/instance.h"
#include "lua/class_table.h"
#include "lua/lists.h"
#include "lua/log_table.h"
#include "lua/results.h"
#include "values/callable.h"
#include "values/convert.h"

namespace crescent::lua {
namespace {

constexpr const char* kAdvice = "; make it inside of the function";

int append_bytecode(lua_State*, const void* bytes, size_t count, void* text) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), count);
  return 0;
}

/// Whether the bytecode contains this name as a constant. In bytecode, the length plus one precedes
/// a constant, and the last byte of the length has the bit 0x80 set.
bool mentions_name(const std::string& code, const std::string& name) {
  constexpr size_t kMaxShortLength = 126;
  if (name.size() > kMaxShortLength) return code.find(name) != code.npos;
  return code.find(static_cast<char>((name.size() + 1) | 0x80) + name) != code.npos;
}

}  // namespace

bool holds_lua_classes(Object& object) {
  if (dynamic_cast<Instance*>(&object)) return true;
  auto* layer = dynamic_cast<Layer*>(&object);
  if (!layer) return false;
  for (Layer* inner_layer : layer->flatten_layers())
    if (dynamic_cast<Instance*>(inner_layer)) return true;
  return false;
}

/// Copies a value and all values to which it refers.
class CopiedValue::Reader {
 public:
  Reader(lua_State* L, CopiedValue& copied_value) : L_(L), copied_value_(copied_value) {
    find_libraries();
  }

  size_t read(int index, const std::string& what) {
    reserve(L_, 12);
    index = lua_absindex(L_, index);
    const void* identity = lua_topointer(L_, index);
    const int type = lua_type(L_, index);
    const bool is_shared = type == LUA_TTABLE || type == LUA_TFUNCTION;
    if (auto it = node_by_identity_.find(identity); is_shared && it != node_by_identity_.end())
      return it->second;
    const size_t node_index = copied_value_.nodes_.size();
    copied_value_.nodes_.emplace_back();
    if (is_shared) node_by_identity_[identity] = node_index;
    Node node = is_shared ? read_shared(index, identity, what) : read_plain(index, what);
    copied_value_.nodes_[node_index] = std::move(node);
    return node_index;
  }

 private:
  Node read_shared(int index, const void* identity, const std::string& what) {
    Node node;
    if (auto library = libraries_.find(identity); library != libraries_.end()) {
      node.kind = Node::Kind::library;
      node.text = library->second;
      return node;
    }
    return lua_type(L_, index) == LUA_TTABLE ? read_table(index, what) : read_function(index, what);
  }

  Node read_plain(int index, const std::string& what) {
    Node node;
    if (lua_isthread(L_, index)) fail(what, " is a coroutine, which workers cannot have", kAdvice);
    if (auto* info = to_handle<ClassPtr>(L_, index)) {
      if ((*info)->origin == "Lua") fail_lua_class(what);
      node.kind = Node::Kind::type;
      node.type = *info;
      return node;
    }
    const bool is_of_module = to_handle<Tensor>(L_, index) || to_object(L_, index);
    if (lua_type(L_, index) == LUA_TUSERDATA && !is_of_module)
      fail(what, " is ", describe(L_, index), ", which workers cannot have", kAdvice);
    node.plain_value = to_value(L_, index);
    if (node.plain_value.is_object() && !node.plain_value.object_as<BoxedTensor>() &&
        holds_lua_classes(*node.plain_value.as_object()))
      fail_lua_class(what);
    return node;
  }

  [[noreturn]] static void fail_lua_class(const std::string& what) {
    fail(what, " is of a class written in Lua, which workers cannot have", kAdvice);
  }

  Node read_table(int index, const std::string& what) {
    if (is_class(L_, index)) fail_lua_class(what);
    const bool is_plain =
        is_marked_list(L_, index) || is_log_table(L_, index) || is_results(L_, index);
    if (!is_plain && lua_getmetatable(L_, index)) {
      lua_pop(L_, 1);
      fail(what, " is a table with a metatable, which workers cannot have", kAdvice);
    }
    Node node;
    node.kind = Node::Kind::table;
    for (lua_pushnil(L_); lua_next(L_, index); lua_pop(L_, 1)) {
      const std::string field = concat("field '", text_of(L_, -2), "' of ", what);
      const size_t key_node = read(-2, "a key of " + what), value_node = read(-1, field);
      node.fields.emplace_back(key_node, value_node);
    }
    return node;
  }

  Node read_function(int index, const std::string& what) {
    if (lua_iscfunction(L_, index)) {
      if (to_callable(L_, index)) return read_library_function(index);
      fail(what, " is a function of C that no library shows, which workers cannot have", kAdvice);
    }
    Node node;
    node.kind = Node::Kind::function;
    lua_pushvalue(L_, index);
    lua_dump(L_, append_bytecode, &node.text, 0);
    lua_pop(L_, 1);
    for (int i = 1; const char* name = lua_getupvalue(L_, index, i); ++i) {
      const bool is_globals_table = is_globals(-1);
      node.upvalues.push_back(is_globals_table
                                  ? add_globals(node.text)
                                  : read(-1, concat("the variable '", name, "' of ", what)));
      lua_pop(L_, 1);
    }
    return node;
  }

  Node read_library_function(int index) {
    Node node;
    node.kind = Node::Kind::library;
    node.callable = to_callable(L_, index);
    return node;
  }

  bool is_globals(int index) {
    lua_pushglobaltable(L_);
    const bool is_same = lua_rawequal(L_, -1, index - 1);
    lua_pop(L_, 1);
    return is_same;
  }

  size_t add_globals(const std::string& code) {
    lua_pushglobaltable(L_);
    const int table_index = lua_gettop(L_);
    for (lua_pushnil(L_); lua_next(L_, table_index); lua_pop(L_, 1)) {
      if (lua_type(L_, -2) != LUA_TSTRING) continue;
      const std::string name = text_of(L_, -2);
      if (is_globals(-1) || copied_value_.globals_.contains(name) || !mentions_name(code, name))
        continue;
      const StackRestorer restorer(L_);
      copied_value_.globals_[name] = 0;
      try {
        copied_value_.globals_[name] = read(-1, concat("the global variable '", name, "'"));
      } catch (const Error& error) {
        copied_value_.globals_.erase(name);
        copied_value_.unavailable_globals_[name] = error.what();
      }
    }
    lua_pop(L_, 1);
    const size_t node_index = copied_value_.nodes_.size();
    copied_value_.nodes_.emplace_back().kind = Node::Kind::globals;
    return node_index;
  }

  /// Stores the paths of the functions and tables in the table on top of the stack; for tables of
  /// the module crescent, also of those in nested tables.
  void find_members(const std::string& path, bool is_globals_table) {
    reserve(L_, 4);
    const int table_index = lua_gettop(L_);
    for (lua_pushnil(L_); lua_next(L_, table_index); lua_pop(L_, 1)) {
      const bool is_member = lua_iscfunction(L_, -1) || (!is_globals_table && lua_istable(L_, -1));
      if (!is_member || lua_type(L_, -2) != LUA_TSTRING || to_callable(L_, -1)) continue;
      const std::string name = path + "." + text_of(L_, -2);
      const bool was_added = libraries_.emplace(lua_topointer(L_, -1), name).second;
      if (was_added && lua_istable(L_, -1) && name.starts_with("crescent."))
        find_members(name, false);
    }
  }

  /// Stores the paths of the modules that `require` returns in every state, and of the functions
  /// and tables in them. These values are not copied.
  void find_libraries() {
    const StackRestorer restorer(L_);
    reserve(L_, 10);
    lua_getfield(L_, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    const int loaded_table_index = lua_gettop(L_);
    for (lua_pushnil(L_); lua_next(L_, loaded_table_index); lua_pop(L_, 1)) {
      if (lua_type(L_, -2) != LUA_TSTRING || lua_type(L_, -1) != LUA_TTABLE) continue;
      const std::string module_name = text_of(L_, -2);
      const bool is_globals_table = is_globals(-1);
      if (!is_globals_table) libraries_.emplace(lua_topointer(L_, -1), module_name);
      find_members(module_name, is_globals_table);
    }
  }

  lua_State* L_;
  CopiedValue& copied_value_;
  std::map<const void*, size_t> node_by_identity_;
  std::map<const void*, std::string> libraries_;  ///< paths: "string.format"
};

/// Makes the copied value in another state. If the value refers to a table or function several
/// times, this table or function is made once.
class CopiedValue::Maker {
 public:
  Maker(lua_State* L, const CopiedValue& copied_value) : L_(L), copied_value_(copied_value) {
    lua_newtable(L_);
    values_table_index_ = lua_gettop(L_);
  }

  void push(size_t node_index) {
    reserve(L_, 8);
    const auto number = static_cast<lua_Integer>(node_index) + 1;
    if (lua_rawgeti(L_, values_table_index_, number) != LUA_TNIL) return;
    lua_pop(L_, 1);
    const Node& node = copied_value_.nodes_[node_index];
    switch (node.kind) {
      case Node::Kind::plain:
        return push_value(L_, node.plain_value);
      case Node::Kind::type:
        return push_handle(L_, node.type);
      case Node::Kind::library:
        return node.callable ? push_callable(L_, *node.callable) : push_library(node.text);
      case Node::Kind::globals:
        return lua_pushglobaltable(L_);
      case Node::Kind::table:
        lua_newtable(L_);
        store_value(number);
        return set_fields(node);
      case Node::Kind::function:
        if (luaL_loadbufferx(L_, node.text.data(), node.text.size(), "function", "b") != LUA_OK)
          fail("a function cannot be taken over: ", text_of(L_, -1));
        store_value(number);
        return set_upvalues(node);
    }
  }

  void set_globals() {
    for (const auto& [name, node_index] : copied_value_.globals_) {
      lua_pushglobaltable(L_);
      push_string(L_, name);
      push(node_index);
      lua_rawset(L_, -3);
      lua_pop(L_, 1);
    }
  }

 private:
  void store_value(lua_Integer number) {
    lua_pushvalue(L_, -1);
    lua_rawseti(L_, values_table_index_, number);
  }
  void set_fields(const Node& node) {
    for (const auto& [key_node, value_node] : node.fields) {
      push(key_node);
      push(value_node);
      lua_rawset(L_, -3);
    }
  }
  void set_upvalues(const Node& node) {
    for (size_t i = 0; i < node.upvalues.size(); ++i) {
      push(node.upvalues[i]);
      lua_setupvalue(L_, -2, static_cast<int>(i) + 1);
    }
  }
  /// Pushes the module, or the value in it, at the path "module.name.name".
  void push_library(const std::string& path) {
    lua_getfield(L_, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    const auto push_module = [&](const std::string& module_name) {
      if (lua_getfield(L_, -1, module_name.c_str()) != LUA_TNIL) return true;
      lua_pop(L_, 1);
      push_global(L_, "require");
      push_string(L_, module_name);
      return lua_pcall(L_, 1, 1, 0) == LUA_OK || (lua_pop(L_, 1), false);
    };
    if (!push_module(path)) {
      const size_t dot = path.rfind('.');
      if (dot == path.npos) fail("a worker cannot load the module '", path, "'");
      push_library(path.substr(0, dot));
      lua_getfield(L_, -1, path.substr(dot + 1).c_str());
      lua_remove(L_, -2);
    }
    lua_remove(L_, -2);
  }

  lua_State* L_;
  const CopiedValue& copied_value_;
  int values_table_index_;  ///< the stack index of the table {number of node = value made for it}
};

namespace {

/// The metamethod __index of the global variables of the state in which a copied function runs. If
/// the variable exists in the original state but could not be copied, fails with the reason.
extern "C" int fail_unavailable(lua_State* L) {
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) == LUA_TSTRING)
    return luaL_error(L, "%s", lua_tostring(L, -1));
  return 1;
}

}  // namespace

namespace {

std::string package_field(lua_State* L, const char* name) {
  const StackRestorer restorer(L);
  push_global(L, "package");
  if (!lua_istable(L, -1)) return "";
  push_field(L, -1, name);
  return lua_type(L, -1) == LUA_TSTRING ? text_of(L, -1) : "";
}

void set_package_field(lua_State* L, const char* name, const std::string& text) {
  const StackRestorer restorer(L);
  push_global(L, "package");
  push_string(L, text);
  lua_setfield(L, -2, name);
}

}  // namespace

CopiedValue::CopiedValue(lua_State* L, int index, const std::string& what)
    : path_(package_field(L, "path")), cpath_(package_field(L, "cpath")) {
  const StackRestorer restorer(L);
  root_index_ = Reader(L, *this).read(index, what);
}

void CopiedValue::push(lua_State* L) const {
  reserve(L, 8);
  set_package_field(L, "path", path_);
  set_package_field(L, "cpath", cpath_);
  Maker maker(L, *this);
  const int values_table_index = lua_gettop(L);
  maker.set_globals();
  lua_pushglobaltable(L);
  lua_newtable(L);
  lua_newtable(L);
  for (const auto& [name, reason] : unavailable_globals_) {
    push_string(L, reason);
    lua_setfield(L, -2, name.c_str());
  }
  lua_pushcclosure(L, fail_unavailable, 1);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_pop(L, 1);
  maker.push(root_index_);
  lua_remove(L, values_table_index);
}

}  // namespace crescent::lua
