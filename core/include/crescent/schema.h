// Options declared once. From one declaration come the factory, get_config/from_config, Lua
// constructors, JSON in files, help, completion, range checks and messages.
//
//   static void describe(Schema<Dense>& s) {
//     s.doc("Fully connected: activation(x . kernel + bias). (batch, ..., in) -> (batch, ...,
//     units)")
//         .field("units", &Dense::units_, "Width of the output.").required().min(1)
//         .field("activation", &Dense::activation_, "Applied to the result.");
//   }
//
// Names, order and defaults are Keras'. A default is the member's initialiser. Positional order =
// field order. What a member's type may be: Codec<T> below; other headers add Shape, DType, Ref<T>.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crescent/value.h"

namespace crescent {

/// Conversion between a member and a Value. decode fails with "expected ..., got ...". An optional
/// encode_default(member) writes a member's initial value for help; it may not load anything.
template <class T>
struct Codec;

#define CRESCENT_CODEC(Type)                      \
  template <>                                     \
  struct CRESCENT_API Codec<Type> {               \
    static Type decode(const Value& value);       \
    static Value encode(const Type& member);      \
    static std::string type(); /* "an integer" */ \
  }
CRESCENT_CODEC(bool);
CRESCENT_CODEC(int64_t);
CRESCENT_CODEC(double);
CRESCENT_CODEC(std::string);
CRESCENT_CODEC(Value);  // anything
CRESCENT_CODEC(Dict);
CRESCENT_CODEC(std::vector<int64_t>);  // a single integer is a list of one
CRESCENT_CODEC(std::vector<double>);   // a single number is a list of one
CRESCENT_CODEC(std::vector<std::string>);

/// Null is "not given".
template <class T>
struct Codec<std::optional<T>> {
  static std::optional<T> decode(const Value& value) {
    return value.is_null() ? std::nullopt : std::optional<T>(Codec<T>::decode(value));
  }
  static Value encode(const std::optional<T>& member) {
    return member ? Codec<T>::encode(*member) : Value();
  }
  static std::string type() { return Codec<T>::type() + " or null"; }
};

/// How a field reads and writes its member in an object of the described class.
class CRESCENT_API FieldAccess {
 public:
  virtual ~FieldAccess();
  virtual Value get(const void* object) const = 0;
  virtual void set(void* object, const Value& value) const = 0;
};

struct CRESCENT_API Field {
  Field();
  Field(const Field&);
  Field(Field&&) noexcept;
  Field& operator=(const Field&);
  Field& operator=(Field&&) noexcept;
  ~Field();

  std::string name;
  std::string doc;
  std::string type;     ///< for help and messages: "an integer"
  Value default_value;  ///< the member's initialiser, encoded; null for objects not loaded yet
  bool required = false;
  bool keyword_only = false;         ///< the base's options: name, trainable, dtype, ...
  bool stored = true;                ///< appears in get_config
  bool omit_null = false;            ///< left out of get_config while null (batch_input_shape)
  std::vector<std::string> aliases;  ///< also accepted: lr, input_dim
  std::optional<double> min, max;    ///< inclusive, each element of a list
  std::vector<std::string> choices;  ///< allowed texts, empty = any
  std::shared_ptr<const FieldAccess> access;
};

/// What call takes beside its inputs, `training` and `mask`: use_causal_mask, initial_state.
struct Argument {
  std::string name;
  std::string doc;           ///< of one that is not supported: why
  Value default_value;       ///< of the argument's kind; null: anything, tensors too
  std::optional<int> place;  ///< of the input (from 0) that this is another way to give
  bool supported = true;     ///< false: Keras has it, this class refuses it
};

/// The declared options of one class, without its C++ type.
class CRESCENT_API SchemaData {
 public:
  SchemaData();
  SchemaData(const SchemaData&);
  SchemaData(SchemaData&&) noexcept;
  SchemaData& operator=(const SchemaData&);
  SchemaData& operator=(SchemaData&&) noexcept;
  ~SchemaData();

  std::string title;  ///< class name, first word of every message
  std::string description;
  std::vector<Field> fields;
  std::vector<Argument> arguments;  ///< of call
  Dict traits;                      ///< what finds the class before its plugin is loaded

  const Field* find(std::string_view name) const;  ///< by name or alias
  std::vector<std::string> names() const;
  /// Sets every option in `options` on `object` (which is the described class): unknown names,
  /// wrong types, ranges and missing required options fail, e.g. "Dense: no option 'unit' (did you
  /// mean 'units'?)".
  void configure(void* object, const Dict& options) const;
  /// Sets one field, with checks; messages carry title and field name.
  void set(void* object, const Field& field, const Value& value) const;
  Dict read(const void* object) const;  ///< every stored field, in order
  /// {3, "same"} given by position plus keywords -> a Dict by name. Fails on too many or on
  /// duplicates.
  Dict by_name(const List& positional, const Dict& keywords) const;
};

/// Access to a member of type Member that lies `offset` bytes into the described object: one class
/// for all owners, so that an option costs its class no code of its own.
template <class Member>
class MemberAccess final : public FieldAccess {
 public:
  explicit MemberAccess(std::ptrdiff_t offset) : offset_(offset) {}
  Value get(const void* object) const override {
    return Codec<Member>::encode(
        *reinterpret_cast<const Member*>(static_cast<const char*>(object) + offset_));
  }
  void set(void* object, const Value& value) const override {
    *reinterpret_cast<Member*>(static_cast<char*>(object) + offset_) = Codec<Member>::decode(value);
  }

 private:
  std::ptrdiff_t offset_;
};

/// How fields with members of one type are read, written and described. Common types have theirs in
/// core.
struct MemberType {
  std::string (*type)();
  std::shared_ptr<const FieldAccess> (*access)(std::ptrdiff_t offset);
  Value (*default_value)(const void* member);

  template <class Member>
  static MemberType of() {
    return {&Codec<Member>::type,
            [](std::ptrdiff_t offset) -> std::shared_ptr<const FieldAccess> {
              return std::make_shared<MemberAccess<Member>>(offset);
            },
            [](const void* member) -> Value {
              const Member& initial = *static_cast<const Member*>(member);
              if constexpr (requires { Codec<Member>::encode_default(initial); })
                return Codec<Member>::encode_default(initial);
              else
                return Codec<Member>::encode(initial);
            }};
  }
};
#define CRESCENT_COMMON_MEMBER_TYPES(declare)                                                      \
  declare(bool) declare(int64_t) declare(double) declare(std::string) declare(Value) declare(Dict) \
      declare(std::vector<int64_t>) declare(std::vector<double>) declare(std::vector<std::string>) \
          declare(std::optional<int64_t>) declare(std::optional<double>)                           \
              declare(std::optional<std::string>)
#define CRESCENT_DECLARE(Type) extern template CRESCENT_API MemberType MemberType::of<Type>();
CRESCENT_COMMON_MEMBER_TYPES(CRESCENT_DECLARE)
#undef CRESCENT_DECLARE

/// What Schema<T> does for every T.
class CRESCENT_API SchemaBuilder {
 public:
  SchemaData& data() { return data_; }
  const SchemaData& data() const { return data_; }

 protected:
  explicit SchemaBuilder(std::string title);
  /// `object`: one with the members' initial values, or null.
  void add(std::string_view name, std::string_view doc, const MemberType& type,
           std::ptrdiff_t offset, const void* object);
  void set_required();
  void set_choices(std::initializer_list<const char*> texts);
  void add_alias(std::string_view name);
  Field& last() { return data_.fields.back(); }

  SchemaData data_;
  bool keyword_only_ = false;
};

/// Builds SchemaData for T; modifiers after field() speak of the last field.
template <class T>
class Schema : public SchemaBuilder {
 public:
  /// `defaults` has the members' initial values; without it fields have no default_value.
  explicit Schema(std::string title, const T* defaults = nullptr)
      : SchemaBuilder(std::move(title)), defaults_(defaults) {}

  Schema& doc(std::string_view text) { return data_.description = text, *this; }
  /// What the class can be found by (Registry::traits), beside its name: the endings of a format's
  /// files. It is kept in the index of plugins.
  Schema& trait(std::string_view name, Value value) {
    return data_.traits.set(name, std::move(value)), *this;
  }

  template <class Member, class Owner>
  Schema& field(std::string_view name, Member Owner::*member, std::string_view doc) {
    static_assert(std::is_base_of_v<Owner, T>, "the member belongs to T or a base of T");
    add(name, doc, MemberType::of<Member>(), offset_of(member), defaults_);
    return *this;
  }
  Schema& required() { return set_required(), *this; }
  Schema& min(double bound) { return last().min = bound, *this; }
  Schema& max(double bound) { return last().max = bound, *this; }
  Schema& choices(std::initializer_list<const char*> texts) { return set_choices(texts), *this; }
  Schema& choices(const std::vector<std::string>& texts) { return last().choices = texts, *this; }
  Schema& alias(std::string_view name) { return add_alias(name), *this; }
  Schema& not_stored() { return last().stored = false, *this; }
  Schema& omit_null() { return last().omit_null = true, *this; }
  /// What call takes by name; call finds it in Call::argument(name).
  Schema& argument(std::string name, Value default_value, std::string doc) {
    Argument argument{std::move(name), std::move(doc), std::move(default_value), {}, true};
    return data_.arguments.push_back(std::move(argument)), *this;
  }
  /// An input that can be given by name too, a list also those after it: they join the inputs.
  Schema& input(std::string name, int place, std::string doc) {
    data_.arguments.push_back({std::move(name), std::move(doc), {}, place, true});
    return *this;
  }
  /// An argument that Keras has and this class refuses.
  Schema& unsupported_argument(std::string name, std::string why) {
    data_.arguments.push_back({std::move(name), std::move(why), {}, {}, false});
    return *this;
  }
  /// Fields declared from here on (until false) can only be given by name.
  Schema& keyword_only(bool on) { return keyword_only_ = on, *this; }

 private:
  /// Worked out on memory that no object lives in; only addresses are made.
  template <class Member, class Owner>
  [[gnu::no_sanitize("undefined")]] static std::ptrdiff_t offset_of(Member Owner::*member) {
    alignas(T) char place[sizeof(T)];
    const Owner* owner = reinterpret_cast<T*>(place);
    return reinterpret_cast<const char*>(&(owner->*member)) - place;
  }

  const T* defaults_;
};

/// Options of a function or struct (fit, compile): T::describe(Schema<T>&) is called once.
template <class T>
const SchemaData& schema_of(std::string_view title) {
  static const SchemaData data = [&] {
    const T defaults{};
    Schema<T> s(std::string(title), &defaults);
    T::describe(s);
    return s.data();
  }();
  return data;
}

}  // namespace crescent
