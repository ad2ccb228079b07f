#include "values/callable.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "lua/class_table.h"
#include "values/collector.h"
#include "values/convert.h"
#include "values/modules.h"

namespace crescent::lua {

Parameters::Parameters() = default;
Parameters::Parameters(std::initializer_list<const char*> texts) {
  reserve(texts.size());
  for (const char* text : texts) push_back(parse_parameter(text));
}
Parameters::Parameters(std::vector<Parameter> parameters)
    : std::vector<Parameter>(std::move(parameters)) {}
Parameters::Parameters(const Parameters&) = default;
Parameters::Parameters(Parameters&&) noexcept = default;
Parameters& Parameters::operator=(const Parameters&) = default;
Parameters& Parameters::operator=(Parameters&&) noexcept = default;
Parameters::~Parameters() = default;

Parameters Parameters::of_method(std::string self) const {
  Parameters result{"self"};
  result.front().type = std::move(self);
  result.insert(result.end(), begin(), end());
  return result;
}

Signature signature_of(std::string_view name, Parameters parameters, std::string_view doc) {
  constexpr std::string_view kArrow = " -> ";
  const size_t arrow_position = name.find(kArrow);
  Signature signature;
  signature.name = name.substr(0, arrow_position);
  if (arrow_position != name.npos) signature.result = name.substr(arrow_position + kArrow.size());
  signature.parameters = std::move(parameters);
  signature.doc = doc;
  return signature;
}

Signature typed_signature(std::string_view name, Parameters parameters, std::string_view doc,
                          const Invoker& invoker) {
  Signature signature = signature_of(name, std::move(parameters), doc);
  invoker.set_types(signature);
  return signature;
}

Callable::Callable(Signature signature) : signature_(std::move(signature)) {}
Callable::Callable(std::string_view name, Parameters parameters, std::string_view doc)
    : Callable(signature_of(name, std::move(parameters), doc)) {}
Callable::~Callable() = default;

const SchemaData* Callable::options() const { return nullptr; }
bool Callable::is_method() const {
  return !parameters().empty() && parameters().front().name == "self";
}

// ---- kinds of functions

namespace {

bool is_callable(lua_State* L, int index) {
  if (lua_isfunction(L, index)) return true;
  if (is_tensor_like(L, index) || !luaL_getmetafield(L, index, "__call")) return false;
  lua_pop(L, 1);
  return true;
}

bool is_function_parameter(const Parameter& parameter) { return parameter.type == "a function"; }

/// Fails if the parameter is declared as a function and the argument at `index` cannot be called.
void check_function(lua_State* L, int index, const Parameter& parameter) {
  if (!is_function_parameter(parameter) || is_callable(L, index)) return;
  if (parameter.required || !lua_isnil(L, index)) fail_expected(L, index, parameter.type);
}

}  // namespace

BoundFunction::BoundFunction(std::string_view name, const void* function, size_t bytes,
                             const Invoker& invoker, Parameters parameters, std::string_view doc)
    : Callable(typed_signature(name, std::move(parameters), doc, invoker)),
      invoker_(invoker),
      takes_functions_(std::any_of(this->parameters().begin(), this->parameters().end(),
                                   is_function_parameter)) {
  assert(bytes <= sizeof function_);
  std::memcpy(function_, function, bytes);
}

int BoundFunction::call(lua_State* L) const {
  arrange(L, invoker_.takes_names, invoker_.takes_lists);
  int argument_index = 0;
  try {
    if (takes_functions_)
      for (argument_index = 1; argument_index <= static_cast<int>(parameters().size());
           ++argument_index)
        check_function(L, argument_index, parameters()[argument_index - 1]);
    argument_index = 0;
    return invoker_.call(function_, L, argument_index);
  } catch (const LuaError&) {
    throw;
  } catch (Error& error) {
    if (argument_index > 0) name_argument(error, argument_index);
    throw;
  }
}

CallablePtr make_bound(std::string_view name, const void* function, size_t bytes,
                       const Invoker& invoker, Parameters parameters, std::string_view doc) {
  return std::make_unique<const BoundFunction>(name, function, bytes, invoker,
                                               std::move(parameters), doc);
}

RawFunction::RawFunction(std::string_view name, Body body, Parameters parameters,
                         std::string_view doc, const SchemaData* options)
    : Callable(name, std::move(parameters), doc), body_(body), options_(options) {}
int RawFunction::call(lua_State* L) const { return body_(L); }
const SchemaData* RawFunction::options() const { return options_; }

CallablePtr raw(std::string_view name, RawFunction::Body body, Parameters parameters,
                std::string_view doc, const SchemaData* options) {
  return std::make_unique<const RawFunction>(name, body, std::move(parameters), doc, options);
}

namespace {

class FunctionAsMethod final : public Callable {
 public:
  explicit FunctionAsMethod(const Callable& function)
      : Callable(function.signature()), function_(function) {}
  int call(lua_State* L) const override { return function_.call(L); }
  Signature full_signature() const override { return function_.full_signature(); }
  const SchemaData* options() const override { return function_.options(); }
  bool is_method() const override { return true; }

 private:
  const Callable& function_;
};

}  // namespace

CallablePtr as_method(const Callable& function) {
  return std::make_unique<const FunctionAsMethod>(function);
}

// ---- calling

namespace {

/// Fails for a method that was called as model.fit(x) instead of model:fit(x). `actual_argument`
/// describes the first argument, which stands in the place of the object.
[[noreturn]] void fail_without_colon(const Callable& method, std::string_view expected,
                                     std::string_view actual_argument) {
  fail(method.name(), ": expected ", expected, " before the arguments, got ", actual_argument,
       ": methods are called with ':', object:", method.name(), "(...)");
}

void check_self(lua_State* L, const Callable& callable) {
  if (!callable.is_method() || lua_type(L, 1) == LUA_TUSERDATA || is_class(L, 1)) return;
  fail_without_colon(callable, "an object", describe(L, 1));
}

/// Handles the error `message` of a method. If the method refused the type of its object, probably
/// because of a missing colon, fails with a message that says so.
void refuse_object(const Callable& method, std::string_view message) {
  const std::string start = method.name() + ": argument 'self': expected ";
  const size_t got_position = message.rfind(", got ");
  if (message.starts_with(start) && got_position != message.npos)
    fail_without_colon(method, message.substr(start.size(), got_position - start.size()),
                       message.substr(got_position + 6));
}

/// The class on which a method of objects was called: "the class Net"; "" for an object.
std::string class_as_self(lua_State* L, const Callable& callable) {
  return callable.is_method() && is_class(L, 1) ? describe(L, 1) : "";
}

/// Handles the error `message` of a method. If the method was called on a class instead of an
/// object, fails with a message that says so.
void refuse_class(const std::string& class_text, const Callable& method, std::string_view message) {
  if (class_text.empty() || !message.ends_with("got " + class_text)) return;
  const std::string name = class_text.substr(class_text.rfind(' ') + 1);
  fail(method.name(), ": expected an object, got ", class_text, ", which makes one: ", name,
       "(...):", method.name(), "(...)");
}

/// Calls the function. The name of the function is put in front of an error message that begins
/// with "expected " or "axis ".
int call_named(lua_State* L, const Callable& function) {
  check_self(L, function);
  const std::string class_text = class_as_self(L, function);
  const void* first_table = lua_istable(L, 1) ? lua_topointer(L, 1) : nullptr;
  try {
    return function.call(L);
  } catch (const Interrupted&) {
    throw;
  } catch (Error& error) {
    refuse_module(L, first_table, function.name());
    if (dynamic_cast<LuaError*>(&error)) throw;
    const std::string_view message = error.what();
    refuse_class(class_text, function, message);
    refuse_object(function, message);
    if (message.starts_with("expected ") || message.starts_with("axis "))
      error.add_context(function.name() + ": ");
    throw;
  }
}

}  // namespace

int run(lua_State* L, const Callable& callable) {
  // collecting garbage before the call lets its results reuse memory that is still in the cache
  if (collection_is_due()) collect(L);
  const Body call = [](lua_State* state, const void* object) {
    return call_named(state, *static_cast<const Callable*>(object));
  };
  return guarded(L, call, &callable);
}

int finish(lua_State* L, int count) { return count < 0 ? lua_error(L) : count; }

extern "C" int crescent_invoke(lua_State* L) {
  return finish(L, run(L, *static_cast<const Callable*>(lua_touserdata(L, lua_upvalueindex(1)))));
}

namespace {

/// The text of a default value as Lua code: nil, 0.5, {0, 1} or "float32".
std::string default_text(const Value& value) {
  if (value.is_null()) return "nil";
  if (!value.is_list()) return to_text(value);
  std::vector<std::string> items;
  for (const Value& item : value.as_list()) items.push_back(default_text(item));
  return "{" + join(items) + "}";
}

}  // namespace

std::string Callable::text() const {
  std::string text = name() + "(";
  for (const Parameter& p : parameters())
    text += (text.back() == '(' ? "" : ", ") + p.name +
            (p.required ? "" : "=" + default_text(p.default_value));
  return text + ")";
}

void Callable::name_argument(Error& error, int index) const {
  error.add_context(concat(name(), ": argument '", parameters()[index - 1].name, "': "));
}

void push_callable(lua_State* L, const Callable& callable) {
  lua_pushlightuserdata(L, const_cast<Callable*>(&callable));
  lua_pushcclosure(L, crescent_invoke, 1);
}

namespace {

bool is_empty_table(lua_State* L, int index) {
  if (!is_plain_table(L, index)) return false;
  index = lua_absindex(L, index);
  lua_pushnil(L);
  if (!lua_next(L, index)) return true;
  lua_pop(L, 2);
  return false;
}

}  // namespace

bool is_keywords(lua_State* L, int index) {
  if (!is_plain_table(L, index)) return false;
  index = lua_absindex(L, index);
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) continue;
    lua_pop(L, 2);
    return true;
  }
  return false;
}

bool is_options(lua_State* L, int index) {
  return is_empty_table(L, index) || is_keywords(L, index);
}

const Callable* to_callable(lua_State* L, int index) {
  if (lua_tocfunction(L, index) != crescent_invoke || !lua_getupvalue(L, index, 1)) return nullptr;
  auto* callable = static_cast<const Callable*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  return callable;
}

namespace {

/// Pushes the default of a parameter. For a list pushes nil instead, for which the C++ function
/// uses its own equal default.
void push_default(lua_State* L, const Value& value) {
  value.is_list() ? lua_pushnil(L) : push_value(L, value);
}

/// The hint for a method call that lacks an argument: "; called with ':', as object:add(layer)". In
/// a call without the colon, the first argument was taken for the object.
std::string method_hint(const Callable& callable) {
  const std::vector<Parameter>& parameters = callable.parameters();
  if (parameters.front().name != "self") return "";
  std::string text = concat("; called with ':', as object:", callable.name(), "(");
  for (const Parameter& p : parameters)
    if (p.required && &p != &parameters.front()) text += (text.back() == '(' ? "" : ", ") + p.name;
  return text + ")";
}

std::string names_of(const std::vector<Parameter>& parameters) {
  std::vector<std::string> names;
  for (const Parameter& p : parameters) names.push_back(p.name);
  return join(names);
}

/// Fails because there are too many arguments; the object of a method is not counted.
[[noreturn]] void fail_too_many(const Callable& callable, int argument_count) {
  std::vector<Parameter> parameters = callable.parameters();
  if (!parameters.empty() && parameters.front().name == "self")
    parameters.erase(parameters.begin()), --argument_count;
  if (parameters.empty()) fail(callable.name(), ": expected no arguments, got ", argument_count);
  const char* noun = parameters.size() == 1 ? " argument (" : " arguments (";
  fail(callable.name(), ": expected at most ", parameters.size(), noun, names_of(parameters),
       "), got ", argument_count);
}

int find_parameter(const std::vector<Parameter>& parameters, std::string_view name) {
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].name == name) return static_cast<int>(i);
  return -1;
}

/// Whether every name in the table is the name of a parameter.
bool names_parameters(lua_State* L, int table_index, const std::vector<Parameter>& parameters) {
  for (lua_pushnil(L); lua_next(L, table_index); lua_pop(L, 1)) {
    if (lua_type(L, -2) == LUA_TSTRING && find_parameter(parameters, text_of(L, -2)) >= 0) continue;
    lua_pop(L, 2);
    return false;
  }
  return true;
}

[[noreturn]] void fail_unknown(const std::string& function,
                               const std::vector<Parameter>& parameters, const std::string& name) {
  std::vector<std::string> names;
  for (const Parameter& p : parameters)
    if (p.name != "self" && p.name != "class") names.push_back(p.name);
  fail(function, ": no option '", name, "'", options_hint(name, names, names));
}

/// Fails if the table at `index`, which was taken for an argument, contains names of parameters:
/// its other names are misspelt.
void check_misspelt(lua_State* L, int index, const Callable& callable) {
  if (index < 1 || !is_plain_table(L, index)) return;
  bool has_parameter = false;
  std::string unknown_name;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) continue;
    const std::string name = text_of(L, -2);
    if (find_parameter(callable.parameters(), name) >= 0)
      has_parameter = true;
    else if (unknown_name.empty() || name < unknown_name)
      unknown_name = name;
  }
  if (has_parameter && !unknown_name.empty())
    fail_unknown(callable.name(), callable.parameters(), unknown_name);
}

/// Replaces the table at `index` by a list of its items 1 to n; fields with names are dropped.
void keep_list(lua_State* L, int index) {
  const auto length = static_cast<lua_Integer>(lua_rawlen(L, index));
  lua_createtable(L, static_cast<int>(length), 0);
  for (lua_Integer i = 1; i <= length; ++i) {
    lua_rawgeti(L, index, i);
    lua_rawseti(L, -2, i);
  }
  lua_replace(L, index);
}

}  // namespace

/// Pushes the items of the table of keywords at stack index 1, which are positional arguments, as
/// in sum { x, axis = 1 }. Fails if there are positional arguments before the table.
static void push_items(lua_State* L, const std::string& name) {
  const auto count = static_cast<int>(lua_rawlen(L, 1));
  if (count > 0 && lua_gettop(L) > 1)
    fail(name, ": expected a table of arguments by name, got one with ", count,
         " without a name, the first ", (lua_rawgeti(L, 1, 1), describe(L, -1)));
  reserve(L, count);
  for (int i = 1; i <= count; ++i) lua_rawgeti(L, 1, i);
}

void Callable::arrange(lua_State* L, unsigned takes_names, unsigned takes_lists) const {
  const int parameter_count = static_cast<int>(parameters().size());
  const int argument_count = lua_gettop(L);
  reserve(L, parameter_count + 4);
  const auto mask_has_last_argument = [&](unsigned mask) {
    return argument_count > 0 && argument_count <= parameter_count &&
           (mask >> (argument_count - 1) & 1);
  };
  const bool ends_in_empty_table = argument_count > 0 && is_empty_table(L, argument_count) &&
                                   !mask_has_last_argument(takes_names) &&
                                   !mask_has_last_argument(takes_lists);
  // Whether the only argument is a list that also has named fields, which are options.
  const auto is_mixed_list = [&] {
    return argument_count == 1 && parameter_count > 1 && mask_has_last_argument(takes_lists) &&
           lua_rawlen(L, 1) > 0;
  };
  const bool has_keywords =
      ends_in_empty_table || (argument_count > 0 && is_keywords(L, argument_count) &&
                              (!mask_has_last_argument(takes_names) || is_mixed_list() ||
                               names_parameters(L, argument_count, parameters())));
  const bool is_list_with_names = has_keywords && argument_count == 1 &&
                                  mask_has_last_argument(takes_lists) && lua_rawlen(L, 1) > 0;
  int keywords_index = 0;
  if (has_keywords) {
    // Moves the table of keywords to stack index 1, below the arguments.
    lua_pushvalue(L, argument_count);
    lua_insert(L, 1);
    keywords_index = 1;
    is_list_with_names ? keep_list(L, argument_count + 1) : lua_remove(L, argument_count + 1);
    if (!is_list_with_names) push_items(L, name());
  }
  const int positional_count = lua_gettop(L) - keywords_index;
  if (positional_count > parameter_count) fail_too_many(*this, positional_count);
  for (int i = positional_count; i < parameter_count; ++i) lua_pushnil(L);
  if (keywords_index) {
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
      if (lua_type(L, -2) != LUA_TSTRING) continue;
      const std::string argument_name = text_of(L, -2);
      const int parameter_index = find_parameter(parameters(), argument_name);
      if (parameter_index < 0) fail_unknown(name(), parameters(), argument_name);
      if (parameter_index < positional_count)
        fail(name(), ": '", argument_name, "' is given twice, by position and by name");
      lua_pushvalue(L, -1);
      lua_replace(L, parameter_index + 2);
    }
    lua_remove(L, 1);
  }
  for (int i = 0; i < parameter_count; ++i) {
    if (!lua_isnil(L, i + 1)) continue;
    const Parameter& parameter = parameters()[i];
    if (parameter.required) {
      if (!keywords_index) check_misspelt(L, argument_count, *this);
      fail(name(), ": missing argument '", parameter.name, "'", method_hint(*this));
    }
    push_default(L, parameter.default_value);
    lua_replace(L, i + 1);
  }
}

}  // namespace crescent::lua
