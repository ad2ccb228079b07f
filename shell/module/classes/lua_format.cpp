#include "classes/lua_format.h"

#include <algorithm>

#include "classes/named_errors.h"
#include "values/callable.h"

namespace crescent::lua {
namespace {

/// The fields of a format class that list the endings of file names and the first bytes
/// (signatures) by which its files are recognized.
constexpr const char* kEndings = "endings";
constexpr const char* kSignatures = "signatures";

/// An ability of formats. A class has the ability if it defines one of the two methods.
struct Ability {
  const char* name;
  const char *save_method, *load_method;
};
constexpr Ability kAbilities[] = {{ModelFormat::kAbility, "save_model", "load_model"},
                                  {WeightsFormat::kAbility, "save_weights", "load_weights"},
                                  {ReadsArrays::kAbility, "read_arrays", "read_array"},
                                  {WritesArrays::kAbility, "write_arrays", "write_arrays"}};

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The strings in a field of the class; a single string may be given without a table.
std::vector<std::string> texts_of(lua_State* L, int table_index, const char* name) {
  const StackRestorer restorer(L);
  lua_pushstring(L, name);
  if (!push_member(L, table_index)) return {};
  return Codec<std::vector<std::string>>::decode(to_value(L, lua_gettop(L)));
}

/// The bytes in hexadecimal, the form in which the registry stores the signatures of formats.
std::string hexadecimal(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) text += {kDigits[byte >> 4], kDigits[byte & 15]};
  return text;
}

List endings_of(lua_State* L, int table_index) {
  List endings;
  for (const std::string& ending : texts_of(L, table_index, kEndings)) {
    if (ending.size() < 2 || ending[0] != '.')
      fail("endings: expected texts such as \".plain\", got '", ending, "'");
    endings.emplace_back(ending);
  }
  return endings;
}

List signatures_of(lua_State* L, int table_index) {
  List signatures;
  for (const std::string& signature : texts_of(L, table_index, kSignatures)) {
    if (signature.empty()) fail("signatures: expected the first bytes of files, got an empty text");
    signatures.emplace_back(hexadecimal(signature));
  }
  return signatures;
}

/// Whether the traits of the format, which the registry stores (endings, signatures, abilities),
/// depend on this field of the class.
bool affects_traits(std::string_view name) {
  return name == kEndings || name == kSignatures ||
         std::any_of(std::begin(kAbilities), std::end(kAbilities), [&](const Ability& ability) {
           return name == ability.save_method || name == ability.load_method;
         });
}

void register_again(lua_State* L, int table_index) {
  ClassInfo info = *class_of_table(L, table_index);
  named_in_errors(info.name, [&] { set_format_traits(L, table_index, info.schema); });
  registry().replace(info);
  set_class_of_table(L, table_index, registry().get(info.kind, info.name));
}

/// The metamethod __newindex of the class; its arguments are table, key and value. If registering
/// the changed class fails, the field is set to nil again.
int assign_field(lua_State* L) {
  lua_settop(L, 3);
  const std::string name = lua_type(L, 2) == LUA_TSTRING ? text_of(L, 2) : "";
  set_member(L, 1);
  if (affects_traits(name)) try {
      register_again(L, 1);
    } catch (const Error&) {
      push_string(L, name);
      lua_pushnil(L);
      set_member(L, 1);
      throw;
    }
  return 0;
}

/// The named tensors in the table at `index`.
NamedTensors named_tensors_at(lua_State* L, int index) {
  if (!is_plain_table(L, index)) fail("expected a table {name = tensor}, got ", describe(L, index));
  NamedTensors tensors;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING)
      fail("expected the name of an array, got ", describe(L, -2));
    tensors.emplace_back(text_of(L, -2), to_tensor(L, -1));
  }
  std::sort(tensors.begin(), tensors.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return tensors;
}

/// Calls self:method(arguments...), then f(L) with its result on top of the stack.
template <class F, class... A>
auto result_of(const LuaFormat& format, const char* method, F f, const A&... arguments) {
  return named_in_errors(concat(format.class_name(), ": ", method, "()"), [&] {
    lua_State* L = current();
    const StackRestorer restorer(L);
    format.invoke(L, method, 1, arguments...);
    return f(L);
  });
}

ObjectPtr shared_model(Model& model) { return model.shared_from_this(); }

void ignore_result(lua_State*) {}

}  // namespace

void LuaFormat::set_options(const Dict& options) {
  info()->schema.configure(this, options);
  lua_State* L = current();
  const StackRestorer restorer(L);
  push_object(L, shared_from_this());
  for (const DictEntry& entry : options) {
    push_value(L, entry.value);
    lua_setfield(L, -2, entry.key.c_str());
  }
}

void LuaFormat::save_model(Model& model, const std::string& path, const Dict& options) {
  set_options(options);
  result_of(*this, "save_model", ignore_result, shared_model(model), path);
}

ModelPtr LuaFormat::load_model(const std::string& path, const Dict& options) {
  set_options(options);
  const auto read_model = [](lua_State* L) {
    ModelPtr loaded_model = object_as<Model>(L, -1);
    if (!loaded_model) fail("expected a model, got ", lua::describe(L, -1));
    return loaded_model;
  };
  return result_of(*this, "load_model", read_model, path);
}

void LuaFormat::save_weights(Model& model, const std::string& path, const Dict& options) {
  set_options(options);
  result_of(*this, "save_weights", ignore_result, shared_model(model), path);
}

void LuaFormat::load_weights(Model& model, const std::string& path, const Dict& options) {
  set_options(options);
  result_of(*this, "load_weights", ignore_result, shared_model(model), path);
}

Tensor LuaFormat::read_array(const std::string& path, const std::string& member) {
  const auto read_tensor = [](lua_State* L) { return to_tensor(L, -1); };
  if (has("read_array")) return result_of(*this, "read_array", read_tensor, path, member);
  const NamedTensors arrays = read_arrays(path);
  if (member.empty() && arrays.size() == 1) return arrays.front().second;
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays) {
    if (name == member) return array;
    names.push_back(name);
  }
  fail("'", path, "': no array '", member, "'; it has ", names.empty() ? "none" : join(names));
}

NamedTensors LuaFormat::read_arrays(const std::string& path) {
  if (!has("read_arrays")) return ReadsArrays::read_arrays(path);
  const auto read_result = [](lua_State* L) { return named_tensors_at(L, lua_gettop(L)); };
  return result_of(*this, "read_arrays", read_result, path);
}

void LuaFormat::write_arrays(const std::string& path, const NamedTensors& arrays) {
  named_in_errors(concat(class_name(), ": write_arrays()"), [&] {
    lua_State* L = current();
    const StackRestorer restorer(L);
    reserve(L, 8);
    push_self_method(L, "write_arrays");
    push(L, path);
    lua_newtable(L);
    for (const auto& [name, array] : arrays) {
      push(L, array);
      lua_setfield(L, -2, name.c_str());
    }
    protected_call(L, 3, 0);
  });
}

void set_format_traits(lua_State* L, int table_index, SchemaData& schema) {
  const std::vector<std::string> function_names = defined_functions(L, table_index);
  List abilities;
  for (const Ability& ability : kAbilities)
    if (contains(function_names, ability.save_method) ||
        contains(function_names, ability.load_method))
      abilities.emplace_back(ability.name);
  schema.traits.set("abilities", std::move(abilities));
  schema.traits.set(kEndings, endings_of(L, table_index));
  schema.traits.set(kSignatures, signatures_of(L, table_index));
  schema.traits.erase("written_only");
  if (contains(function_names, "save_model") && !contains(function_names, "load_model"))
    schema.traits.set("written_only", true);
}

void watch_format(lua_State* L, int table_index) {
  static const CallablePtr callable = raw("newindex", assign_field);
  const StackRestorer restorer(L);
  lua_getmetatable(L, table_index);
  push_callable(L, *callable);
  lua_setfield(L, -2, "__newindex");
  register_again(L, table_index);
}

}  // namespace crescent::lua
