#include "classes/declared.h"

#include <mutex>

#include "classes/options.h"
#include "values/interruption.h"

namespace crescent::lua {
namespace {

std::shared_ptr<Configurable> self(lua_State* L) {
  return Read<std::shared_ptr<Configurable>>::from(L, 1);
}

/// Converts the Lua value at `index` to the type of a field; a Lua function becomes an object of
/// the field's kind.
Value value_for(lua_State* L, int index, const Field& field) {
  Value value = to_value(L, index);
  return field.kind.empty() ? value : with_function_objects(value, field.kind);
}

Signature signature_of_method(const Method& method) {
  Signature signature = method.signature();
  signature.parameters = Parameters(std::move(signature.parameters)).of_method("the object");
  return signature;
}

Signature signature_of_property(const Field& property, Parameters parameters) {
  Signature signature;
  signature.name = property.name;
  signature.doc = property.doc;
  signature.result = property.type;
  signature.parameters = std::move(parameters);
  return signature;
}

class DeclaredMethod final : public Callable {
 public:
  explicit DeclaredMethod(const Method& method)
      : Callable(signature_of_method(method)), method_(method) {}
  int call(lua_State* L) const override {
    Interruptible interruptible;
    auto object = self(L);
    const Dict arguments = arguments_from(L, 2, method_.parameters);
    push_value(L, object->call_method(method_.name, arguments));
    return 1;
  }
  const SchemaData* options() const override { return &method_.parameters; }

 private:
  const Method& method_;
};

/// The metamethod __call of objects whose class declares the method `call`. A list that it returns
/// becomes several results.
class DeclaredCall final : public Callable {
 public:
  explicit DeclaredCall(const Method& method)
      : Callable(signature_of_method(method)), method_(method) {}
  int call(lua_State* L) const override {
    method_.call(L);
    if (lua_type(L, -1) != LUA_TTABLE) return 1;
    const int list_index = lua_gettop(L), count = static_cast<int>(lua_rawlen(L, list_index));
    luaL_checkstack(L, count, nullptr);
    for (int i = 1; i <= count; ++i) lua_rawgeti(L, list_index, i);
    return count;
  }
  const SchemaData* options() const override { return method_.options(); }

 private:
  DeclaredMethod method_;
};

class DeclaredGetter final : public Callable {
 public:
  explicit DeclaredGetter(const Field& property)
      : Callable(signature_of_property(property, {"self"})), property_(property) {}
  int call(lua_State* L) const override {
    push_value(L, self(L)->get_property(property_.name));
    return 1;
  }

 private:
  const Field& property_;
};

class DeclaredSetter final : public Callable {
 public:
  explicit DeclaredSetter(const Field& property)
      : Callable(signature_of_property(property, {"self", "value=nil"})), property_(property) {}
  int call(lua_State* L) const override {
    self(L)->set_property(property_.name, value_for(L, 2, property_));
    return 0;
  }

 private:
  const Field& property_;
};

// ---- members that a base class declares

class MemberMethod final : public Callable {
 public:
  MemberMethod(const Method& method, SelfReader self)
      : Callable(signature_of_method(method)), method_(method), self_(self) {}
  int call(lua_State* L) const override {
    arrange(L, bit_mask([](const Field& field) { return field.takes_dict; }),
            bit_mask([](const Field& field) { return field.is_list; }));
    const auto object = self_(L);
    Dict arguments;
    for (size_t i = 1; i < parameters().size(); ++i)
      if (const int index = static_cast<int>(i) + 1; !lua_isnil(L, index))
        arguments.set(parameters()[i].name, to_value(L, index));
    push_value(L, method_.call(object.get(), arguments));
    return 1;
  }

 private:
  /// A bit mask of the parameters after self for which the predicate holds.
  template <class Predicate>
  unsigned bit_mask(Predicate predicate) const {
    unsigned bits = 0, bit = 1;
    for (const Field& field : method_.parameters.fields) {
      bit <<= 1;
      if (predicate(field)) bits |= bit;
    }
    return bits;
  }
  const Method& method_;
  SelfReader self_;
};

/// Pushes the configuration of an object of the class. An option that is null although its default
/// is not becomes cr.null, so that from_config makes an equal object; other nulls are left out.
void push_config(lua_State* L, const Dict& config, const ClassInfo* info) {
  push_value(L, config);
  for (const DictEntry& entry : config) {
    const Field* field = info ? info->schema.find(entry.key) : nullptr;
    if (!field) continue;
    const Value* nested_config =
        entry.value.is_dict() ? entry.value.as_dict().find("config") : nullptr;
    if (entry.value.is_null() && !field->default_value.is_null()) {
      lua_pushlightuserdata(L, nullptr);
      lua_setfield(L, -2, entry.key.c_str());
    } else if (nested_config && nested_config->is_dict() && !field->kind.empty()) {
      const Value* name = entry.value.as_dict().find("class_name");
      const ClassPtr nested_info =
          name && name->is_string() ? registry().find(field->kind, name->as_string()) : nullptr;
      push_field(L, -1, entry.key.c_str());
      push_config(L, nested_config->as_dict(), nested_info.get());
      lua_setfield(L, -2, "config");
      lua_pop(L, 1);
    }
  }
}

/// The method get_config.
class ConfigMethod final : public Callable {
 public:
  ConfigMethod(const Method& method, SelfReader self)
      : Callable(signature_of_method(method)), self_(self) {}
  int call(lua_State* L) const override {
    const auto object = self_(L);
    const auto* configurable = static_cast<const Configurable*>(object.get());
    push_config(L, configurable->get_config(), configurable->info().get());
    return 1;
  }

 private:
  SelfReader self_;
};

class MemberGetter final : public Callable {
 public:
  MemberGetter(const Field& property, SelfReader self)
      : Callable(signature_of_property(property, {"self"})), property_(property), self_(self) {}
  int call(lua_State* L) const override {
    push_value(L, property_.access->get(self_(L).get()));
    return 1;
  }

 private:
  const Field& property_;
  SelfReader self_;
};

class MemberSetter final : public Callable {
 public:
  MemberSetter(const Field& property, SelfReader self)
      : Callable(signature_of_property(property, {"self", "value=nil"})),
        property_(property),
        self_(self) {}
  int call(lua_State* L) const override {
    const auto object = self_(L);
    try {
      property_.access->set(object.get(), to_value(L, 2));
    } catch (Error& error) {
      name_argument(error, 2);
      throw;
    }
    return 0;
  }

 private:
  const Field& property_;
  SelfReader self_;
};

// ---- members that a class declares

/// The HandleType that has the members of a class. It holds a reference to the class, so that the
/// schema stays valid and its address is not reused.
struct DeclaredType {
  DeclaredType(const ClassPtr& info, const HandleType& base)
      : info(info), type(base.name(), &base) {
    for (const Method& method : info->schema.methods) {
      type.method(std::make_unique<const DeclaredMethod>(method));
      if (method.name == "call") type.meta("__call", std::make_unique<const DeclaredCall>(method));
    }
    for (const Field& property : info->schema.properties) {
      type.getter(std::make_unique<const DeclaredGetter>(property));
      if (!property.read_only) type.setter(std::make_unique<const DeclaredSetter>(property));
    }
  }
  ClassPtr info;
  HandleType type;
};

}  // namespace

void add_members(HandleType& type, const SchemaData& members, SelfReader self) {
  for (const Method& method : members.methods)
    if (method.name == "get_config")
      type.method(std::make_unique<const ConfigMethod>(method, self));
    else
      type.method(std::make_unique<const MemberMethod>(method, self));
  for (const Field& property : members.properties) {
    type.getter(std::make_unique<const MemberGetter>(property, self));
    if (!property.read_only) type.setter(std::make_unique<const MemberSetter>(property, self));
  }
}

const HandleType& declared_type(const ClassPtr& info, const HandleType& base) {
  if (info->schema.methods.empty() && info->schema.properties.empty()) return base;
  static std::mutex mutex;
  static std::map<const ClassInfo*, DeclaredType> types;
  const std::lock_guard lock(mutex);
  return types.try_emplace(info.get(), info, base).first->second.type;
}

}  // namespace crescent::lua
