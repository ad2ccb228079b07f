// Everything that exists in many has a kind ("layer", "optimizer", ...) and a class name, and is
// found here.
//
//   registry().add<Dense>("Dense");                                  // in a plugin's setup
//   auto dense = make<Layer>("Dense", {{"units", 10}});              // anywhere
//   auto adam  = get<Optimizer>("adam");                             // by name, alias, config dict
//   or object
//
// A built-in plugin is loaded on first use of one of its names, through the index written at build
// time.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crescent/registry/schema.h"

namespace crescent {

class Configurable;

/// Something that exists in many.
struct KindInfo {
  const char* name;    ///< "loss"
  const char* plural;  ///< "losses": the table of its classes in Lua; null: it has none
  const char* base;    ///< "Loss": what classes written in Lua derive from; null: nothing
  const char* doc;     ///< "What training makes small."
};
/// One row a kind. Further kinds may be registered; they have no table in Lua.
CRESCENT_API std::span<const KindInfo> kinds();
/// Fails when no row has this name.
CRESCENT_API const KindInfo& kind_named(std::string_view name);

/// Makes objects of one registered class. Written once for C++ classes (below) and once for Lua
/// classes.
class CRESCENT_API Factory {
 public:
  virtual ~Factory();
  /// A configured object; `options` by name. Fails in the words of the schema.
  virtual std::shared_ptr<Configurable> make(const Dict& options) const = 0;
};

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
  bool open_options = false;  ///< takes options that the schema does not list (classes from Lua)
  std::shared_ptr<const Factory> factory;
  std::string plugin;  ///< "acme.scale", "core"
  std::string plugin_version;
  std::string origin;  ///< path of the library, or "Lua"
};

/// Base of everything registered. get_config gives what makes an equal object; schema fields do it
/// by themselves.
class CRESCENT_API Configurable : public Object {
 public:
  static void describe_members(Schema<Configurable>& s);
  std::string class_name() const override;
  /// Registration of this object's class; null for objects made outside the registry.
  const std::shared_ptr<const ClassInfo>& info() const { return info_; }
  virtual Dict get_config() const;
  /// Called once after all options are set: checks between options, derived values. Fail here with
  /// the class name left out.
  virtual void configured() {}
  /// Sets options of an object that is in use, then configured(); those not given stay as they are.
  /// Where it fails, nothing has changed.
  void configure(const Dict& options);

  // What the class declares beside options. Names and values are checked in the words of the
  // schema.
  Value call_method(std::string_view name, const Dict& arguments = {});
  Value get_property(std::string_view name) const;
  void set_property(std::string_view name, const Value& value);

  void attach(std::shared_ptr<const ClassInfo> info);

 private:
  const SchemaData& declared() const;

  std::shared_ptr<const ClassInfo> info_;
  // The object as its schema's members see it: a pointer to the registered class.
  void* self_ = nullptr;
  friend class SchemaFactory;
};

class CRESCENT_API Registry {
 public:
  /// Registers C++ class T (derived from Configurable) with static members `kKind` (from its kind's
  /// base) and `describe(Schema<T>&)`; the kind's base may add common options with
  /// `describe_base<T>(Schema<T>&)`.
  template <class T>
  void add(std::string name, std::vector<std::string> aliases = {});
  /// A clash of name or alias within the kind is refused, both origins named.
  void add(ClassInfo info);
  /// Lua classes may be defined again at the prompt: the newest wins; built-ins cannot be replaced.
  void replace(ClassInfo info);

  /// Null when unknown. Loads the built-in plugin that the index names.
  std::shared_ptr<const ClassInfo> find(std::string_view kind, std::string_view name);
  /// Fails: "unknown layer 'Dens' (did you mean 'Dense'?)".
  std::shared_ptr<const ClassInfo> get(std::string_view kind, std::string_view name);
  /// Class names of a kind, known without loading anything (index + registered), sorted.
  std::vector<std::string> names(std::string_view kind);
  /// Names and aliases, for suggestions and completion.
  std::vector<std::string> all_names(std::string_view kind);
  /// Schema::trait of a class, known without loading anything; none when there is no such class.
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

/// The process' registry.
CRESCENT_API Registry& registry();

/// The kind that the class of this name has where one of `expected` may stand: that one, or another
/// whose objects do for it (layers are activations too).
CRESCENT_API std::string kind_given(std::string_view expected, std::string_view class_name);

// ---- making objects

CRESCENT_API std::shared_ptr<Configurable> make_object(std::string_view kind, std::string_view name,
                                                       const Dict& options);
/// identifier: "relu", {"class_name": ..., "config": {...}} (also Keras 3's module/registered_name
/// form), or an object.
CRESCENT_API std::shared_ptr<Configurable> get_object(std::string_view kind,
                                                      const Value& identifier);
/// {"class_name": "Adam", "config": {...}}; null for a null object.
CRESCENT_API Value serialize(const Configurable* object);

template <class T>
std::shared_ptr<T> make(std::string_view name, const Dict& options = {}) {
  return std::dynamic_pointer_cast<T>(make_object(T::kKind, name, options));
}
template <class T>
std::shared_ptr<T> get(const Value& identifier) {
  if (identifier.is_null()) return nullptr;
  auto object = std::dynamic_pointer_cast<T>(get_object(T::kKind, identifier));
  if (!object) fail("expected an object of kind ", T::kKind, ", got ", identifier);
  return object;
}

/// An option that is an object of kind T: `Ref<Initializer> kernel_initializer_ =
/// "glorot_uniform";` Resolved when set or on first use; may be null. An option of null is no
/// object, or the one that T::kNullOption names.
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
  /// The name it was given by; null when it was given as an object or not at all.
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

/// An object itself: what methods take and give. One of a kind is also taken by name or
/// configuration; null is none.
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
    if (!object) fail("expected an object of another class, got ", value);
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
    void* self;  ///< the same as its schema's members see it
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

/// Base of a kind: gives kKind's default option encoding. `template <class T> static void
/// describe_base(Schema<T>&) {}` is inherited by kinds without common options.
class CRESCENT_API Plain : public Configurable {
 public:
  template <class T>
  static void describe_base(Schema<T>&) {}
  static Value encode_option(const Configurable* object) { return serialize(object); }
};

}  // namespace crescent
