// Makes objects from names and configurations, and configurations from objects.
#include <algorithm>

#include "base/text.h"
#include "crescent/registry/registry.h"
#include "registry/blame.h"
#include "registry/core_classes.h"
#include "registry/shared_objects.h"

namespace crescent {
namespace {

/// The name of the C++ class without namespaces, for objects of classes that are not registered.
std::string type_name(const std::type_info& type) {
  const std::string name = demangled_name(type);
  return name.substr(name.rfind(':') + 1);
}

/// The name of a class without the package that Keras writes before it ("acme>Scale"), unless the
/// class is registered with the package.
std::string_view registered_name(std::string_view kind, std::string_view name) {
  const size_t separator = name.rfind('>');
  return separator == name.npos || registry().find(kind, name) ? name : name.substr(separator + 1);
}

/// A pair of kinds: objects of the kind `given_kind` may be used where objects of the kind
/// `expected_kind` are expected.
struct KindConversion {
  std::string_view expected_kind, given_kind;
  std::shared_ptr<Configurable> (*convert)(const std::shared_ptr<Configurable>& object);
};
const KindConversion kKindConversions[] = {{"activation", "layer", layer_as_activation}};

/// Converts an object to the kind `kind`; null if an object of its kind cannot be used as one of
/// `kind`.
std::shared_ptr<Configurable> converted_to_kind(std::string_view kind,
                                                const std::shared_ptr<Configurable>& object) {
  for (const KindConversion& conversion : kKindConversions)
    if (conversion.expected_kind == kind)
      if (auto converted_object = conversion.convert(object)) return converted_object;
  return nullptr;
}

constexpr const char* kLayerKind = "layer";

/// All keys that Keras writes in the dictionary of an object; the last two occur only in layers.
const std::vector<std::string> kKeysBesideConfig{
    "class_name",   "config",         "module", "registered_name",
    "build_config", "compile_config", "name",   "inbound_nodes"};

/// Fails for keys besides "config" that Keras does not write: they may be misplaced options, which
/// would otherwise be ignored.
void check_other_keys(std::string_view kind, const std::string& class_name, const Dict& dict) {
  for (const DictEntry& entry : dict) {
    if (entry.key == kSharedObjectIdKey) continue;
    const auto known_key = std::find(kKeysBesideConfig.begin(), kKeysBesideConfig.end(), entry.key);
    const auto end = kind == kLayerKind ? kKeysBesideConfig.end() : kKeysBesideConfig.end() - 2;
    if (known_key < end) continue;
    fail("'", entry.key, "' stands beside the class_name \"", class_name,
         "\"; options go into its config: {class_name = \"", class_name, "\", config = {",
         entry.key, " = ...}}", did_you_mean(entry.key, kKeysBesideConfig));
  }
}

/// Makes an object from {"class_name": ..., "config": ...}; the dictionary may have the other keys
/// that Keras writes. The config of a function in Keras 3 is the name of the function.
std::shared_ptr<Configurable> from_dict(std::string_view kind, const Dict& dict) {
  const Value* class_name = dict.find("class_name");
  if (!class_name || !class_name->is_string())
    fail("expected a ", kind, " with a class_name, got ", Value(dict));
  check_other_keys(kind, class_name->as_string(), dict);
  const Value* config = dict.find("config");
  if (config && config->is_string())
    return make_object(kind, registered_name(kind, config->as_string()), {});
  const std::string_view name = registered_name(kind, class_name->as_string());
  const std::string actual_kind = kind_given(kind, name);
  const bool has_options = config && !config->is_null();
  auto object = actual_kind == kLayerKind ? shared_object(dict) : nullptr;
  if (!object) {
    object = make_object(actual_kind, name, has_options ? Codec<Dict>::decode(*config) : Dict());
    if (actual_kind == kLayerKind) remember_shared(dict, object);
  }
  return actual_kind == kind ? object : converted_to_kind(kind, object);
}

std::shared_ptr<Configurable> from_object(std::string_view kind, const Value& value) {
  if (kind == "initializer")
    if (auto initializer = tensor_as_initializer(value)) return initializer;
  auto object = value.object_as<Configurable>();
  if (auto converted_object = converted_to_kind(kind, object)) return converted_object;
  if (!object || (object->info() && object->info()->kind != kind))
    fail("expected an object of kind ", kind, ", got ", value);
  return object;
}

template <class Item>
std::vector<std::string> names_of(const std::vector<Item>& items) {
  std::vector<std::string> names;
  for (const Item& item : items) names.push_back(item.name);
  return names;
}

const Field& property_named(const SchemaData& schema, std::string_view name) {
  if (const Field* property = schema.find_property(name)) return *property;
  fail(schema.title, ": no property '", name, "'", did_you_mean(name, names_of(schema.properties)));
}

void finish_configuration(Configurable& object) try {
  object.configured();
} catch (const Interrupted&) {
  throw;
} catch (Error& error) {
  error.add_context(concat(object.info()->name, ": "));
  throw;
}

}  // namespace

std::string kind_given(std::string_view expected, std::string_view class_name) {
  for (const KindConversion& conversion : kKindConversions)
    if (conversion.expected_kind == expected && !registry().find(expected, class_name) &&
        registry().find(conversion.given_kind, class_name))
      return std::string(conversion.given_kind);
  return std::string(expected);
}

void Configurable::attach(std::shared_ptr<const ClassInfo> info) { info_ = std::move(info); }

std::string Configurable::class_name() const {
  return info_ ? info_->name : type_name(typeid(*this));
}

void Configurable::describe_members(Schema<Configurable>& s) {
  s.method("get_config", &Configurable::get_config,
           "The options as a table, from which from_config creates an equal object.");
}

Dict Configurable::get_config() const {
  if (!info_ || !self_)
    fail(class_name(), ": an object made outside the registry has no configuration");
  return info_->schema.read(self_);
}

void Configurable::configure(const Dict& options) {
  if (!info_ || !self_) fail(class_name(), ": an object made outside the registry has no options");
  const Dict old_options = info_->schema.read(self_);
  void* mutable_self = const_cast<void*>(self_);
  Dict all_options = old_options;
  for (const DictEntry& option : options) {
    const Field* field = info_->schema.find(option.key);
    all_options.set(field ? field->name : option.key, option.value);
  }
  try {
    info_->schema.configure(mutable_self, all_options);
    finish_configuration(*this);
  } catch (...) {
    info_->schema.configure(mutable_self, old_options);
    configured();
    throw;
  }
}

const SchemaData& Configurable::declared() const {
  if (!info_ || !self_)
    fail(class_name(), ": an object made outside the registry has no declared methods");
  return info_->schema;
}

Value Configurable::call_method(std::string_view name, const Dict& arguments) {
  const Method* method = declared().find_method(name);
  if (!method)
    fail(class_name(), ": no method '", name, "'",
         did_you_mean(name, names_of(declared().methods)));
  return blaming(*this, [&] { return method->call(self_, arguments); });
}

Value Configurable::get_property(std::string_view name) const {
  const Field& property = property_named(declared(), name);
  return blaming(*this, [&] { return property.access->get(self_); });
}

void Configurable::set_property(std::string_view name, const Value& value) {
  const Field& property = property_named(declared(), name);
  blaming(*this, [&] { declared().set_property(self_, property, value); });
}

std::shared_ptr<Configurable> make_object(std::string_view kind, std::string_view name,
                                          const Dict& options) {
  auto info = registry().get(kind, name);
  if (!info->factory) fail(kind, " '", info->name, "' cannot be made by name");
  return blaming(info.get(), [&] {
    std::shared_ptr<Configurable> object = info->factory->make(options);
    object->attach(info);
    finish_configuration(*object);
    return object;
  });
}

std::shared_ptr<Configurable> get_object(std::string_view kind, const Value& identifier) {
  if (identifier.is_object()) return from_object(kind, identifier);
  if (identifier.is_string()) return make_object(kind, identifier.as_string(), {});
  if (identifier.is_dict()) return from_dict(kind, identifier.as_dict());
  fail("expected a name, configuration or object of kind ", kind, ", got ", identifier);
}

void fail_class(const std::type_info& expected_type, const Value& value) {
  fail("expected an object of class ", type_name(expected_type), ", got ", value);
}

Value serialize(const Configurable* object) {
  if (!object) return {};
  return blaming(*object, [&] {
    Dict result{{"class_name", object->class_name()}, {"config", object->get_config()}};
    if (object->info() && object->info()->kind == kLayerKind) mark_shared(result, *object);
    return Value(std::move(result));
  });
}

}  // namespace crescent
