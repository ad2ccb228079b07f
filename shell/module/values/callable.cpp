#include "values/callable.h"

#include <cassert>
#include <cstring>

#include "lua/class_table.h"
#include "values/collector.h"
#include "values/convert.h"

namespace crescent::lua {

Parameter::Parameter(const char* text) {
  const char* equals = std::strchr(text, '=');
  required = !equals;
  name = equals ? std::string(text, equals) : text;
  fallback = equals ? equals + 1 : "";
}

Parameters::Parameters() = default;
Parameters::Parameters(std::initializer_list<const char*> texts)
    : std::vector<Parameter>(texts.begin(), texts.end()) {}
Parameters::Parameters(const Parameters&) = default;
Parameters::Parameters(Parameters&&) noexcept = default;
Parameters& Parameters::operator=(const Parameters&) = default;
Parameters& Parameters::operator=(Parameters&&) noexcept = default;
Parameters::~Parameters() = default;

Parameters Parameters::of_method() const {
  Parameters all{"self"};
  all.insert(all.end(), begin(), end());
  return all;
}

Callable::Callable(std::string_view name, Parameters parameters, std::string_view doc)
    : name_(name), doc_(doc), parameters_(std::move(parameters)) {}
Callable::~Callable() = default;

const SchemaData* Callable::options() const { return nullptr; }

// ---- kinds of functions

Bound::Bound(std::string_view name, const void* function, size_t bytes, const Caller& caller,
             Parameters parameters, std::string_view doc)
    : Callable(name, std::move(parameters), doc), caller_(caller) {
  assert(bytes <= sizeof function_);
  std::memcpy(function_, function, bytes);
}

int Bound::call(lua_State* L) const {
  arrange(L, caller_.takes_names, caller_.takes_lists);
  int reading = 0;
  try {
    return caller_.call(function_, L, reading);
  } catch (const LuaError&) {
    throw;
  } catch (Error& error) {
    if (reading > 0) name_argument(error, reading);
    throw;
  }
}

CallablePtr make_bound(std::string_view name, const void* function, size_t bytes,
                       const Caller& caller, Parameters parameters, std::string_view doc) {
  return std::make_unique<const Bound>(name, function, bytes, caller, std::move(parameters), doc);
}

Raw::Raw(std::string_view name, Body body, Parameters parameters, std::string_view doc,
         const SchemaData* options)
    : Callable(name, std::move(parameters), doc), body_(body), options_(options) {}
int Raw::call(lua_State* L) const { return body_(L); }
const SchemaData* Raw::options() const { return options_; }

CallablePtr raw(std::string_view name, Raw::Body body, Parameters parameters, std::string_view doc,
                const SchemaData* options) {
  return std::make_unique<const Raw>(name, body, std::move(parameters), doc, options);
}

namespace {

class Alias final : public Callable {
 public:
  explicit Alias(const Callable& target)
      : Callable(target.name(), target.parameters(), target.doc()), target_(target) {}
  int call(lua_State* L) const override { return target_.call(L); }
  const SchemaData* options() const override { return target_.options(); }

 private:
  const Callable& target_;
};

}  // namespace

CallablePtr alias(const Callable& target) { return std::make_unique<const Alias>(target); }

// ---- calling

namespace {

/// model.fit(x) in place of model:fit(x).
void check_self(lua_State* L, const Callable& callable) {
  const Parameters& parameters = callable.parameters();
  if (parameters.empty() || parameters.front().name != "self") return;
  if (lua_type(L, 1) == LUA_TUSERDATA || is_class(L, 1)) return;
  fail(callable.name(), ": expected an object before the arguments, got ", describe(L, 1),
       ": methods are called with ':', object:", callable.name(), "(...)");
}

}  // namespace

int run(lua_State* L, const Callable& callable) {
  // Before it: what nobody needs makes room for what it gives, in memory that is still in a cache.
  if (collection_is_due()) collect(L);
  const Body call = [](lua_State* state, const void* object) {
    const auto& function = *static_cast<const Callable*>(object);
    check_self(state, function);
    return function.call(state);
  };
  return guarded(L, call, &callable);
}

int finish(lua_State* L, int count) { return count < 0 ? lua_error(L) : count; }

extern "C" int crescent_invoke(lua_State* L) {
  return finish(L, run(L, *static_cast<const Callable*>(lua_touserdata(L, lua_upvalueindex(1)))));
}

std::string Callable::signature() const {
  std::string text = name_ + "(";
  for (const Parameter& p : parameters_)
    text += (text.back() == '(' ? "" : ", ") + p.name + (p.required ? "" : "=" + p.fallback);
  return text + ")";
}

void Callable::name_argument(Error& error, int index) const {
  error.add_context(concat(name_, ": argument '", parameters_[index - 1].name, "': "));
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

/// Defaults are written as in Lua: nil, true, a number, a word.
void push_fallback(lua_State* L, const std::string& text) {
  if (text == "nil") return lua_pushnil(L);
  if (text == "true" || text == "false") return lua_pushboolean(L, text == "true");
  if (!lua_stringtonumber(L, text.c_str())) lua_pushlstring(L, text.data(), text.size());
}

std::string names_of(const Parameters& parameters) {
  std::vector<std::string> names;
  for (const Parameter& p : parameters) names.push_back(p.name);
  return join(names);
}

int find(const Parameters& parameters, std::string_view name) {
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].name == name) return static_cast<int>(i);
  return -1;
}

/// True when every name in the table is one of a parameter.
bool names_parameters(lua_State* L, int table, const Parameters& parameters) {
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
    if (lua_type(L, -2) == LUA_TSTRING && find(parameters, text_of(L, -2)) >= 0) continue;
    lua_pop(L, 2);
    return false;
  }
  return true;
}

[[noreturn]] void fail_unknown(const std::string& function, const Parameters& parameters,
                               const std::string& name) {
  std::vector<std::string> names;
  for (const Parameter& p : parameters) names.push_back(p.name);
  fail(function, ": no option '", name, "'", did_you_mean(name, names));
}

}  // namespace

namespace {

/// The items of a table without its names, in its place.
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

void Callable::arrange(lua_State* L, unsigned takes_names, unsigned takes_lists) const {
  const int wanted = static_cast<int>(parameters_.size());
  const int given = lua_gettop(L);
  reserve(L, wanted + 4);
  const auto takes = [&](unsigned mask) {
    return given > 0 && given <= wanted && (mask >> (given - 1) & 1);
  };
  const bool empty =
      given > 0 && is_empty_table(L, given) && !takes(takes_names) && !takes(takes_lists);
  // Names beside a list are options, where there are some.
  const auto mixed = [&] {
    return given == 1 && wanted > 1 && takes(takes_lists) && lua_rawlen(L, 1) > 0;
  };
  const bool keywords =
      empty || (given > 0 && is_keywords(L, given) &&
                (!takes(takes_names) || mixed() || names_parameters(L, given, parameters_)));
  const bool list_with_names = keywords && given == 1 && takes(takes_lists) && lua_rawlen(L, 1) > 0;
  int table = 0;
  if (keywords) {
    // The table goes below the arguments, so that theirs is the top of the stack.
    lua_pushvalue(L, given);
    lua_insert(L, 1);
    table = 1;
    list_with_names ? keep_list(L, given + 1) : lua_remove(L, given + 1);
  }
  const int positional = lua_gettop(L) - table;
  if (positional > wanted)
    fail(name_, ": expected at most ", wanted, " arguments (", names_of(parameters_), "), got ",
         positional);
  for (int i = positional; i < wanted; ++i) lua_pushnil(L);
  if (table) {
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
      if (lua_type(L, -2) != LUA_TSTRING) continue;
      const std::string name = text_of(L, -2);
      const int place = find(parameters_, name);
      if (place < 0) fail_unknown(name_, parameters_, name);
      if (place < positional) fail(name_, ": '", name, "' is given twice, by position and by name");
      lua_pushvalue(L, -1);
      lua_replace(L, place + 2);
    }
    lua_remove(L, 1);
  }
  for (int i = 0; i < wanted; ++i) {
    if (!lua_isnil(L, i + 1)) continue;
    if (parameters_[i].required) fail(name_, ": missing argument '", parameters_[i].name, "'");
    push_fallback(L, parameters_[i].fallback);
    lua_replace(L, i + 1);
  }
}

}  // namespace crescent::lua
