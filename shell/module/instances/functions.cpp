#include "instances/functions.h"

#include "instances/lua_objects.h"
#include "instances/lua_origin.h"

namespace crescent::lua {
namespace {

/// The name of a global variable that holds the function and for whose name accepts(name) is true;
/// "function" if there is none.
template <class Accepts>
std::string global_name(lua_State* L, const Ref& function, const Accepts& accepts) {
  const StackRestorer restorer(L);
  function.push(L);
  lua_pushglobaltable(L);
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
    if (lua_type(L, -2) == LUA_TSTRING && lua_rawequal(L, -1, -4))
      if (std::string name = text_of(L, -2); accepts(name)) return name;
  return "function";
}

/// The name in logs of a metric made of a function: the name of its class without the package. If
/// the class has the name "function", because a built-in class has the name of the global variable
/// that holds the function, the metric still gets the name of this variable.
std::string log_name(const Ref& function, const std::string& class_name) {
  if (class_name != "function") return class_name.substr(class_name.rfind('>') + 1);
  return global_name(current(), function, [](const std::string&) { return true; });
}

template <class T>
ObjectPtr function_object(const Ref& function, const std::string& name) {
  auto object = std::make_shared<T>();
  object->set_function(function, name);
  ClassInfo info;
  info.kind = T::kKind;
  info.name = name;
  info.origin = "Lua";
  object->attach(std::make_shared<const ClassInfo>(std::move(info)));
  object->configured();
  if constexpr (std::is_same_v<T, LuaMetric>) object->set_name(log_name(function, name));
  return object;
}

using MakeFunction = ObjectPtr (*)(const Ref&, const std::string&);

template <class T>
constexpr std::pair<std::string_view, MakeFunction> maker_for_kind() {
  return {T::kKind, function_object<T>};
}
constexpr std::pair<std::string_view, MakeFunction> kFunctionKinds[] = {
    maker_for_kind<LuaLoss>(),        maker_for_kind<LuaMetric>(),
    maker_for_kind<LuaActivation>(),  maker_for_kind<LuaInitializer>(),
    maker_for_kind<LuaRegularizer>(), maker_for_kind<LuaConstraint>(),
    maker_for_kind<LuaSchedule>()};

// the key in the Lua registry of a weak table {function = registered name}
const char names_key = 0;

/// The name of a function: its registered name with the package, else the name of a global variable
/// that holds the function, unless a built-in class of the kind has this name, else "function".
std::string name_of(const Ref& function, std::string_view kind) {
  lua_State* L = current();
  StackRestorer restorer(L);
  push_weak_table(L, &names_key, "k");
  function.push(L);
  if (lua_rawget(L, -2) == LUA_TSTRING) return text_of(L, -1);
  return global_name(L, function, [&](const std::string& name) {
    const ClassPtr existing_class = registry().find(kind, name);
    return !existing_class || existing_class->origin == "Lua";
  });
}

/// The factory of a registered function.
class FunctionFactory final : public Factory {
 public:
  FunctionFactory(MakeFunction make, Ref function, std::string name)
      : make_(make), function_(std::move(function)), name_(std::move(name)) {}
  std::shared_ptr<Configurable> make(const Dict&) const override {
    return std::dynamic_pointer_cast<Configurable>(make_(function_, name_));
  }

 private:
  MakeFunction make_;
  Ref function_;
  std::string name_;
};

/// Makes no object, because the function of this name is no longer registered.
class WithdrawnFunctionFactory final : public Factory {
 public:
  WithdrawnFunctionFactory(std::string_view kind, std::string name)
      : kind_(kind), name_(std::move(name)) {}
  std::shared_ptr<Configurable> make(const Dict&) const override {
    fail("unknown ", kind_, " '", name_, "': it is no longer registered");
  }

 private:
  std::string_view kind_;
  std::string name_;
};

/// Removes the short name, which has no package, from the aliases of the function that was
/// registered with it before, so that a new function can take it.
void release_short_name(std::string_view kind, const std::string& short_name) {
  const ClassPtr existing_class = registry().find(kind, short_name);
  if (!existing_class || existing_class->name == short_name) return;
  ClassInfo updated_class = *existing_class;
  std::erase(updated_class.aliases, short_name);
  registry().replace(updated_class);
}

}  // namespace

ObjectPtr function_as(std::string_view kind, const Ref& function, const std::string& name) {
  for (const auto& [function_kind, make] : kFunctionKinds)
    if (function_kind == kind) return make(function, name);
  return nullptr;
}

Value with_function_objects(const Value& value, std::string_view kind) {
  if (value.is_list()) {
    List list;
    for (const Value& item : value.as_list()) list.push_back(with_function_objects(item, kind));
    return list;
  }
  if (value.is_dict()) {
    Dict dict;
    for (const DictEntry& entry : value.as_dict())
      dict.set(entry.key, with_function_objects(entry.value, kind));
    return dict;
  }
  auto function = value.object_as<LuaFunction>();
  if (!function) return value;
  if (auto object = function_as(kind, function->function, name_of(function->function, kind)))
    return Value(object);
  fail("a function cannot be used as ", kind);
}

/// The number of a tensor without axes if the option takes numbers; else the value.
Value number_of(const Value& value, const Field& field) {
  const auto box = value.object_as<BoxedTensor>();
  const bool takes_number = field.type == Codec<double>::type() ||
                            field.type == Codec<int64_t>::type() || field.kind == Schedule::kKind;
  if (!box || !takes_number || box->tensor.rank() != 0) return value;
  lua_State* L = current();
  const StackRestorer restorer(L);
  push_numbers(L, box->tensor);
  return to_value(L, lua_gettop(L));
}

void adapt_options(Dict& options, const SchemaData& schema) {
  for (DictEntry& option : options) {
    const Field* field = schema.find(option.key);
    if (!field) continue;
    option.value = number_of(option.value, *field);
    if (!field->kind.empty()) option.value = with_function_objects(option.value, field->kind);
  }
}

namespace {

/// Whether a class that is not written in Lua has this name.
bool is_builtin(std::string_view kind, const std::string& name) {
  const ClassPtr existing_class = registry().find(kind, name);
  return existing_class && existing_class->origin != "Lua";
}

ClassInfo function_info(std::string_view kind, const std::string& name) {
  ClassInfo info;
  info.kind = kind;
  info.name = name;
  info.schema.traits.set("function", true);
  set_lua_origin(info);
  info.schema.title = name;
  return info;
}

}  // namespace

void register_function(const std::string& name, const Ref& function) {
  const std::string short_name = name.substr(name.rfind('>') + 1);
  if (short_name != name) {
    lua_State* L = current();
    StackRestorer restorer(L);
    push_weak_table(L, &names_key, "k");
    function.push(L);
    push_string(L, name);
    lua_rawset(L, -3);
  }
  for (const auto& [kind, make] : kFunctionKinds) {
    if (is_builtin(kind, name)) continue;
    ClassInfo info = function_info(kind, name);
    if (!is_builtin(kind, short_name)) {
      release_short_name(kind, short_name);
      if (short_name != name) info.aliases = {short_name};
    }
    info.factory = std::make_shared<FunctionFactory>(make, function, name);
    registry().replace(info);
  }
}

void withdraw_function(const std::string& name) {
  for (const auto& [kind, make] : kFunctionKinds) {
    const ClassPtr existing_class = registry().find(kind, name);
    if (!existing_class || existing_class->origin != "Lua" ||
        !existing_class->schema.traits.contains("function"))
      continue;
    ClassInfo info = function_info(kind, name);
    info.factory = std::make_shared<WithdrawnFunctionFactory>(kind, name);
    registry().replace(info);
  }
}

}  // namespace crescent::lua
