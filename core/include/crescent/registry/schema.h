// A schema declares the options, methods and properties of a class. It serves the factory,
// get_config and from_config, constructors and methods in Lua, JSON in files, help, completion,
// range checks and messages.
//
//   static void describe(Schema<Normalization>& s) {
//     s.doc("Shifts and scales each feature to mean 0 and variance 1.")
//         .field("axis", &Normalization::axis_, "Axes of the features.")
//         .method("adapt", &Normalization::adapt, "Learns mean and variance from data.")
//         .arg("data", "A tensor or a list of rows.")
//         .arg("batch_size", "Rows that are looked at together.", 32)
//         .min(1)
//         .property("mean", &Normalization::mean, "Of each feature.");
//   }
//
// Names, order and defaults are those of Keras. The default of a field is the initializer of its
// member. Positional arguments follow the order of fields. A member may have any type with a Codec
// (codec.h).
#pragma once
#include <tuple>

#include "crescent/registry/codec.h"
#include "crescent/registry/signature.h"

namespace crescent {

/// An option or a property of a class, or a parameter of a method. The default of an option is the
/// initial value of its member; the default of an option that is an object is the name or the
/// configuration from which the object is made.
struct CRESCENT_API Field : Parameter {
  Field();
  Field(const Field&);
  Field(Field&&) noexcept;
  Field& operator=(const Field&);
  Field& operator=(Field&&) noexcept;
  ~Field();

  std::string kind;  ///< the kind of an option that is an object ("loss"); empty for others
  /// Whether the option cannot be given by position: name, trainable, dtype, ...
  bool keyword_only = false;
  bool stored = true;  ///< whether get_config() includes the option
  /// Whether get_config() leaves the option out while it is null (batch_input_shape).
  bool omit_null = false;
  std::vector<std::string> aliases;  ///< other accepted names: lr, input_dim
  std::optional<double> min, max;  ///< inclusive bounds of the value, or of each element of a list
  std::vector<std::string> choices;  ///< the allowed texts; empty: all
  bool takes_dict = false;           ///< whether the option accepts a dictionary
  bool read_only = false;            ///< whether the property cannot be set
  std::shared_ptr<const FieldAccess> access;
};

/// A named argument of call() beside the inputs, `training` and `mask`: use_causal_mask,
/// initial_state.
struct Argument {
  std::string name;
  std::string doc;           ///< documentation, or why the argument is refused
  Value default_value;       ///< determines the type; null: any value or tensor
  std::optional<int> input;  ///< the index, from 0, of the input that the argument names
  bool supported = true;     ///< false: Keras has the argument, but this class refuses it
};

struct Method;

/// The declarations of a class without its C++ type: options, arguments of call(), methods,
/// properties.
class CRESCENT_API SchemaData {
 public:
  SchemaData();
  SchemaData(const SchemaData&);
  SchemaData(SchemaData&&) noexcept;
  SchemaData& operator=(const SchemaData&);
  SchemaData& operator=(SchemaData&&) noexcept;
  ~SchemaData();

  std::string title;  ///< the class name, with which messages begin
  std::string description;
  std::vector<Field> fields;
  std::vector<Argument> arguments;  ///< named arguments of call()
  Dict traits;  ///< values by which the class is found before its plugin is loaded
  std::vector<Method> methods;
  std::vector<Field> properties;
  const char* word = "option";  ///< the word for a field in messages: "option", "argument"

  const Field* find(std::string_view name) const;  ///< null if no field has this name or alias
  const Method* find_method(std::string_view name) const;
  const Field* find_property(std::string_view name) const;
  std::vector<std::string> names() const;
  /// Sets the options of `object`, which points to the described class. Fails for unknown names,
  /// wrong types, values out of range and missing required options: "Dense: no option 'unit' (did
  /// you mean 'units'?)".
  void configure(void* object, const Dict& options) const;
  /// Checks and sets one field; messages contain the title and the name of the field.
  void set(void* object, const Field& field, const Value& value) const;
  /// Checks and sets a property; fails if it is read-only.
  void set_property(void* object, const Field& property, const Value& value) const;
  Dict read(const void* object) const;  ///< the values of all stored fields, in order
  /// Returns positional and keyword arguments as one dictionary by name. Fails for too many
  /// positional arguments and for an argument that is given twice.
  Dict by_name(const List& positional, const Dict& keywords) const;
};

/// Calls a method of the described class.
class CRESCENT_API MethodAccess {
 public:
  virtual ~MethodAccess();
  /// Calls the method of `object` with arguments by name; returns its result.
  virtual Value call(void* object, const Method& method, const Dict& arguments) const = 0;
};

/// A method of a class. Its parameters are the fields of a schema with the title
/// "Normalization.adapt", so they have the checks and messages of options.
struct CRESCENT_API Method {
  Method();
  Method(const Method&);
  Method(Method&&) noexcept;
  Method& operator=(const Method&);
  Method& operator=(Method&&) noexcept;
  ~Method();

  std::string name;
  std::string result;  ///< the type of the result, for help; empty: no result
  SchemaData parameters;
  std::shared_ptr<const MethodAccess> access;

  Signature signature() const;
  Value call(void* object, const Dict& arguments) const {
    return access->call(object, *this, arguments);
  }
  /// Writes arguments, or their defaults, into the tuple `frame` (BoundMethod::Frame).
  void fill(void* frame, const Dict& arguments) const;
};

namespace detail {

/// Calls a member function or a function of (object, arguments...), or returns a data member.
template <class T, class F, class... A>
decltype(auto) call_on(T& object, F f, A&&... arguments) {
  if constexpr (std::is_member_object_pointer_v<F>)
    return (object.*f);
  else if constexpr (std::is_member_function_pointer_v<F>)
    return (object.*f)(std::forward<A>(arguments)...);
  else
    return f(object, std::forward<A>(arguments)...);
}

}  // namespace detail

template <class T, class F, class R, class... A>
class BoundMethod final : public MethodAccess {
 public:
  using Frame = std::tuple<std::decay_t<A>...>;  ///< the arguments of a call
  explicit BoundMethod(F f) : f_(f) {}
  Value call(void* object, const Method& method, const Dict& arguments) const override {
    Frame frame{};
    method.fill(&frame, arguments);
    return std::apply([&](auto&... given) { return run(*static_cast<T*>(object), given...); },
                      frame);
  }

 private:
  template <class... Given>
  Value run(T& object, Given&... given) const {
    if constexpr (std::is_void_v<R>)
      return detail::call_on(object, f_, given...), Value();
    else
      return Codec<std::decay_t<R>>::encode(detail::call_on(object, f_, given...));
  }
  F f_;
};

/// Access to a property by functions; `Set` is std::nullptr_t if it cannot be set.
template <class T, class Get, class Set>
class PropertyAccess final : public FieldAccess {
 public:
  using Type = std::remove_cvref_t<decltype(detail::call_on(std::declval<T&>(), Get()))>;
  PropertyAccess(Get get, Set set) : get_(get), set_(set) {}
  Value get(const void* object) const override {
    return Codec<Type>::encode(detail::call_on(*static_cast<T*>(const_cast<void*>(object)), get_));
  }
  void set([[maybe_unused]] void* object, [[maybe_unused]] const Value& value) const override {
    if constexpr (!std::is_null_pointer_v<Set>)
      detail::call_on(*static_cast<T*>(object), set_, Codec<Type>::decode(value));
  }

 private:
  Get get_;
  Set set_;
};

struct WeightRules;  // defined in weight_rules.h

/// A weight with options named after it: {"kernel", &Dense::kernel_} has kernel_initializer, ...
/// Help calls it "the kernel", or by the text `called`.
template <class T, class Rules>
struct NamedWeight {
  const char* name;
  Rules T::*rules;
  const char* called = nullptr;
};

/// The part of Schema<T> that does not depend on T.
class CRESCENT_API SchemaBuilder {
 public:
  SchemaData& data() { return data_; }
  const SchemaData& data() const { return data_; }
  /// The offset of the described base class in the object, in bytes.
  std::ptrdiff_t origin() const { return origin_; }

 protected:
  explicit SchemaBuilder(std::string title);
  ~SchemaBuilder();
  /// Adds a field. `object` has the initial values of members, or is null.
  void add(std::string_view name, std::string_view doc, const MemberType& type,
           std::ptrdiff_t offset, const void* object);
  void add_method(std::string_view name, std::string_view doc, std::string result,
                  std::unique_ptr<const MethodAccess> access);
  /// Adds a parameter to the last method; name_parameter() names it.
  void add_parameter(const MemberType& type, std::ptrdiff_t offset);
  void name_parameter(std::string_view name, std::string_view doc, const Value* default_value);
  void add_property(std::string_view name, std::string_view doc, const MemberType& type,
                    std::unique_ptr<const FieldAccess> access, bool read_only);
  void set_required();
  void set_choices(std::initializer_list<const char*> texts);
  void add_alias(std::string_view name);
  /// The last field, parameter or property, to which modifiers apply.
  Field& last() { return *last_; }

  /// begin_base() moves the declarations of `whole` to this builder, so that a base class can
  /// declare its members; `origin` is the offset in bytes of the base class in the described
  /// object. end_base() moves all declarations back to `whole`.
  void begin_base(SchemaBuilder& whole, std::ptrdiff_t origin);
  void end_base(SchemaBuilder& whole);

  friend struct WeightRules;
  SchemaData data_;
  Field* last_ = nullptr;
  bool keyword_only_ = false;
  std::ptrdiff_t origin_ = 0;
};

/// Builds the SchemaData of T; modifiers apply to the last field(), arg() or property().
template <class T>
class Schema : public SchemaBuilder {
 public:
  /// `defaults` has the initial values of members; if it is null, fields have no default_value.
  explicit Schema(std::string title, const T* defaults = nullptr)
      : SchemaBuilder(std::move(title)), defaults_(defaults) {}

  Schema& doc(std::string_view text) { return data_.description = text, *this; }
  /// Adds a value by which the class can be found beside its name (Registry::traits), such as the
  /// file name extensions of a format. The index of plugins stores it.
  Schema& trait(std::string_view name, Value value) {
    return data_.traits.set(name, std::move(value)), *this;
  }

  template <class Member, class Owner>
  Schema& field(std::string_view name, Member Owner::*member, std::string_view doc) {
    static_assert(std::is_base_of_v<Owner, T>, "the member belongs to T or a base of T");
    add(name, doc, MemberType::of<Member>(), offset_of(member), defaults_);
    return *this;
  }
  /// Adds the options of a base class, which `describe` declares for all classes derived from it.
  template <class Base>
  Schema& base(void (*describe)(Schema<Base>&)) {
    static_assert(std::is_base_of_v<Base, T>);
    Schema<Base> part("", defaults_);
    part.begin_base(*this, origin_of<Base>());
    describe(part);
    part.end_base(*this);
    return *this;
  }
  Schema& required() { return set_required(), *this; }
  Schema& min(double bound) { return last().min = bound, *this; }
  Schema& max(double bound) { return last().max = bound, *this; }
  Schema& choices(std::initializer_list<const char*> texts) { return set_choices(texts), *this; }
  Schema& choices(const std::vector<std::string>& texts) { return last().choices = texts, *this; }
  Schema& alias(std::string_view name) { return add_alias(name), *this; }
  /// Declares that the last field takes objects of this kind, so that users can give a name or a
  /// function in place of an object.
  Schema& kind(std::string_view name) { return last().kind = name, *this; }
  Schema& not_stored() { return last().stored = false, *this; }
  Schema& omit_null() { return last().omit_null = true, *this; }

  // ---- the options of weights, in Keras' order: all initializers, all regularizers, all
  // constraints
  template <class Rules = WeightRules, size_t N>
  Schema& initializers(const NamedWeight<T, Rules> (&weights)[N]) {
    return each_weight(weights, Rules::describe_initializer);
  }
  template <class Rules = WeightRules, size_t N>
  Schema& regularizers(const NamedWeight<T, Rules> (&weights)[N]) {
    return each_weight(weights, Rules::describe_regularizer);
  }
  template <class Rules = WeightRules, size_t N>
  Schema& constraints(const NamedWeight<T, Rules> (&weights)[N]) {
    return each_weight(weights, Rules::describe_constraint);
  }
  /// Adds all options of weights: .weight_options({{"kernel", &Dense::kernel_}, {"bias",
  /// &Dense::bias_}}).
  template <class Rules = WeightRules, size_t N>
  Schema& weight_options(const NamedWeight<T, Rules> (&weights)[N]) {
    return initializers(weights).regularizers(weights).constraints(weights);
  }
  /// Adds all options of weights and, before the constraints as in Keras, the penalty on the
  /// output.
  template <class Rules = WeightRules, size_t N, class Activity>
  Schema& weight_options(const NamedWeight<T, Rules> (&weights)[N], Activity activity) {
    initializers(weights).regularizers(weights);
    field("activity_regularizer", activity, "Penalty on the output that is added to the loss.");
    return constraints(weights);
  }

  // ---- methods and properties

  /// Adds a method: a member function, or a function of (T&, arguments...). The types of its
  /// parameters and its result need a Codec. The arg() calls that follow name the parameters in
  /// order.
  template <class R, class Owner, class... A>
  Schema& method(std::string_view name, R (Owner::*f)(A...), std::string_view doc) {
    return bind<R, A...>(name, f, doc);
  }
  template <class R, class Owner, class... A>
  Schema& method(std::string_view name, R (Owner::*f)(A...) const, std::string_view doc) {
    return bind<R, A...>(name, f, doc);
  }
  template <class R, class Owner, class... A>
  Schema& method(std::string_view name, R (*f)(Owner&, A...), std::string_view doc) {
    return bind<R, A...>(name, f, doc);
  }
  /// Names the next parameter of the last method. A parameter with a default is optional; the
  /// default null stands for a default-constructed argument.
  Schema& arg(std::string_view name, std::string_view doc) {
    return name_parameter(name, doc, nullptr), *this;
  }
  Schema& arg(std::string_view name, std::string_view doc, const Value& default_value) {
    return name_parameter(name, doc, &default_value), *this;
  }
  /// Adds a property that can be read: a data member, a member function, or a function of (T&).
  template <class Get>
  Schema& property(std::string_view name, Get get, std::string_view doc) {
    return bind_property(name, get, nullptr, doc);
  }
  /// Adds a property that can be read and set; `set` is a member function of (value), or a function
  /// of (T&, value).
  template <class Get, class Set>
  Schema& property(std::string_view name, Get get, Set set, std::string_view doc) {
    return bind_property(name, get, set, doc);
  }

  /// Adds a named argument of call(), which reads it by Call::argument(name).
  Schema& argument(std::string name, Value default_value, std::string doc) {
    Argument argument{std::move(name), std::move(doc), std::move(default_value), {}, true};
    return data_.arguments.push_back(std::move(argument)), *this;
  }
  /// Declares that an input can also be given by name. A list under this name gives this input and
  /// those after it.
  Schema& input(std::string name, int index, std::string doc) {
    data_.arguments.push_back({std::move(name), std::move(doc), {}, index, true});
    return *this;
  }
  /// Adds an argument that Keras has but this class refuses.
  Schema& unsupported_argument(std::string name, std::string why) {
    data_.arguments.push_back({std::move(name), std::move(why), {}, {}, false});
    return *this;
  }
  /// Determines whether fields declared from now on can be given by name only.
  Schema& keyword_only(bool on) { return keyword_only_ = on, *this; }

 private:
  template <class>
  friend class Schema;  // calls begin_base() and end_base()

  /// Computes an offset from addresses in memory that holds no object and is never accessed.
  template <class Member, class Owner>
  [[gnu::no_sanitize("undefined")]] static std::ptrdiff_t offset_of(Member Owner::*member) {
    alignas(T) char memory[sizeof(T)];
    const Owner* owner = reinterpret_cast<T*>(memory);
    return reinterpret_cast<const char*>(&(owner->*member)) - memory;
  }
  template <class Base>
  [[gnu::no_sanitize("undefined")]] static std::ptrdiff_t origin_of() {
    alignas(T) char memory[sizeof(T)];
    const Base* base = reinterpret_cast<T*>(memory);
    return reinterpret_cast<const char*>(base) - memory;
  }
  template <class Rules, size_t N, class Describe>
  Schema& each_weight(const NamedWeight<T, Rules> (&weights)[N], Describe describe) {
    for (const auto& weight : weights)
      describe(*this, weight.name, weight.called, offset_of(weight.rules), defaults_);
    return *this;
  }
  template <class R, class... A, class F>
  Schema& bind(std::string_view name, F f, std::string_view doc) {
    using Bound = BoundMethod<T, F, R, A...>;
    std::string result;
    if constexpr (!std::is_void_v<R>) result = Codec<std::decay_t<R>>::type();
    add_method(name, doc, std::move(result), std::unique_ptr<const MethodAccess>(new Bound(f)));
    [[maybe_unused]] const typename Bound::Frame frame{};
    [[maybe_unused]] const auto add = [&]<class P>(const P& member) {
      add_parameter(MemberType::of<P>(),
                    reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&frame));
    };
    std::apply([&](const auto&... members) { (add(members), ...); }, frame);
    return *this;
  }
  template <class Get, class Set>
  Schema& bind_property(std::string_view name, Get get, Set set, std::string_view doc) {
    using Access = PropertyAccess<T, Get, Set>;
    add_property(name, doc, MemberType::of<typename Access::Type>(),
                 std::unique_ptr<const FieldAccess>(new Access(get, set)),
                 std::is_null_pointer_v<Set>);
    return *this;
  }

  const T* defaults_;
};

/// The methods and properties of a base class such as Layer or Model, which all its objects have.
/// T::describe_members(Schema<T>&) is called once.
template <class T>
const SchemaData& members_of() {
  static const SchemaData data = [] {
    Schema<T> s("");
    T::describe_members(s);
    return s.data();
  }();
  return data;
}

/// The options of a function (fit, compile) as fields of a struct T. T::describe(Schema<T>&) is
/// called once.
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
