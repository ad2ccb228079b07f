// Callable: one function as Lua sees it: its signature, and C++ behind it.
//
//   bound("sum", &ops::sum, {"x", "axis=nil", "keepdims=false"})
//
// Arguments come by position, then in one table of keywords. What C++ types mean in Lua is in
// read.h and push.h.
#pragma once
#include <cstddef>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <lua.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "crescent/registry/schema.h"
#include "lua/state.h"
#include "values/push.h"
#include "values/read.h"
#include "values/type_text.h"

namespace crescent::lua {

/// Parameters by their texts (parse_parameter): "axis=-1" is an optional one with its default, "x"
/// a required one. The special members are in one place, since hundreds of functions are bound with
/// a list.
class Parameters : public std::vector<Parameter> {
 public:
  Parameters();
  Parameters(std::initializer_list<const char*> texts);
  explicit Parameters(std::vector<Parameter> parameters);
  Parameters(const Parameters&);
  Parameters(Parameters&&) noexcept;
  Parameters& operator=(const Parameters&);
  Parameters& operator=(Parameters&&) noexcept;
  ~Parameters();
  /// These behind "self".
  Parameters of_method() const;
};

class Callable {
 public:
  explicit Callable(Signature signature);
  Callable(std::string_view name, Parameters parameters, std::string_view doc);
  virtual ~Callable();
  Callable(const Callable&) = delete;
  /// Arguments are on the stack from 1; pushes the results and returns how many.
  virtual int call(lua_State* L) const = 0;

  const Signature& signature() const { return signature_; }
  const std::string& name() const { return signature_.name; }
  const std::string& doc() const { return signature_.doc; }
  const std::vector<Parameter>& parameters() const { return signature_.parameters; }
  /// The signature with what is known only once its plugin is loaded.
  virtual Signature full_signature() const { return signature_; }
  /// What its options are, beside or in place of the parameters; null where it takes none.
  virtual const SchemaData* options() const;
  /// "sum(x, axis=nil, keepdims=false)"
  std::string text() const;

 protected:
  /// Leaves exactly one value a parameter on the stack. takes_names: bit i is set where a table
  /// with names is a value of the parameter, not keywords. takes_lists: where a list is; with the
  /// first, f{a, b, axis=1} means f({a, b}, {axis=1}).
  void arrange(lua_State* L, unsigned takes_names, unsigned takes_lists) const;
  /// "sum: argument 'axis': ..."
  void name_argument(Error& error, int index) const;

 private:
  Signature signature_;
};
using CallablePtr = std::unique_ptr<const Callable>;

/// Lets the collector work off the memory of tensors, then calls it; on an exception pushes the
/// error and returns -1.
int run(lua_State* L, const Callable& callable);
/// What a shim does last: raises the error of a failed run.
int finish(lua_State* L, int count);
/// The shim behind every function that Lua sees; its first upvalue is the Callable.
extern "C" int crescent_invoke(lua_State* L);

/// What calls a function of one type: reads its arguments, which are on the stack from 1, and
/// counts in `reading` which one it is at, 0 when it has them all; pushes the results.
struct Caller {
  int (*call)(const void* function, lua_State* L, int& reading);
  unsigned takes_names, takes_lists;
  void (*set_types)(Signature& signature);  ///< of parameters and result
};
/// A signature with the types that the caller knows.
Signature typed_signature(std::string_view name, Parameters parameters, std::string_view doc,
                          const Caller& caller);

/// A C++ function with its signature: one class for all types, of which only the caller differs.
class Bound final : public Callable {
 public:
  /// `function` is a pointer to a function or to a member function, which is copied.
  Bound(std::string_view name, const void* function, size_t bytes, const Caller& caller,
        Parameters parameters, std::string_view doc);
  int call(lua_State* L) const override;

 private:
  Caller caller_;
  alignas(std::max_align_t) std::byte function_[2 * sizeof(void*)];
};

CallablePtr make_bound(std::string_view name, const void* function, size_t bytes,
                       const Caller& caller, Parameters parameters, std::string_view doc);

/// A function that works on the stack itself.
class Raw final : public Callable {
 public:
  using Body = int (*)(lua_State*);
  Raw(std::string_view name, Body body, Parameters parameters, std::string_view doc,
      const SchemaData* options);
  int call(lua_State* L) const override;
  const SchemaData* options() const override;

 private:
  Body body_;
  const SchemaData* options_;
};

namespace detail {

/// How a parameter of type T comes from Lua.
template <class T>
using Reader = Read<std::remove_cvref_t<T>>;

/// The I-th argument of a call, for all I the bases of Arguments.
template <size_t I, class T>
struct ReadArgument {
  decltype(Reader<T>::from(nullptr, 1)) value;
};
template <class Indices, class... A>
struct Arguments;
template <size_t... I, class... A>
struct Arguments<std::index_sequence<I...>, A...> : ReadArgument<I, A>... {
  static int call(const void* function, lua_State* L, int& reading, auto f) {
    std::memcpy(&f, function, sizeof f);
    [[maybe_unused]] Arguments arguments{{Reader<A>::from(L, ++reading)}...};
    reading = 0;
    if constexpr (std::is_void_v<decltype(std::invoke(f, arguments.template get<I, A>()...))>) {
      std::invoke(f, arguments.template get<I, A>()...);
      return 0;
    } else {
      return push_results(L, std::invoke(f, arguments.template get<I, A>()...));
    }
  }

 private:
  template <size_t Index, class T>
  decltype(auto) get() {
    return Reader<T>::pass(static_cast<ReadArgument<Index, T>&>(*this).value);
  }
};

constexpr unsigned mask(std::initializer_list<bool> set) {
  unsigned bits = 0, i = 0;
  for (const bool on : set) bits |= (on ? 1u : 0u) << i++;
  return bits;
}

template <class R, class... A>
void set_types(Signature& signature) {
  signature.result = type_text<R>();
  size_t i = 0;
  [[maybe_unused]] const auto set = [&](std::string type) {
    if (i < signature.parameters.size()) signature.parameters[i++].type = std::move(type);
  };
  (set(type_text<A>()), ...);
}

template <class F, class... A>
constexpr Caller kCaller{[](const void* function, lua_State* L, int& reading) {
                           return Arguments<std::index_sequence_for<A...>, A...>::call(
                               function, L, reading, F());
                         },
                         mask({Reader<A>::takes_names...}), mask({Reader<A>::is_list...}),
                         set_types<std::invoke_result_t<F, A...>, A...>};

template <class... A, class F>
CallablePtr bind(std::string_view name, F f, Parameters parameters, std::string_view doc) {
  return make_bound(name, &f, sizeof f, kCaller<F, A...>, std::move(parameters), doc);
}
template <class T>
struct PlainSignature;
template <class R, class C, class... A>
struct PlainSignature<R (C::*)(A...) const> {
  using Function = R (*)(A...);
};
}  // namespace detail

template <class R, class... A>
CallablePtr bound(std::string_view name, R (*f)(A...), Parameters parameters,
                  std::string_view doc = "") {
  return detail::bind<A...>(name, f, std::move(parameters), doc);
}
/// Methods take the object as first parameter.
template <class C, class R, class... A>
CallablePtr bound(std::string_view name, R (C::*f)(A...), Parameters parameters,
                  std::string_view doc = "") {
  return detail::bind<C&, A...>(name, f, std::move(parameters), doc);
}
template <class C, class R, class... A>
CallablePtr bound(std::string_view name, R (C::*f)(A...) const, Parameters parameters,
                  std::string_view doc = "") {
  return detail::bind<C&, A...>(name, f, std::move(parameters), doc);
}
/// A lambda without captures.
template <class F>
CallablePtr bound(std::string_view name, F f, Parameters parameters,
                  std::string_view doc = "") requires(std::is_class_v<F>) {
  return bound(name,
               static_cast<typename detail::PlainSignature<decltype(&F::operator())>::Function>(f),
               std::move(parameters), doc);
}
CallablePtr raw(std::string_view name, Raw::Body body, Parameters parameters = {},
                std::string_view doc = "", const SchemaData* options = nullptr);

/// Another name for a function that lives as long as the process.
CallablePtr alias(const Callable& target);

/// The Callable as a Lua function; it must live as long as the process.
void push_callable(lua_State* L, const Callable& callable);
/// Null when the value at `index` is no such function.
const Callable* to_callable(lua_State* L, int index);

/// True for a plain table with at least one name as key: keywords, not a list and not an object of
/// ours.
bool is_keywords(lua_State* L, int index);
/// True for such a table and for an empty one, which stands for no options where something comes
/// before it.
bool is_options(lua_State* L, int index);

}  // namespace crescent::lua
