// What a class declares: options, methods, properties. From one declaration come the factory,
// get_config/from_config, Lua constructors and methods, JSON in files, help, completion, range
// checks and messages.
//
//   static void describe(Schema<Normalization>& s) {
//     s.doc("Shifts and scales each feature to mean 0 and variance 1.")
//         .field("axis", &Normalization::axis_, "Axes of the features.")
//         .method("adapt", &Normalization::adapt, "Learns mean and variance of data.")
//         .arg("data", "A tensor or a list of rows.")
//         .arg("batch_size", "Rows that are looked at together.", 32)
//         .min(1)
//         .property("mean", &Normalization::mean, "Of each feature.");
//   }
//
// Names, order and defaults are Keras'. A default is the member's initialiser. Positional order =
// field order. What a member's type may be: Codec<T> (codec.h).
#pragma once
#include <tuple>

#include "crescent/registry/codec.h"
#include "crescent/registry/signature.h"

namespace crescent {

/// An option, a property, or a parameter of a method. Its default is the member's initialiser,
/// encoded; null for objects not loaded yet.
struct CRESCENT_API Field : Parameter {
  Field();
  Field(const Field&);
  Field(Field&&) noexcept;
  Field& operator=(const Field&);
  Field& operator=(Field&&) noexcept;
  ~Field();

  std::string kind;           ///< of the object that it names or is ("loss"); empty: it is none
  bool keyword_only = false;  ///< the base's options: name, trainable, dtype, ...
  bool stored = true;         ///< appears in get_config
  bool omit_null = false;     ///< left out of get_config while null (batch_input_shape)
  std::vector<std::string> aliases;  ///< also accepted: lr, input_dim
  std::optional<double> min, max;    ///< inclusive, each element of a list
  std::vector<std::string> choices;  ///< allowed texts, empty = any
  bool takes_dict = false;           ///< a dictionary is a value of it
  bool read_only = false;            ///< a property that cannot be set
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

struct Method;

/// What one class declares, without its C++ type: options, arguments of call, methods, properties.
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
  std::vector<Method> methods;
  std::vector<Field> properties;
  const char* word = "option";  ///< what messages call a field: the one of a method is an argument

  const Field* find(std::string_view name) const;  ///< by name or alias
  const Method* find_method(std::string_view name) const;
  const Field* find_property(std::string_view name) const;
  std::vector<std::string> names() const;
  /// Sets every option in `options` on `object` (which is the described class): unknown names,
  /// wrong types, ranges and missing required options fail, e.g. "Dense: no option 'unit' (did you
  /// mean 'units'?)".
  void configure(void* object, const Dict& options) const;
  /// Sets one field, with checks; messages carry title and field name.
  void set(void* object, const Field& field, const Value& value) const;
  /// The same of a property. One that is read_only fails.
  void set_property(void* object, const Field& property, const Value& value) const;
  Dict read(const void* object) const;  ///< every stored field, in order
  /// {3, "same"} given by position plus keywords -> a Dict by name. Fails on too many or on
  /// duplicates.
  Dict by_name(const List& positional, const Dict& keywords) const;
};

/// Calls a method of the described class.
class CRESCENT_API MethodAccess {
 public:
  virtual ~MethodAccess();
  /// Arguments by name.
  virtual Value call(void* object, const Method& method, const Dict& arguments) const = 0;
};

/// A method. Its parameters are the fields of a schema that is titled "Normalization.adapt", so
/// that they are checked and told of as options are.
struct CRESCENT_API Method {
  Method();
  Method(const Method&);
  Method(Method&&) noexcept;
  Method& operator=(const Method&);
  Method& operator=(Method&&) noexcept;
  ~Method();

  std::string name;
  std::string result;  ///< type of what it gives, for help; empty: nothing
  SchemaData parameters;
  std::shared_ptr<const MethodAccess> access;

  Signature signature() const;
  Value call(void* object, const Dict& arguments) const {
    return access->call(object, *this, arguments);
  }
  /// Puts the arguments, and the defaults of those not given, into what holds a call's arguments.
  void fill(void* frame, const Dict& arguments) const;
};

namespace detail {

/// Calls a member function or a function of (object, arguments...), or gives a data member.
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
  using Frame = std::tuple<std::decay_t<A>...>;  ///< what holds a call's arguments
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

/// `Set` is std::nullptr_t for a property that cannot be set.
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

struct WeightRules;  // weight_rules.h

/// A weight that options are named after: {"kernel", &Dense::kernel_} has kernel_initializer, ...
/// Help calls it "the kernel" unless `called` says otherwise.
template <class T, class Rules>
struct NamedWeight {
  const char* name;
  Rules T::*rules;
  const char* called = nullptr;
};

/// What Schema<T> does for every T.
class CRESCENT_API SchemaBuilder {
 public:
  SchemaData& data() { return data_; }
  const SchemaData& data() const { return data_; }

 protected:
  explicit SchemaBuilder(std::string title);
  ~SchemaBuilder();
  /// `object`: one with the members' initial values, or null.
  void add(std::string_view name, std::string_view doc, const MemberType& type,
           std::ptrdiff_t offset, const void* object);
  void add_method(std::string_view name, std::string_view doc, std::string result,
                  std::unique_ptr<const MethodAccess> access);
  /// Of the last method; arg() gives it a name.
  void add_parameter(const MemberType& type, std::ptrdiff_t offset);
  void name_parameter(std::string_view name, std::string_view doc, const Value* default_value);
  void add_property(std::string_view name, std::string_view doc, const MemberType& type,
                    std::unique_ptr<const FieldAccess> access, bool read_only);
  void set_required();
  void set_choices(std::initializer_list<const char*> texts);
  void add_alias(std::string_view name);
  /// What modifiers speak of: the last field, parameter or property.
  Field& last() { return *last_; }

  /// Goes on where `whole` is, for a base that lies `origin` bytes into the described object; then
  /// whole goes on behind it.
  void begin_base(SchemaBuilder& whole, std::ptrdiff_t origin);
  void end_base(SchemaBuilder& whole);

  friend struct WeightRules;
  SchemaData data_;
  Field* last_ = nullptr;
  bool keyword_only_ = false;
  std::ptrdiff_t origin_ = 0;  ///< where the described part lies in the object
};

/// Builds SchemaData for T; modifiers after field(), arg() and property() speak of the last one.
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
  /// The options of a base class, declared by a function that is the same for all classes above it.
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
  /// Of a field that may be anything: a name or a function in it stands for an object of this kind.
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
  /// All of them: .weight_options({{"kernel", &Dense::kernel_}, {"bias", &Dense::bias_}}).
  template <class Rules = WeightRules, size_t N>
  Schema& weight_options(const NamedWeight<T, Rules> (&weights)[N]) {
    return initializers(weights).regularizers(weights).constraints(weights);
  }
  /// With `activity`, the penalty on the output, which Keras has before the constraints.
  template <class Rules = WeightRules, size_t N, class Activity>
  Schema& weight_options(const NamedWeight<T, Rules> (&weights)[N], Activity activity) {
    initializers(weights).regularizers(weights);
    field("activity_regularizer", activity, "Penalty on the output.");
    return constraints(weights);
  }

  // ---- methods and properties

  /// A member function, or a function of (T&, arguments...). What it takes and gives has a Codec.
  /// Each parameter is named by an arg() after it, in order.
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
  /// The next parameter of the method. One with a default need not be given; a default of null
  /// leaves it as its type starts.
  Schema& arg(std::string_view name, std::string_view doc) {
    return name_parameter(name, doc, nullptr), *this;
  }
  Schema& arg(std::string_view name, std::string_view doc, const Value& default_value) {
    return name_parameter(name, doc, &default_value), *this;
  }
  /// Something to read: a member, a member function, or a function of (T&).
  template <class Get>
  Schema& property(std::string_view name, Get get, std::string_view doc) {
    return bind_property(name, get, nullptr, doc);
  }
  /// Something to read and to set; `set` takes (value) as a member function, or (T&, value).
  template <class Get, class Set>
  Schema& property(std::string_view name, Get get, Set set, std::string_view doc) {
    return bind_property(name, get, set, doc);
  }

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
  template <class>
  friend class Schema;  // a base's begins and ends in one of a class above it

  /// Worked out on memory that no object lives in; only addresses are made.
  template <class Member, class Owner>
  [[gnu::no_sanitize("undefined")]] static std::ptrdiff_t offset_of(Member Owner::*member) {
    alignas(T) char place[sizeof(T)];
    const Owner* owner = reinterpret_cast<T*>(place);
    return reinterpret_cast<const char*>(&(owner->*member)) - place;
  }
  template <class Base>
  [[gnu::no_sanitize("undefined")]] static std::ptrdiff_t origin_of() {
    alignas(T) char place[sizeof(T)];
    const Base* base = reinterpret_cast<T*>(place);
    return reinterpret_cast<const char*>(base) - place;
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
    [[maybe_unused]] const auto add = [&]<class P>(const P& place) {
      add_parameter(MemberType::of<P>(),
                    reinterpret_cast<const char*>(&place) - reinterpret_cast<const char*>(&frame));
    };
    std::apply([&](const auto&... places) { (add(places), ...); }, frame);
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

/// What every object of a base class has beside what its own class declares, Layer's or Model's
/// methods and properties: T::describe_members(Schema<T>&) is called once.
template <class T>
const SchemaData& members_of() {
  static const SchemaData data = [] {
    Schema<T> s("");
    T::describe_members(s);
    return s.data();
  }();
  return data;
}

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
