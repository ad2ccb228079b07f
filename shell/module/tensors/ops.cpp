// cr.ops: one function per registered operation; the plugin of an operation is loaded when the
// function is first called.
#include "tensors/ops.h"

#include <map>
#include <mutex>

#include "crescent/layer/operation.h"
#include "tensors/control_flow.h"
#include "tensors/indexing.h"
#include "tensors/transforms.h"
#include "values/modules.h"

namespace crescent::lua {
namespace {

int push_results(lua_State* L, const Operation& operation, const Value& result) {
  const OperationResult kind = operation.schema().result;
  const bool has_several_results = kind == OperationResult::tuple ||
                                   (kind == OperationResult::tensor_or_tuple && result.is_list());
  if (!has_several_results) return push_value(L, result), 1;
  const List& results = result.as_list();
  reserve(L, static_cast<int>(results.size()));
  for (const Value& item : results) push_value(L, item);
  return static_cast<int>(results.size());
}

class OperationFunction final : public Callable {
 public:
  OperationFunction(const std::string& name, const Dict& traits)
      : Callable(name, Parameters(parse_parameters(traits.at("parameters").as_string())),
                 traits.contains("doc") ? traits.at("doc").as_string() : ""),
        method_(traits.at("method").as_bool() ? as_method(*this) : nullptr) {}
  /// The function as a method of tensors; null if tensors do not have it as a method.
  const Callable* method() const { return method_.get(); }
  Signature full_signature() const override {
    Signature signature = get<Operation>(Value(name()))->schema().signature;
    signature.name = name();
    return signature;
  }

  int call(lua_State* L) const override {
    const auto operation = get<Operation>(Value(name()));
    collect_variadic(L, *operation);
    unsigned takes_names = 0, takes_lists = 0;
    for (size_t i = 0; i < operation->schema().signature.parameters.size(); ++i) {
      takes_names |= operation->schema().method.parameters.fields[i].takes_dict ? 1u << i : 0;
      takes_lists |= operation->schema().signature.parameters[i].is_list ? 1u << i : 0;
    }
    arrange(L, takes_names, takes_lists);
    Dict arguments;
    for (size_t i = 0; i < parameters().size(); ++i)
      if (const int index = static_cast<int>(i) + 1; !lua_isnil(L, index))
        arguments.set(parameters()[i].name, to_value(L, index));
    return push_results(L, *operation, (*operation)(arguments));
  }

 private:
  /// Replaces the arguments of f("ij,jk->ik", a, b) by f("ij,jk->ik", {a, b}).
  static void collect_variadic(lua_State* L, const Operation& operation) {
    const auto& parameters = operation.schema().signature.parameters;
    for (size_t i = 0; i < parameters.size(); ++i) {
      const int first_index = static_cast<int>(i) + 1, last_index = lua_gettop(L);
      if (!parameters[i].variadic || first_index > last_index || lua_istable(L, first_index))
        continue;
      const int end_index =
          last_index > first_index && is_keywords(L, last_index) ? last_index : last_index + 1;
      lua_createtable(L, end_index - first_index, 0);
      lua_insert(L, first_index);
      for (int position = end_index - first_index; position > 0; --position) {
        lua_pushvalue(L, first_index + position);
        lua_rawseti(L, first_index, position);
        lua_remove(L, first_index + position);
      }
    }
  }
  CallablePtr method_;
};

/// The function of this name, which is made from the traits of its operation when it is first
/// needed and stored until the process ends.
const OperationFunction& function_of(const std::string& name, const Dict& traits) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<const OperationFunction>> cache;
  const std::lock_guard lock(mutex);
  auto& function = cache[name];
  if (!function) function = std::make_unique<const OperationFunction>(name, traits);
  return *function;
}

/// The function that has the name of an operation; null if the operation is not known.
const OperationFunction* find_function(const std::string& name) {
  const Dict traits = registry().traits(Operation::kKind, name);
  return traits.empty() ? nullptr : &function_of(name, traits);
}

/// The functions of all operations in the index of plugins; making them loads no plugin.
const std::vector<const OperationFunction*>& functions() {
  static const std::vector<const OperationFunction*> all_functions = [] {
    std::vector<const OperationFunction*> result;
    for (const std::string& name : registry().names(Operation::kKind)) {
      const Dict traits = registry().traits(Operation::kKind, name);
      for (const Value& function : traits.at("functions").as_list())
        result.push_back(&function_of(function.as_string(), traits));
    }
    return result;
  }();
  return all_functions;
}

/// Sets table[name]; for a name such as "image.resize" sets table.image.resize.
void set_function(lua_State* L, const Callable& function) {
  const std::string& name = function.name();
  const size_t dot = name.find('.');
  if (dot == std::string::npos) {
    push_callable(L, function);
    return lua_setfield(L, -2, name.c_str());
  }
  push(L, name.substr(0, dot));
  lua_pushvalue(L, -1);
  if (lua_rawget(L, -3) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, -5);
    record_path_of_module(L, "cr.ops." + name.substr(0, dot));
  }
  push_callable(L, function);
  lua_setfield(L, -2, name.c_str() + dot + 1);
  lua_pop(L, 2);
}

const char ops_key = 0;  // its address is the key of cr.ops in the Lua registry

/// The metamethod __fill of cr.ops: adds the functions when one of them is first read, because
/// reading the index of plugins takes a third of the time in which a process starts.
int fill_ops(lua_State* L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &ops_key);
  if (luaL_getmetafield(L, -1, "__fill") == LUA_TNIL) return 0;
  lua_pop(L, 1);
  for (const OperationFunction* function : functions()) set_function(L, *function);
  for (const auto* extra_functions : {&control_flow_functions(), &transform_functions()})
    for (const CallablePtr& function : *extra_functions) set_function(L, *function);
  lua_getmetatable(L, -1);
  lua_pushnil(L);
  lua_setfield(L, -2, "__fill");
  return 0;
}

/// The metamethod __index of cr.ops: adds the function of an operation, which may have been
/// registered later; for other names, such as those of namespaces, adds all functions.
int index_ops(lua_State* L) {
  const std::string name = text_of(L, 2);
  const OperationFunction* function = find_function(name);
  if (!function) {
    fill_ops(L);
    lua_settop(L, 2);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, 1) != LUA_TNIL) return 1;
    if (registry().find(Operation::kKind, name)) function = find_function(name);
  }
  if (!function) {
    std::vector<std::string> names;
    for (const OperationFunction* entry : functions()) names.push_back(entry->name());
    fail("cr.ops: no function '", name, "'", did_you_mean(name, names));
  }
  push_callable(L, *function);
  lua_pushvalue(L, -1);
  lua_setfield(L, 1, name.c_str());
  return 1;
}

/// The metamethod __pairs of cr.ops.
int pairs_of_ops(lua_State* L) {
  fill_ops(L);
  lua_getglobal(L, "next");
  lua_pushvalue(L, 1);
  return 2;
}

}  // namespace

void set_ops(lua_State* L) {
  static const CallablePtr metamethods[] = {raw("__index", index_ops), raw("__fill", fill_ops),
                                            raw("__pairs", pairs_of_ops)};
  lua_newtable(L);
  lua_createtable(L, 0, static_cast<int>(std::size(metamethods)));
  for (const CallablePtr& metamethod : metamethods) {
    push_callable(L, *metamethod);
    lua_setfield(L, -2, metamethod->name().c_str());
  }
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &ops_key);
  lua_setfield(L, -2, "ops");
}

const Callable* find_operation_method(const std::string& name) {
  const OperationFunction* function = find_function(name);
  return function ? function->method() : nullptr;
}

const HandleType& operation_methods() {
  static const HandleType type = [] {
    HandleType methods("operations");
    for (const OperationFunction* function : functions())
      if (function->method() && function->name().find('.') == std::string::npos)
        methods.method(as_method(*function));
    return methods;
  }();
  return type;
}

namespace {

int call_operation(lua_State* L, const char* name) {
  if (const OperationFunction* function = find_function(name)) return function->call(L);
  fail("there is no operation '", name, "'");
}

bool is_boolean(lua_State* L, int index) {
  const auto* tensor = to_handle<Tensor>(L, index);
  return tensor && tensor->dtype() == DType::boolean;
}

/// An operator such as +. For symbols, and for two boolean tensors, calls the operation with this
/// name; otherwise calls the C++ function `direct_function`.
class Operator final : public Callable {
 public:
  Operator(const char* operation, CallablePtr direct_function)
      : Callable(direct_function->signature()),
        operation_(operation),
        direct_function_(std::move(direct_function)) {}
  int call(lua_State* L) const override {
    const bool has_symbol = to_handle<Symbol>(L, 1) || to_handle<Symbol>(L, 2);
    const bool are_booleans = is_boolean(L, 1) && is_boolean(L, 2);
    return has_symbol || are_booleans ? call_operation(L, operation_) : direct_function_->call(L);
  }

 private:
  const char* operation_;
  CallablePtr direct_function_;
};

/// The arithmetic operators of symbols. Comparison operators are missing, because Lua converts
/// their results to booleans.
struct SymbolOperator {
  const char* key;
  RawFunction::Body body;
};
constexpr SymbolOperator kSymbolOperators[] = {
    {"__add", [](lua_State* L) { return call_operation(L, "add"); }},
    {"__sub", [](lua_State* L) { return call_operation(L, "subtract"); }},
    {"__mul", [](lua_State* L) { return call_operation(L, "multiply"); }},
    {"__div", [](lua_State* L) { return call_operation(L, "divide"); }},
    {"__pow", [](lua_State* L) { return call_operation(L, "power"); }},
    {"__mod", [](lua_State* L) { return call_operation(L, "mod"); }},
    {"__idiv", [](lua_State* L) { return call_operation(L, "floor_divide"); }},
    {"__unm", [](lua_State* L) { return lua_settop(L, 1), call_operation(L, "negative"); }}};

[[noreturn]] int refuse_symbol_comparison(lua_State*) {
  fail("comparisons in Lua cannot give a symbol: use cr.ops.less(a, b), less_equal, greater or ",
       "greater_equal");
}

Value get_item(const Symbol& symbol, Value key) {
  return (*get<Operation>(Value("get_item")))(
      {{"x", Value(std::make_shared<BoxedSymbol>(symbol))}, {"key", std::move(key)}});
}

/// Implements symbol:slice(first, last); positions have the same meaning as in slices of tensors.
Value slice_symbol(const Symbol& symbol, const std::vector<int64_t>& first,
                   const std::vector<int64_t>& last) {
  if (first.size() != last.size() && !last.empty())
    fail("slice: expected as many last positions as first ones");
  List key;
  for (size_t i = 0; i < first.size(); ++i) {
    const int64_t from = first[i], to = last.empty() ? -1 : last[i];
    if (from == 0) fail("slice: positions count from 1, got 0");
    Dict range{{"start", from > 0 ? from - 1 : from}};
    range.set("stop", to >= 0 ? Value(to) : to == -1 ? Value() : Value(to + 1));
    key.push_back(std::move(range));
  }
  return get_item(symbol, std::move(key));
}

}  // namespace

CallablePtr operator_for(const char* operation, CallablePtr direct_function) {
  return std::make_unique<const Operator>(operation, std::move(direct_function));
}

void add_symbol_operators(HandleType& type) {
  for (const SymbolOperator& row : kSymbolOperators) type.meta(row.key, raw(row.key, row.body));
  for (const char* name : {"__lt", "__le"}) type.meta(name, raw(name, refuse_symbol_comparison));
  type.method("slice -> a symbol", &slice_symbol, {"first", "last=nil"},
              "The elements from first to last along the first axis, or by tables of positions "
              "along several axes; both ends are included.");
  add_symbol_indexing(type);
}

}  // namespace crescent::lua
