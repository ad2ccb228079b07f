#include "classes/lua_base.h"

#include <algorithm>

#include "classes/lua_dataset.h"
#include "classes/lua_format.h"
#include "instances/lua_model.h"
#include "instances/lua_optimizer.h"

namespace crescent::lua {
namespace {

const char base_key = 0;  // the key in a class table; the value is the Base of the class
// The key in the Lua registry of the table {name = class table} of the base classes.
const char bases_key = 0;

bool is_scalar(const Value& value) {
  return value.is_bool() || value.is_number() || value.is_string();
}

/// Whether `value` may be given for an option with this default value. Null always fits. For a
/// boolean default only booleans fit; for a number or a string, values of the same type, objects
/// and tables fit; for other defaults all values fit.
bool fits(const Value& value, const Value& default_value) {
  if (value.is_null() || !is_scalar(default_value)) return true;
  if (!is_scalar(value)) return !default_value.is_bool();
  return value.is_bool() == default_value.is_bool() &&
         value.is_string() == default_value.is_string();
}

std::string kind_text(const Value& default_value) {
  return default_value.is_number() ? "a number" : describe_kind(default_value.kind());
}

/// Reads and writes an option of a Lua class in the attributes of an instance.
template <class T>
class AttributeAccess final : public FieldAccess {
 public:
  AttributeAccess(std::string name, Value default_value)
      : name_(std::move(name)), default_value_(std::move(default_value)) {}
  Value get(const void* object) const override {
    return static_cast<const T*>(object)->option(name_);
  }
  void set(void* object, const Value& value) const override {
    if (!fits(value, default_value_)) fail("expected ", kind_text(default_value_), ", got ", value);
    static_cast<T*>(object)->set_option(name_, value);
  }

 private:
  std::string name_;
  Value default_value_;  ///< the value must have the type of this default; null: it may have any
                         ///< type
};

Field field_of(const Declaration& option, std::shared_ptr<const FieldAccess> access) {
  Field field;
  field.name = option.name;
  field.doc = option.doc;
  field.type = !option.type.empty()             ? option.type
               : option.default_value.is_null() ? "a value"
                                                : describe_kind(option.default_value.kind());
  field.default_value = option.default_value;
  field.access = std::move(access);
  return field;
}

template <class T>
SchemaData schema_for(const std::string& title, const std::vector<Declaration>& options) {
  const T defaults{};
  Schema<T> schema(title, &defaults);
  schema.keyword_only(true);
  T::template describe_base<T>(schema);
  std::vector<Field>& fields = schema.data().fields;
  for (const Declaration& option : options) {
    const auto inherited = std::find_if(fields.begin(), fields.end(), [&](const Field& field) {
      return field.name == option.name && !field.keyword_only;
    });
    if (inherited != fields.end()) {
      // the declaration changes the default of an option of the base class
      inherited->default_value = option.default_value;
      continue;
    }
    std::erase_if(fields, [&](const Field& field) { return field.name == option.name; });
    fields.push_back(
        field_of(option, std::make_shared<AttributeAccess<T>>(
                             option.name, option.type.empty() ? option.default_value : Value())));
  }
  return schema.data();
}

template <class T>
Base base_of(const char* name = kind_named(T::kKind).base) {
  return {name, T::kKind, schema_for<T>,
          [](const SchemaData& schema, const Dict& options) -> ObjectPtr {
            return ClassFactory<T>(schema).make(options);
          },
          [](const Configurable& object) { return dynamic_cast<const T&>(object).base_config(); }};
}

Base dataset_base() {
  return {"Dataset", DatasetSource::kKind, schema_for<DatasetSource>,
          [](const SchemaData& schema, const Dict& options) -> ObjectPtr {
            DatasetSource source;
            schema.configure(&source, options);
            return source.stream();
          },
          nullptr};
}

}  // namespace

const std::vector<Base>& bases() {
  static const std::vector<Base> all = {
      base_of<LuaLayer>(),          base_of<LuaModel>("Model"),
      base_of<LuaLoss>(),           base_of<LuaDistillationLoss>(),
      base_of<LuaMetric>(),         base_of<LuaCallback>(),
      base_of<LuaInitializer>(),    base_of<LuaRegularizer>(),
      base_of<LuaConstraint>(),     base_of<LuaActivation>(),
      base_of<LuaSchedule>(),       base_of<LuaOptimizer>(),
      base_of<LuaFormat>("Format"), dataset_base()};
  return all;
}

const Base& base_at(lua_State* L, int index) {
  lua_rawgetp(L, index, &base_key);
  auto* base = static_cast<const Base*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  if (!base) fail("expected a class such as cr.Layer, got a table that has lost what makes it one");
  return *base;
}

void set_base(lua_State* L, int table_index, const Base& base) {
  lua_pushlightuserdata(L, const_cast<Base*>(&base));
  lua_rawsetp(L, table_index, &base_key);
}

void push_bases(lua_State* L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &bases_key) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &bases_key);
}

}  // namespace crescent::lua
