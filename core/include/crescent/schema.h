// Options declared once. From one declaration come the factory, get_config/from_config, Lua constructors,
// JSON in files, help, completion, range checks and messages.
//
//   static void describe(Schema<Dense>& s) {
//     s.doc("Fully connected: activation(x . kernel + bias). (batch, ..., in) -> (batch, ..., units)")
//         .field("units", &Dense::units_, "Width of the output.").required().min(1)
//         .field("activation", &Dense::activation_, "Applied to the result.");
//   }
//
// Names, order and defaults are Keras'. A default is the member's initialiser. Positional order = field order.
// What a member's type may be: Codec<T> below; other headers add Shape, DType, Ref<T>.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crescent/value.h"

namespace crescent {

/// Conversion between a member and a Value. decode fails with "expected ..., got ...". An optional encode_default(member)
/// writes a member's initial value for help; it may not load anything.
template <class T>
struct Codec;

#define CRESCENT_CODEC(Type)                        \
  template <>                                       \
  struct CRESCENT_API Codec<Type> {                 \
    static Type decode(const Value& value);         \
    static Value encode(const Type& member);        \
    static std::string type(); /* "an integer" */   \
  }
CRESCENT_CODEC(bool);
CRESCENT_CODEC(int64_t);
CRESCENT_CODEC(double);
CRESCENT_CODEC(std::string);
CRESCENT_CODEC(Value);                        // anything
CRESCENT_CODEC(Dict);
CRESCENT_CODEC(std::vector<int64_t>);         // a single integer is a list of one
CRESCENT_CODEC(std::vector<double>);          // a single number is a list of one
CRESCENT_CODEC(std::vector<std::string>);

/// Null is "not given".
template <class T>
struct Codec<std::optional<T>> {
  static std::optional<T> decode(const Value& value) {
    return value.is_null() ? std::nullopt : std::optional<T>(Codec<T>::decode(value));
  }
  static Value encode(const std::optional<T>& member) { return member ? Codec<T>::encode(*member) : Value(); }
  static std::string type() { return Codec<T>::type() + " or null"; }
};

/// How a field reads and writes its member in an object of the described class.
class CRESCENT_API FieldAccess {
 public:
  virtual ~FieldAccess();
  virtual Value get(const void* object) const = 0;
  virtual void set(void* object, const Value& value) const = 0;
};

struct Field {
  std::string name;
  std::string doc;
  std::string type;                    ///< for help and messages: "an integer"
  Value default_value;                 ///< the member's initialiser, encoded; null for objects not loaded yet
  bool required = false;
  bool keyword_only = false;           ///< the base's options: name, trainable, dtype, ...
  bool stored = true;                  ///< appears in get_config
  bool omit_null = false;              ///< left out of get_config while null (batch_input_shape)
  std::vector<std::string> aliases;    ///< also accepted: lr, input_dim
  std::optional<double> min, max;      ///< inclusive, each element of a list
  std::vector<std::string> choices;    ///< allowed texts, empty = any
  std::shared_ptr<const FieldAccess> access;
};

/// What call takes beside its inputs, `training` and `mask`: use_causal_mask, initial_state.
struct Argument {
  std::string name;
  std::string doc;                     ///< of one that is not supported: why
  Value default_value;                 ///< of the argument's kind; null: anything, tensors too
  std::optional<int> place;            ///< of the input (from 0) that this is another way to give
  bool supported = true;               ///< false: Keras has it, this class refuses it
};

/// The declared options of one class, without its C++ type.
class CRESCENT_API SchemaData {
 public:
  std::string title;                   ///< class name, first word of every message
  std::string description;
  std::vector<Field> fields;
  std::vector<Argument> arguments;     ///< of call

  const Field* find(std::string_view name) const;        ///< by name or alias
  std::vector<std::string> names() const;
  /// Sets every option in `options` on `object` (which is the described class): unknown names, wrong types, ranges and
  /// missing required options fail, e.g. "Dense: no option 'unit' (did you mean 'units'?)".
  void configure(void* object, const Dict& options) const;
  /// Sets one field, with checks; messages carry title and field name.
  void set(void* object, const Field& field, const Value& value) const;
  Dict read(const void* object) const;                   ///< every stored field, in order
  /// {3, "same"} given by position plus keywords -> a Dict by name. Fails on too many or on duplicates.
  Dict by_name(const List& positional, const Dict& keywords) const;
};

/// Builds SchemaData for T; modifiers after field() speak of the last field.
template <class T>
class Schema {
 public:
  /// `defaults` has the members' initial values; without it fields have no default_value.
  explicit Schema(std::string title, const T* defaults = nullptr) : defaults_(defaults) { data_.title = std::move(title); }

  Schema& doc(std::string text) { return data_.description = std::move(text), *this; }

  template <class Member, class Owner>
  Schema& field(std::string name, Member Owner::*member, std::string doc) {
    static_assert(std::is_base_of_v<Owner, T>, "the member belongs to T or a base of T");
    Field f;
    f.name = std::move(name);
    f.doc = std::move(doc);
    f.type = Codec<Member>::type();
    f.keyword_only = keyword_only_;
    f.access = std::make_shared<MemberAccess<Member, Owner>>(member);
    if (defaults_) f.default_value = encode_default<Member>(defaults_->*member);
    data_.fields.push_back(std::move(f));
    return *this;
  }
  Schema& required() { return last().required = true, last().default_value = Value(), *this; }
  Schema& min(double bound) { return last().min = bound, *this; }
  Schema& max(double bound) { return last().max = bound, *this; }
  Schema& choices(std::vector<std::string> texts) { return last().choices = std::move(texts), *this; }
  Schema& alias(std::string name) { return last().aliases.push_back(std::move(name)), *this; }
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

  SchemaData& data() { return data_; }
  const SchemaData& data() const { return data_; }

 private:
  template <class Member, class Owner>
  class MemberAccess final : public FieldAccess {
   public:
    explicit MemberAccess(Member Owner::*member) : member_(member) {}
    Value get(const void* object) const override {
      return Codec<Member>::encode(static_cast<const T*>(object)->*member_);
    }
    void set(void* object, const Value& value) const override {
      static_cast<T*>(object)->*member_ = Codec<Member>::decode(value);
    }
   private:
    Member Owner::*member_;
  };
  Field& last() { return data_.fields.back(); }
  template <class Member>
  static Value encode_default(const Member& member) {
    if constexpr (requires { Codec<Member>::encode_default(member); }) {
      return Codec<Member>::encode_default(member);
    } else {
      return Codec<Member>::encode(member);
    }
  }

  SchemaData data_;
  const T* defaults_;
  bool keyword_only_ = false;
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
