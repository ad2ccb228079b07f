// cr.compiled: Lua functions that run as compiled programs.
#include "tensors/compiled.h"

#include <algorithm>

#include "crescent/program/program.h"
#include "tensors/structure.h"
#include "tensors/tensors.h"

namespace crescent::lua {
namespace {

/// The arguments of a call: the tensors, and a text that describes all other values. Calls with the
/// same text share a program.
struct Arguments {
  Tensors tensors;
  std::string cache_key;
};

/// The names in a table, in alphabetical order.
std::vector<std::string> names_in(lua_State* L, int index) {
  std::vector<std::string> names;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1))
    if (lua_type(L, -2) == LUA_TSTRING) names.push_back(text_of(L, -2));
  std::sort(names.begin(), names.end());
  return names;
}

void collect_argument(lua_State* L, int index, Arguments& arguments, int depth) {
  if (depth > 16) fail("compiled: tables nested too deep");
  if (is_tensor_like(L, index)) {
    arguments.tensors.push_back(to_tensor(L, index));
    arguments.cache_key += 'T';
  } else if (is_plain_table(L, index)) {
    reserve(L, 4);
    arguments.cache_key += '{';
    for (lua_Integer i = 1; i <= static_cast<lua_Integer>(lua_rawlen(L, index)); ++i) {
      lua_rawgeti(L, index, i);
      collect_argument(L, lua_gettop(L), arguments, depth + 1);
      lua_pop(L, 1);
    }
    for (const std::string& name : names_in(L, index)) {
      arguments.cache_key += concat(name.size(), ":", name, "=");
      push_field(L, index, name.c_str());
      collect_argument(L, lua_gettop(L), arguments, depth + 1);
      lua_pop(L, 1);
    }
    arguments.cache_key += '}';
  } else {
    switch (lua_type(L, index)) {
      case LUA_TNIL:
      case LUA_TBOOLEAN:
      case LUA_TNUMBER:
      case LUA_TSTRING:
        arguments.cache_key += "(" + describe(L, index) + ")";
        break;
      default:
        fail("compiled: expected tensors, tables of tensors or plain values, got ",
             describe(L, index));
    }
  }
}

/// Pushes the argument at `index` with its tensors replaced by those of `tensors`, from
/// `next_index` on.
void push_with_tensors(lua_State* L, int index, const Tensors& tensors, size_t& next_index) {
  if (is_tensor_like(L, index)) return push(L, tensors.at(next_index++));
  if (!is_plain_table(L, index)) return lua_pushvalue(L, index);
  reserve(L, 4);
  lua_newtable(L);
  const int table_index = lua_gettop(L);
  for (lua_Integer i = 1; i <= static_cast<lua_Integer>(lua_rawlen(L, index)); ++i) {
    lua_rawgeti(L, index, i);
    push_with_tensors(L, lua_gettop(L), tensors, next_index);
    lua_rawseti(L, table_index, i);
    lua_pop(L, 1);
  }
  for (const std::string& name : names_in(L, index)) {
    push_field(L, index, name.c_str());
    push_with_tensors(L, lua_gettop(L), tensors, next_index);
    lua_setfield(L, table_index, name.c_str());
    lua_pop(L, 1);
  }
}

/// A Lua function that is traced once for each combination of arguments and tensor signatures.
class CompiledFunction final : public Object {
 public:
  explicit CompiledFunction(Ref function) : function_(std::move(function)) {}
  std::string class_name() const override { return "compiled function"; }

  int call(lua_State* L, int first_index) {
    Arguments arguments;
    const int last_index = lua_gettop(L);
    for (int i = first_index; i <= last_index; ++i) collect_argument(L, i, arguments, 0);
    Entry& entry = entry_for(arguments.cache_key);
    first_argument_index_ = first_index, last_argument_index_ = last_index;
    const Tensors results = entry.function(arguments.tensors);
    const Value values = with_tensors(entry.results, results);
    for (const Value& value : values.as_list()) push_value(L, value);
    return static_cast<int>(values.as_list().size());
  }

 private:
  struct Entry {
    std::string cache_key;
    Function function;
    Value results;  ///< the nested value that the Lua function returned, with abstract tensors
  };

  Entry& entry_for(const std::string& cache_key) {
    for (auto& entry : entries_)
      if (entry->cache_key == cache_key) return *entry;
    auto& entry = *entries_.emplace_back(std::make_unique<Entry>());
    entry.cache_key = cache_key;
    entry.function =
        Function([this, &entry](const Tensors& inputs) { return trace(entry, inputs); });
    return entry;
  }

  /// Runs the Lua function with the arguments of the call in progress, in which abstract tensors
  /// replace the inputs.
  Tensors trace(Entry& entry, const Tensors& inputs) {
    lua_State* L = current();
    StackRestorer restorer(L);
    reserve(L, last_argument_index_ - first_argument_index_ + 8);
    const int bottom = lua_gettop(L);
    function_.push(L);
    size_t next_index = 0;
    for (int i = first_argument_index_; i <= last_argument_index_; ++i)
      push_with_tensors(L, i, inputs, next_index);
    protected_call(L, last_argument_index_ - first_argument_index_ + 1, LUA_MULTRET);
    List results;
    for (int i = bottom + 1; i <= lua_gettop(L); ++i) results.push_back(to_value(L, i));
    entry.results = std::move(results);
    return tensors_in(entry.results);
  }

  Ref function_;
  std::vector<std::unique_ptr<Entry>> entries_;
  int first_argument_index_ = 0, last_argument_index_ = 0;
};

int call_compiled(lua_State* L) {
  return Read<std::shared_ptr<CompiledFunction>>::from(L, 1)->call(L, 2);
}

std::shared_ptr<CompiledFunction> compiled(Any function) {
  lua_State* L = current();
  if (!lua_isfunction(L, function.index)) fail_expected(L, function.index, "a function");
  return std::make_shared<CompiledFunction>(Ref(L, function.index));
}

}  // namespace

void add_compiled_type(ObjectTypes& types, const HandleType& object) {
  add_type<CompiledFunction>(types, "compiled function", &object)
      .meta("__call", raw("call", call_compiled));
}

CallablePtr compiled_function() {
  return bound("compiled -> a function", &compiled, {"function: a function"},
               "A function of tensors that traces the given one once per signature and runs the "
               "compiled program.");
}

}  // namespace crescent::lua
