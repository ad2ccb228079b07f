// The registry finds classes by their kind ("layer", "optimizer", ...) and their name.
//
//   registry().add<Dense>("Dense");                      // in a plugin's setup
//   auto dense = make<Layer>("Dense", {{"units", 10}});  // anywhere
//   auto adam = get<Optimizer>("adam");  // by a name, an alias, a configuration or an object
//
// A built-in plugin is loaded on first use of one of its names, which the index of the build maps
// to its library.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "crescent/registry/schema.h"

namespace crescent {

class Configurable;

/// A kind of classes, such as losses.
struct KindInfo {
  const char* name;    ///< "loss"
  const char* plural;  ///< "losses", the table of its classes in Lua; null: no table
  const char* base;    ///< "Loss", the base of classes written in Lua; null: no such classes
  const char* doc;     ///< "Objectives that training minimizes.", the text in help
};
/// The built-in kinds. Other kinds may be registered; they have no table in Lua.
CRESCENT_API std::span<const KindInfo> kinds();
/// The kind with this name in kinds(); fails if there is none.
CRESCENT_API const KindInfo& kind_named(std::string_view name);

/// Makes objects of one registered class. SchemaFactory is the subclass for C++ classes; another
/// subclass makes objects of classes written in Lua.
class CRESCENT_API Factory {
 public:
  virtual ~Factory();
  /// Makes an object with these options, given by name. Fails with the messages of the schema.
  virtual std::shared_ptr<Configurable> make(const Dict& options) const = 0;
};

/// The registration of a class.
struct CRESCENT_API ClassInfo {
  ClassInfo();
  ClassInfo(const ClassInfo&);
  ClassInfo(ClassInfo&&) noexcept;
  ClassInfo& operator=(const ClassInfo&);
  ClassInfo& operator=(ClassInfo&&) noexcept;
  ~ClassInfo();

  std::string kind;
  std::string name;
  std::vector<std::string> aliases;  ///< "glorot_uniform", "mse"
  SchemaData schema;
  /// Whether the class accepts options that its schema does not list, as classes written in Lua do.
  bool open_options = false;
  std::shared_ptr<const Factory> factory;
  std::string plugin;  ///< "acme.scale", "core"
  std::string plugin_version;
  std::string origin;  ///< the path of the library, or "Lua"
};

/// Base of all registered classes. get_config() returns the options that make an equal object; the
/// default implementation reads them from the members that the schema declares.
class CRESCENT_API Configurable : public Object {
 public:
  static void describe_members(Schema<Configurable>& s);
  std::string class_name() const override;
  /// The registration of this object's class; null for an object that the registry did not make.
  const std::shared_ptr<const ClassInfo>& info() const { return info_; }
  virtual Dict get_config() const;
  /// Called when all options are set: checks combinations of options and computes values that
  /// depend on them. Its messages must not name the class, which the caller adds.
  virtual void configured() {}
  /// Sets options of an existing object, then calls configured(); other options keep their values.
  /// If it fails, the object is unchanged.
  void configure(const Dict& options);

  // Methods and properties that the class declares. Wrong names and values fail with the messages
  // of the schema.
  Value call_method(std::string_view name, const Dict& arguments = {});
  Value get_property(std::string_view name) const;
  void set_property(std::string_view name, const Value& value);

  void attach(std::shared_ptr<const ClassInfo> info);

 private:
  const SchemaData& declared() const;

  std::shared_ptr<const ClassInfo> info_;
  // A pointer to the object as the registered class, for the accessors of its schema.
  void* self_ = nullptr;
  friend class SchemaFactory;
};

/// A registry of classes by kind and name.
class CRESCENT_API Registry {
 public:
  /// Registers a C++ class T, derived from Configurable, with the static members `kKind`, inherited
  /// from the base of its kind, and `describe(Schema<T>&)`; the base of the kind may add common
  /// options by `describe_base<T>(Schema<T>&)`.
  template <class T>
  void add(std::string name, std::vector<std::string> aliases = {});
  /// Registers a class. Fails, naming both origins, if a class of the kind has the same name or
  /// alias.
  void add(ClassInfo info);
  /// Registers a class written in Lua in place of an earlier one of the same name; fails for the
  /// name of a class that was not written in Lua.
  void replace(ClassInfo info);

  /// Returns the class of this name or alias, or null if there is none. Loads the built-in plugin
  /// that has the class.
  std::shared_ptr<const ClassInfo> find(std::string_view kind, std::string_view name);
  /// As find(), but fails if there is no such class: "unknown layer 'Dens' (did you mean
  /// 'Dense'?)".
  std::shared_ptr<const ClassInfo> get(std::string_view kind, std::string_view name);
  /// The sorted class names of a kind, from the index and from registered classes; loads no plugin.
  std::vector<std::string> names(std::string_view kind);
  /// The class names and aliases of a kind, for suggestions and completion.
  std::vector<std::string> all_names(std::string_view kind);
  /// The traits of a class (Schema::trait), without loading its plugin; empty for an unknown class.
  Dict traits(std::string_view kind, std::string_view name);

  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

 private:
  friend class PluginLoader;
  void add(const char* kind, const SchemaData& schema, std::vector<std::string> aliases,
           std::unique_ptr<const Factory> factory);
  struct State;
  std::unique_ptr<State> state_;
};

/// The registry of the process.
CRESCENT_API Registry& registry();

/// The kind of the class `class_name` when it is given for an option that expects an object of kind
/// `expected`: `expected` itself, or another kind whose objects can be used instead (a layer as an
/// activation).
CRESCENT_API std::string kind_given(std::string_view expected, std::string_view class_name);

// ---- making objects

/// Makes an object of the class with this name. Fails for an unknown class and, with the messages
/// of its schema, for wrong options.
CRESCENT_API std::shared_ptr<Configurable> make_object(std::string_view kind, std::string_view name,
                                                       const Dict& options);
/// The object for an identifier: a name ("relu"), a configuration {"class_name": ..., "config":
/// {...}}, also with Keras 3's module and registered_name, or an object.
CRESCENT_API std::shared_ptr<Configurable> get_object(std::string_view kind,
                                                      const Value& identifier);
/// The configuration of the object, {"class_name": "Adam", "config": {...}}; null for a null
/// pointer.
CRESCENT_API Value serialize(const Configurable* object);

/// Fails because `value` is no object of the C++ class `wanted`; the message names that class.
[[noreturn]] CRESCENT_API void fail_class(const std::type_info& wanted, const Value& value);

template <class T>
std::shared_ptr<T> make(std::string_view name, const Dict& options = {}) {
  return std::dynamic_pointer_cast<T>(make_object(T::kKind, name, options));
}
template <class T>
std::shared_ptr<T> get(const Value& identifier) {
  if (identifier.is_null()) return nullptr;
  auto object = std::dynamic_pointer_cast<T>(get_object(T::kKind, identifier));
  if (!object) fail_class(typeid(T), identifier);
  return object;
}

/// The member for an option that is an object of kind T: `Ref<Initializer> kernel_initializer_ =
/// "glorot_uniform";`. The object is made when the option is set, or for a default on first use; it
/// may be null. The option null means no object, or the class that T::kNullOption names.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  Ref(const char* name) : spec_(name) {}
  Ref(std::shared_ptr<T> object) : object_(std::move(object)) {}
  T* get() const {
    if (!object_ && !spec_.is_null()) object_ = crescent::get<T>(spec_);
    return object_.get();
  }
  const std::shared_ptr<T>& shared() const { return get(), object_; }
  T* operator->() const { return get(); }
  T& operator*() const { return *get(); }
  explicit operator bool() const { return object_ || !spec_.is_null(); }
  /// The name or configuration from which the object is made on first use; null if an object was
  /// given, or if there is none.
  const Value& unresolved() const { return spec_; }

 private:
  Value spec_;
  mutable std::shared_ptr<T> object_;
};

template <class T>
struct Codec<Ref<T>> {
  static constexpr const char* kKind = T::kKind;
  static Ref<T> decode(const Value& value) {
    if constexpr (requires { T::kNullOption; }) {
      if (value.is_null()) return Ref<T>(crescent::get<T>(T::kNullOption));
    }
    return Ref<T>(crescent::get<T>(value));
  }
  static Value encode(const Ref<T>& ref) { return T::encode_option(ref.get()); }
  static Value encode_default(const Ref<T>& ref) {
    return ref.unresolved().is_null() ? encode(ref) : ref.unresolved();
  }
  static std::string type() { return concat("a name, configuration or object of kind ", T::kKind); }
};

/// Objects as arguments and results of methods. An argument of a registered kind may be a name or a
/// configuration; null is a null pointer.
template <std::derived_from<Object> T>
struct Codec<std::shared_ptr<T>> {
  static constexpr const char* kKind = [] {
    if constexpr (requires { T::kKind; })
      return T::kKind;
    else
      return "";
  }();
  static std::shared_ptr<T> decode(const Value& value) {
    if (value.is_null()) return nullptr;
    if constexpr (requires { T::kKind; })
      return crescent::get<T>(value);
    else
      return as_is(value);
  }
  static Value encode(const std::shared_ptr<T>& object) { return Value(object); }
  static std::string type() { return *kKind ? concat("an object of kind ", kKind) : "an object"; }

 private:
  static std::shared_ptr<T> as_is(const Value& value) {
    auto object = value.object_as<T>();
    if (!object) fail_class(typeid(T), value);
    return object;
  }
};

// ---- the factory of a C++ class

/// Makes an object and sets its options by the schema of its class.
class CRESCENT_API SchemaFactory : public Factory {
 public:
  explicit SchemaFactory(const SchemaData& schema);
  ~SchemaFactory() override;
  std::shared_ptr<Configurable> make(const Dict& options) const final;

 protected:
  struct New {
    Configurable* object;
    void* self;  ///< the object as a pointer to its own class, for the accessors of the schema
  };
  virtual New create() const = 0;

 private:
  SchemaData schema_;
};

template <class T>
class ClassFactory final : public SchemaFactory {
 public:
  using SchemaFactory::SchemaFactory;

 private:
  New create() const override {
    T* object = new T;
    return {object, object};
  }
};

template <class T>
void Registry::add(std::string name, std::vector<std::string> aliases) {
  const T defaults{};
  Schema<T> schema(std::move(name), &defaults);
  schema.keyword_only(true);
  T::template describe_base<T>(schema);
  schema.keyword_only(false);
  T::describe(schema);
  add(T::kKind, schema.data(), std::move(aliases),
      std::unique_ptr<const Factory>(new ClassFactory<T>(schema.data())));
}

/// Base of kinds whose classes have no common options and whose objects are written by serialize().
class CRESCENT_API Plain : public Configurable {
 public:
  template <class T>
  static void describe_base(Schema<T>&) {}
  static Value encode_option(const Configurable* object) { return serialize(object); }
};

}  // namespace crescent
