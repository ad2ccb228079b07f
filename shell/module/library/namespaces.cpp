#include "library/namespaces.h"

#include <algorithm>

#include "classes/building.h"
#include "classes/lua_class.h"
#include "classes/object_types.h"
#include "classes/options.h"
#include "crescent/model/distillation_loss.h"
#include "host/provided_datasets.h"
#include "instances/instance.h"
#include "values/modules.h"

namespace crescent::lua {
namespace {

// The key in the Lua registry of the table {name of a C++ class = function that makes the base
// class for Lua classes derived from the C++ class}.
const char base_makers_key = 0;
const char namespace_key = 0;  // key in the metatable of a namespace; its value is the KindInfo

/// A class that stands in the namespace of a kind that is not its own.
struct GuestClass {
  const char *host_kind, *kind, *name;
};
constexpr GuestClass kGuestClasses[] = {{DistillationLoss::kKind, Layer::kKind, "Distiller"}};

const KindInfo* find_namespace(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TTABLE || !lua_getmetatable(L, index)) return nullptr;
  lua_rawgetp(L, -1, &namespace_key);
  auto* kind_info = static_cast<const KindInfo*>(lua_touserdata(L, -1));
  lua_pop(L, 2);
  return kind_info;
}

const KindInfo& namespace_at(lua_State* L, int index) {
  const KindInfo* kind_info = find_namespace(L, index);
  if (!kind_info) fail_expected(L, index, "a table of classes such as cr.layers");
  return *kind_info;
}

// ---- classes of the registry

/// The text of a call that makes a layer with only its required options and applies it:
/// "Dense(units)(x)".
std::string call_text(const ClassInfo& info, const char* inputs_text) {
  std::vector<std::string> required;
  for (const Field& field : info.schema.fields)
    if (field.required) required.push_back(field.name);
  return concat(info.name, "(", join(required), ")", inputs_text);
}

/// If inputs are given where options belong, as in Flatten(x) or Concatenate({x, y}), returns their
/// text for the hint: "(x)" or "({ x, y })". Null if the arguments are options.
const char* inputs_in_place_of_options(lua_State* L, const ClassInfo& info) {
  if (info.kind != Layer::kKind || lua_gettop(L) < 2) return nullptr;
  if (is_tensor_like(L, 2) || to_handle<Symbol>(L, 2)) return "(x)";
  if (!is_plain_table(L, 2)) return nullptr;
  const StackRestorer restorer(L);
  lua_rawgeti(L, 2, 1);
  return is_tensor_like(L, -1) || to_handle<Symbol>(L, -1) ? "({ x, y })" : nullptr;
}

/// Constructs an object by Class(options): positional options in the order of the schema, followed
/// by named ones.
int construct(lua_State* L) {
  const ClassPtr info = Read<ClassPtr>::from(L, 1);
  const char* inputs_text = inputs_in_place_of_options(L, *info);
  try {
    const Dict options = options_from(L, 2, info->schema);
    push_object(L, make_object(info->kind, info->name, options));
  } catch (const LuaError&) {
    throw;
  } catch (const Error& error) {
    if (!inputs_text) throw;
    fail(error.what(), "; a layer is made first, then called: ", call_text(*info, inputs_text));
  }
  return 1;
}

/// Implements cr.data.Spirals { samples = 200 }: makes the object and pushes the dataset that its
/// method `stream` returns.
int construct_dataset(lua_State* L, const ClassInfo& info) {
  const Dict options = options_from(L, 2, info.schema);
  return push_value(L, Value(provided_dataset(info.name, options))), 1;
}

/// Calls a class that is a function of tensors: cr.activations.elu(x, 0.5), cr.losses.huber(y_true,
/// y_pred, { delta = 2 }), cr.metrics.binary_accuracy(y_true, y_pred).
int call_function(lua_State* L, const ClassInfo& info) {
  const bool is_activation = info.kind == Activation::kKind;
  if (!is_activation && lua_gettop(L) < 3) fail(info.name, ": expected y_true and y_pred");
  const Dict options = options_from(L, is_activation ? 3 : 4, info.schema);
  if (const auto* symbol = to_handle<Symbol>(L, 2))
    return push(L, activate(make<Activation>(info.name, options), *symbol)), 1;
  const Tensor first_tensor = to_tensor(L, 2);
  if (is_activation) return push(L, (*make<Activation>(info.name, options))(first_tensor)), 1;
  const Tensor second_tensor = to_tensor(L, 3);
  if (info.kind == Loss::kKind)
    return push(L, make<Loss>(info.name, options)->call(first_tensor, second_tensor)), 1;
  const Dict arguments{{"y_true", std::make_shared<BoxedTensor>(first_tensor)},
                       {"y_pred", std::make_shared<BoxedTensor>(second_tensor)}};
  return push(L, make<Metric>(info.name, options)->call_method("values", arguments)), 1;
}

bool is_function(const ClassInfo& info) {
  return info.kind == Activation::kKind || info.kind == Loss::kKind ||
         (info.kind == Metric::kKind && info.schema.find_method("values"));
}

/// Whether the arguments are tensors or arrays of numbers, as in mean_squared_error({ 1, 2 }, { 2,
/// 2 }) or softmax { { 1, 2 } }.
bool are_arrays(lua_State* L, const ClassInfo& info) {
  const int last_index = info.kind == Activation::kKind ? 2 : 3;
  bool are_all_arrays = lua_gettop(L) >= last_index;
  for (int i = 2; are_all_arrays && i <= last_index; ++i) {
    are_all_arrays = is_tensor_like(L, i) ||
                     (is_plain_table(L, i) && lua_rawlen(L, i) > 0 && !is_keywords(L, i));
    if (!are_all_arrays || last_index == 3 || is_tensor_like(L, i)) continue;
    // A table {0.1} counts as options, because it may be an option of an activation.
    lua_rawgeti(L, i, 1);
    are_all_arrays = is_plain_table(L, -1);
    lua_pop(L, 1);
  }
  return are_all_arrays;
}

int call_class(lua_State* L) {
  const ClassPtr info = Read<ClassPtr>::from(L, 1);
  if (lua_istable(L, 2)) refuse_module(L, lua_topointer(L, 2), info->name);
  if (info->kind == kDatasetKind) return construct_dataset(L, *info);
  const bool has_symbol = info->kind == Activation::kKind && to_handle<Symbol>(L, 2);
  const bool has_tensors = is_tensor_like(L, 2) || are_arrays(L, *info);
  return has_symbol || (has_tensors && is_function(*info)) ? call_function(L, *info) : construct(L);
}

/// The kind of the class with this name in the namespace of a kind.
const char* kind_in(const KindInfo& kind_info, const std::string& name) {
  for (const GuestClass& guest : kGuestClasses)
    if (std::string_view(kind_info.name) == guest.host_kind && name == guest.name)
      return guest.kind;
  return kind_info.name;
}

/// The class of this name. The namespace of metrics also finds the losses, because the functions of
/// losses are metrics too.
ClassPtr class_named(const KindInfo& kind_info, const std::string& name) {
  if (std::string_view(kind_info.name) == Metric::kKind && !registry().find(Metric::kKind, name))
    if (ClassPtr loss = registry().find(Loss::kKind, name)) return loss;
  return registry().get(kind_in(kind_info, name), name);
}

ObjectPtr object_from_config(ClassPtr& info, Value config) {
  return make_object(info->kind, info->name, config.is_dict() ? config.as_dict() : Dict());
}

/// The metamethod __index for a namespace and a key.
int index_namespace(lua_State* L) {
  const KindInfo& kind_info = namespace_at(L, 1);
  if (lua_type(L, 2) != LUA_TSTRING)
    fail("cr.", kind_info.plural, ": expected the name of a class, got ", describe(L, 2));
  const std::string name = text_of(L, 2);
  try {
    return push(L, class_named(kind_info, name)), 1;
  } catch (const Interrupted&) {
    throw;
  } catch (Error& error) {
    error.add_context(concat("cr.", kind_info.plural, ": "));
    throw;
  }
}

/// The iterator of pairs(cr.layers), which returns names and classes.
int next_class(lua_State* L) {
  const KindInfo& kind_info = namespace_at(L, 1);
  const std::vector<std::string> names = class_names_in(kind_info);
  const std::string previous_name = lua_isnil(L, 2) ? "" : text_of(L, 2);
  auto next_name =
      lua_isnil(L, 2) ? names.begin() : std::upper_bound(names.begin(), names.end(), previous_name);
  if (next_name == names.end()) return lua_pushnil(L), 1;
  push(L, *next_name);
  push(L, class_named(kind_info, *next_name));
  return 2;
}

int pairs_of_namespace(lua_State* L) {
  static const CallablePtr next = raw("next", next_class);
  push_callable(L, *next);
  lua_pushvalue(L, 1);
  lua_pushnil(L);
  return 3;
}

/// Implements get(identifier) of a namespace: returns the object for a name, a configuration or an
/// object.
int get_from(lua_State* L, const KindInfo& kind_info, int index) {
  const Value identifier = with_function_objects(to_value(L, index), kind_info.name);
  if (identifier.is_null()) return lua_pushnil(L), 1;
  const Value* name = identifier.is_dict() ? identifier.as_dict().find("class_name") : nullptr;
  const char* kind =
      name && name->is_string() ? kind_in(kind_info, name->as_string()) : kind_info.name;
  return push_object(L, get_object(kind, identifier)), 1;
}

class GetFunction final : public Callable {
 public:
  explicit GetFunction(const KindInfo& kind_info)
      : Callable("get -> an object", {"identifier: a name, a configuration or an object"},
                 "The object for a name, a configuration or an object."),
        kind_info_(kind_info) {}
  int call(lua_State* L) const override {
    lua_settop(L, 1);
    return get_from(L, kind_info_, 1);
  }

 private:
  const KindInfo& kind_info_;
};

void set_functions(lua_State* L, const KindInfo& kind_info) {
  static std::vector<CallablePtr> get_functions;
  static const CallablePtr serialized = bound(
      "serialize -> a table with names", [](Configurable& object) { return serialize(&object); },
      {"object"}, "The class name and configuration of an object as a table.");
  get_functions.push_back(std::make_unique<const GetFunction>(kind_info));
  for (const char* name : {"get", "deserialize"}) {
    push_callable(L, *get_functions.back());
    lua_setfield(L, -2, name);
  }
  push_callable(L, *serialized);
  lua_setfield(L, -2, "serialize");
}

void push_namespace(lua_State* L, const KindInfo& kind_info) {
  static const CallablePtr index = raw("__index", index_namespace),
                           pairs = raw("__pairs", pairs_of_namespace);
  lua_newtable(L);
  if (kind_info.base) {
    push_base_class(L, kind_info.base);
    lua_setfield(L, -2, kind_info.base);
  }
  set_functions(L, kind_info);
  lua_createtable(L, 0, 3);
  push_callable(L, *index);
  lua_setfield(L, -2, "__index");
  push_callable(L, *pairs);
  lua_setfield(L, -2, "__pairs");
  lua_pushlightuserdata(L, const_cast<KindInfo*>(&kind_info));
  lua_rawsetp(L, -2, &namespace_key);
  lua_setmetatable(L, -2);
}

/// Implements subclass: the stack has the class, the name, the options and the arguments. For a C++
/// class of layers with a Lua base, calls the function subclass of this base. For all other classes
/// calls the function registered under "", which returns nil for kinds of classes that it does not
/// support.
int subclass(lua_State* L) {
  const ClassPtr info = Read<ClassPtr>::from(L, 1);
  lua_settop(L, 4);
  reserve(L, 12);
  push_base_makers(L);
  push_field(L, -1, info->name.c_str());
  if (info->kind == Layer::kKind && lua_isfunction(L, -1)) {
    protected_call(L, 0, 1);
    const int base_index = lua_gettop(L);
    lua_getfield(L, base_index, "subclass");  // calls the function subclass of the base table
    lua_pushvalue(L, base_index);
    for (int i = 2; i <= 4; ++i) lua_pushvalue(L, i);
    protected_call(L, 4, 1);
    return 1;
  }
  push_field(L, 5, "");
  for (int i = 1; i <= 4; ++i) lua_pushvalue(L, i);
  protected_call(L, 4, 1);
  if (!lua_isnil(L, -1)) return 1;
  const KindInfo& kind = kind_named(info->kind);
  if (info->kind == kDatasetKind)
    fail("subclass: ", info->name, " is no base; derive from cr.data.Dataset");
  if (!kind.base) fail("subclass: there are no classes in Lua of kind ", kind.name);
  const std::string prefix = concat("cr.", kind.plural, ".");
  fail("subclass: ", info->name, " is written in C++ and is no base; derive from ", prefix,
       kind.base, " and keep one in an attribute: self.inner = ", prefix, info->name, "(...)");
}

/// The type of the objects of a class.
const HandleType* type_of_objects(const ClassInfo& info) {
  for (const ObjectType& candidate : object_types())
    if (candidate.type.name() == info.kind) return &candidate.type;
  return nullptr;
}

/// Fails for a name that a class does not have; most often it is that of a member of its objects.
int fail_missing_member(lua_State* L) {
  const ClassInfo& info = **to_handle<ClassPtr>(L, 1);
  if (lua_type(L, 2) != LUA_TSTRING) fail("class ", info.name, ": no position ", describe(L, 2));
  const std::string name = text_of(L, 2);
  const HandleType* objects_type = type_of_objects(info);
  if (objects_type && objects_type->find_method(name))
    fail("class ", info.name, ": '", name, "' is a method of its objects: ", info.name,
         "(...):", name, "(...)");
  if (info.schema.find(name) || (objects_type && objects_type->find_getter(name)))
    fail("class ", info.name, ": '", name, "' is an attribute of its objects: ", info.name,
         "(...).", name);
  std::vector<std::string> names = class_type().method_names();
  for (std::string& property : class_type().property_names()) names.push_back(std::move(property));
  fail("class ", info.name, ": no attribute '", name, "'", did_you_mean(name, names));
}

int same_classes(lua_State* L) {
  auto *a = to_handle<ClassPtr>(L, 1), *b = to_handle<ClassPtr>(L, 2);
  return lua_pushboolean(L, a && b && *a == *b), 1;
}

}  // namespace

const HandleType& class_type() {
  static const HandleType type = [] {
    HandleType type("class");
    type.property(
            "name", [](ClassPtr& info) { return info->name; }, "The registered name.")
        .property(
            "kind", [](ClassPtr& info) { return info->kind; },
            "The kind of the objects: \"layer\", \"loss\", ...")
        .property(
            "plugin", [](ClassPtr& info) { return info->plugin; },
            "The plugin that provides the class.")
        .property(
            "doc", [](ClassPtr& info) { return info->schema.description; },
            "The description of the class.")
        .method("from_config -> an object of the class", &object_from_config,
                {"config: a table with names=nil"},
                "Creates an object from the options that get_config returned.")
        .raw_method("subclass -> a class", subclass,
                    {"name: a string=nil", "options: a table of defaults=nil",
                     "arguments: a table with names=nil"},
                    "Defines a class derived from this one.")
        .missing_key_handler(raw("[]", fail_missing_member))
        .meta("__call", raw("call", call_class))
        .meta("__eq", raw("==", same_classes))
        .meta("__tostring",
              bound("tostring",
                    [](ClassPtr& info) { return printable(concat("<class ", info->name, ">")); },
                    {"class"}));
    return type;
  }();
  return type;
}

void push_base_makers(lua_State* L) { push_weak_table(L, &base_makers_key, ""); }

void set_namespaces(lua_State* L) {
  for (const KindInfo& kind_info : kinds()) {
    if (!kind_info.plural) continue;
    push_namespace(L, kind_info);
    lua_setfield(L, -2, kind_info.plural);
  }
  push_field(L, -1, "optimizers");
  push_field(L, -2, "schedules");
  lua_setfield(L, -2, "schedules");
  lua_pop(L, 1);
}

std::vector<std::string> class_names_in(const KindInfo& kind_info) {
  const std::string_view kind = kind_info.name;
  std::vector<std::string> names = registry().names(kind);
  for (const GuestClass& guest : kGuestClasses) {
    if (kind == guest.kind) std::erase(names, guest.name);
    if (kind == guest.host_kind) names.emplace_back(guest.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

ClassPtr class_in(const KindInfo& kind_info, const std::string& name) {
  return class_named(kind_info, name);
}

std::string path_of_class(const ClassInfo& info) {
  const char* kind = info.kind.c_str();
  for (const GuestClass& guest : kGuestClasses)
    if (info.kind == guest.kind && info.name == guest.name) kind = guest.host_kind;
  for (const KindInfo& kind_info : kinds())
    if (std::string_view(kind_info.name) == kind && namespace_of_kind(kind_info))
      return concat("cr.", namespace_of_kind(kind_info), ".", info.name);
  return "";
}

const char* namespace_of_kind(const KindInfo& kind_info) {
  return std::string_view(kind_info.name) == kDatasetKind ? "data" : kind_info.plural;
}

const char* kind_of_namespace(lua_State* L, int index) {
  const KindInfo* kind_info = find_namespace(L, index);
  return kind_info ? kind_info->name : nullptr;
}

}  // namespace crescent::lua
