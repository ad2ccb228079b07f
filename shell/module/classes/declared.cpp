#include "classes/declared.h"

#include <mutex>

#include "classes/options.h"
#include "values/interruption.h"

namespace crescent::lua {
namespace {

std::shared_ptr<Configurable> self(lua_State* L) {
  return Read<std::shared_ptr<Configurable>>::from(L, 1);
}

/// A value of Lua for a field: functions become objects of the field's kind.
Value value_for(lua_State* L, int index, const Field& field) {
  Value value = to_value(L, index);
  return field.kind.empty() ? value : adapted(value, field.kind);
}

Parameters parameters_of(const Method& method) {
  Parameters parameters{"self"};
  for (const Field& field : method.parameters.fields)
    parameters.push_back(field.required ? Parameter(field.name.c_str())
                         : field.default_value.is_null()
                             ? Parameter(concat(field.name, "=nil").c_str())
                             : Parameter(concat(field.name, "=", field.default_value).c_str()));
  return parameters;
}

class DeclaredMethod final : public Callable {
 public:
  explicit DeclaredMethod(const Method& method)
      : Callable(method.name, parameters_of(method), method.parameters.description),
        method_(method) {}
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

class DeclaredGetter final : public Callable {
 public:
  explicit DeclaredGetter(const Field& property)
      : Callable(property.name, {"self"}, property.doc), property_(property) {}
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
      : Callable(property.name, {"self", "value=nil"}, property.doc), property_(property) {}
  int call(lua_State* L) const override {
    self(L)->set_property(property_.name, value_for(L, 2, property_));
    return 0;
  }

 private:
  const Field& property_;
};

/// The class is kept, so that its address is not used again and its schema stays.
struct DeclaredType {
  DeclaredType(const ClassPtr& info, const Type& base) : info(info), type(base.name(), &base) {
    for (const Method& method : info->schema.methods)
      type.method(std::make_unique<const DeclaredMethod>(method));
    for (const Field& property : info->schema.properties) {
      type.getter(std::make_unique<const DeclaredGetter>(property));
      if (!property.read_only) type.setter(std::make_unique<const DeclaredSetter>(property));
    }
  }
  ClassPtr info;
  Type type;
};

}  // namespace

const Type& declared_type(const ClassPtr& info, const Type& base) {
  if (info->schema.methods.empty() && info->schema.properties.empty()) return base;
  static std::mutex mutex;
  static std::map<const ClassInfo*, DeclaredType> types;
  const std::lock_guard lock(mutex);
  return types.try_emplace(info.get(), info, base).first->second.type;
}

}  // namespace crescent::lua
