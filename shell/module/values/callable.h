// Callable is a function for Lua: its signature and the C++ function.
//
//   bound("sum", &ops::sum, {"x", "axis=nil", "keepdims=false"})
//
// C++ types determine the types of parameters and the result in help texts; where a function takes
// or returns any Lua value, texts do: bound("get -> a layer", &get, {"identifier: a name or a
// configuration"}).
// Arguments are positional, then in a table of keywords. read.h and push.h convert C++ types from
// and to Lua.
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

/// Parameters given by texts (parse_parameter): "axis=-1" is optional with a default, "x" is
/// required. Special members are not inline because hundreds of functions are bound with a list.
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
  /// Returns these parameters with a parameter "self" of the type `self` in front of them.
  Parameters of_method(std::string self) const;
};

/// The signature of a function; `name` is "name" or "name -> type of the result".
Signature signature_of(std::string_view name, Parameters parameters, std::string_view doc);

class Callable {
 public:
  explicit Callable(Signature signature);
  Callable(std::string_view name, Parameters parameters, std::string_view doc);
  virtual ~Callable();
  Callable(const Callable&) = delete;
  /// Calls the function with the arguments on the stack from 1; pushes the results and returns
  /// their number.
  virtual int call(lua_State* L) const = 0;

  const Signature& signature() const { return signature_; }
  const std::string& name() const { return signature_.name; }
  const std::string& doc() const { return signature_.doc; }
  const std::vector<Parameter>& parameters() const { return signature_.parameters; }
  /// The signature, including the parts that are known only after the function's plugin was loaded.
  virtual Signature full_signature() const { return signature_; }
  /// The schema of the options that the function takes besides or instead of parameters; null if it
  /// takes none.
  virtual const SchemaData* options() const;
  /// Whether the first argument is the object before the colon of a call.
  virtual bool is_method() const;
  /// The text of the signature: "sum(x, axis=nil, keepdims=false)"
  std::string text() const;

 protected:
  /// Rearranges the arguments so that the stack has exactly one value per parameter. If bit i of
  /// takes_names is set, a table with names is a value of parameter i, not a table of keywords; bit
  /// i of takes_lists means the same for lists. If the first parameter takes lists, f{a, b, axis=1}
  /// means f({a, b}, {axis=1}).
  void arrange(lua_State* L, unsigned takes_names, unsigned takes_lists) const;
  /// Adds the name of an argument to the message of an error: "sum: argument 'axis': ..."
  void name_argument(Error& error, int index) const;

 private:
  Signature signature_;
};
using CallablePtr = std::unique_ptr<const Callable>;

/// Collects garbage if tensors use much memory, then calls the function. If it throws, pushes the
/// error and returns -1.
int run(lua_State* L, const Callable& callable);
/// Raises the error on top of the stack if `count`, the result of run(), is negative; else returns
/// `count`. Must be the last action of a C function, since lua_error skips destructors.
int finish(lua_State* L, int count);
/// The C function of every Callable in Lua; its first upvalue is the Callable.
extern "C" int crescent_invoke(lua_State* L);

/// The functions that call C++ functions of one type. `call` reads the arguments from the stack,
/// calls the C++ function and pushes the results. It sets `argument_index` to the index of the
/// argument that is being read, and to 0 after the last argument.
struct Invoker {
  int (*call)(const void* function, lua_State* L, int& argument_index);
  unsigned takes_names, takes_lists;
  void (*set_types)(Signature& signature);  ///< sets the types of parameters and result
};
/// A signature with the types of parameters and result that the invoker sets.
Signature typed_signature(std::string_view name, Parameters parameters, std::string_view doc,
                          const Invoker& invoker);

/// A C++ function with its signature. This class serves all C++ types of functions; an Invoker
/// handles the differences.
class BoundFunction final : public Callable {
 public:
  /// `function` points to a pointer to a function or member function, which the constructor copies.
  BoundFunction(std::string_view name, const void* function, size_t bytes, const Invoker& invoker,
                Parameters parameters, std::string_view doc);
  int call(lua_State* L) const override;

 private:
  Invoker invoker_;
  bool takes_functions_;  ///< whether a parameter is declared as a function
  alignas(std::max_align_t) std::byte function_[2 * sizeof(void*)];
};

CallablePtr make_bound(std::string_view name, const void* function, size_t bytes,
                       const Invoker& invoker, Parameters parameters, std::string_view doc);

/// A function that reads its arguments from the stack of Lua and pushes its results itself.
class RawFunction final : public Callable {
 public:
  using Body = int (*)(lua_State*);
  RawFunction(std::string_view name, Body body, Parameters parameters, std::string_view doc,
              const SchemaData* options);
  int call(lua_State* L) const override;
  const SchemaData* options() const override;

 private:
  Body body_;
  const SchemaData* options_;
};

namespace detail {

/// The reader for a parameter of type T.
template <class T>
using Reader = Read<std::remove_cvref_t<T>>;

/// The I-th argument of a call. The struct Arguments derives from one ReadArgument per parameter.
template <size_t I, class T>
struct ReadArgument {
  decltype(Reader<T>::from(nullptr, 1)) value;
};
template <class Indices, class... A>
struct Arguments;
template <size_t... I, class... A>
struct Arguments<std::index_sequence<I...>, A...> : ReadArgument<I, A>... {
  static int call(const void* function, lua_State* L, int& argument_index, auto f) {
    std::memcpy(&f, function, sizeof f);
    [[maybe_unused]] Arguments arguments{{Reader<A>::from(L, ++argument_index)}...};
    argument_index = 0;
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

constexpr unsigned bit_mask(std::initializer_list<bool> flags) {
  unsigned bits = 0, i = 0;
  for (const bool flag : flags) bits |= (flag ? 1u : 0u) << i++;
  return bits;
}

template <class R, class... A>
void set_types(Signature& signature) {
  if (signature.result.empty()) signature.result = type_text<R>();
  size_t i = 0;
  [[maybe_unused]] const auto set_type = [&](std::string type) {
    if (i == signature.parameters.size()) return;
    std::string& parameter_type = signature.parameters[i++].type;
    if (parameter_type.empty()) parameter_type = std::move(type);
  };
  (set_type(type_text<A>()), ...);
}

template <class F, class... A>
constexpr Invoker kInvoker{[](const void* function, lua_State* L, int& argument_index) {
                             return Arguments<std::index_sequence_for<A...>, A...>::call(
                                 function, L, argument_index, F());
                           },
                           bit_mask({Reader<A>::takes_names...}), bit_mask({Reader<A>::is_list...}),
                           set_types<std::invoke_result_t<F, A...>, A...>};

template <class... A, class F>
CallablePtr bind(std::string_view name, F f, Parameters parameters, std::string_view doc) {
  return make_bound(name, &f, sizeof f, kInvoker<F, A...>, std::move(parameters), doc);
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
/// Binds a method, whose first argument is the object.
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
/// Binds a lambda without captures.
template <class F>
CallablePtr bound(std::string_view name, F f, Parameters parameters,
                  std::string_view doc = "") requires(std::is_class_v<F>) {
  return bound(name,
               static_cast<typename detail::PlainSignature<decltype(&F::operator())>::Function>(f),
               std::move(parameters), doc);
}
CallablePtr raw(std::string_view name, RawFunction::Body body, Parameters parameters = {},
                std::string_view doc = "", const SchemaData* options = nullptr);

/// A method of the first argument of `function`, which must live as long as the process.
CallablePtr as_method(const Callable& function);

/// Pushes the Callable, which must live as long as the process, as a Lua function.
void push_callable(lua_State* L, const Callable& callable);
/// The Callable of the function at `index`; null for other values.
const Callable* to_callable(lua_State* L, int index);

/// Whether the value is a plain table of keywords: it has at least one name as key, and is neither
/// a list nor a handle.
bool is_keywords(lua_State* L, int index);
/// Whether the value is a table of keywords, or an empty table, which after other arguments means
/// that there are no options.
bool is_options(lua_State* L, int index);

}  // namespace crescent::lua
