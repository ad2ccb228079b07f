// Callable: one function as Lua sees it: a name, parameters with defaults, and C++ behind it.
//
//   bound("sum", &ops::sum, {"x", "axis=nil", "keepdims=false"})
//
// Arguments come by position, then in one table of keywords. What C++ types mean in Lua is in
// read.h and push.h.
#pragma once
#include <lua.hpp>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "lua/state.h"
#include "values/push.h"
#include "values/read.h"

namespace crescent::lua {

/// "axis=-1" is an optional parameter with its default, "x" a required one.
struct Parameter {
  Parameter(const char* text);
  std::string name, fallback;
  bool required;
};
using Parameters = std::vector<Parameter>;

class Callable {
 public:
  Callable(std::string name, Parameters parameters, std::string doc)
      : name_(std::move(name)), doc_(std::move(doc)), parameters_(std::move(parameters)) {}
  virtual ~Callable() = default;
  Callable(const Callable&) = delete;
  /// Arguments are on the stack from 1; pushes the results and returns how many.
  virtual int call(lua_State* L) const = 0;

  const std::string& name() const { return name_; }
  const std::string& doc() const { return doc_; }
  const Parameters& parameters() const { return parameters_; }
  /// What its options are, beside or in place of the parameters; null where it takes none.
  virtual const SchemaData* options() const { return nullptr; }
  /// "sum(x, axis=nil, keepdims=false)"
  std::string signature() const;

 protected:
  /// Leaves exactly one value a parameter on the stack. takes_names: bit i is set where a table
  /// with names is a value of the parameter, not keywords. takes_lists: where a list is; with the
  /// first, f{a, b, axis=1} means f({a, b}, {axis=1}).
  void arrange(lua_State* L, unsigned takes_names, unsigned takes_lists) const;
  /// "sum: argument 'axis': ..."
  void name_argument(Error& error, int index) const;

 private:
  std::string name_, doc_;
  Parameters parameters_;
};
using CallablePtr = std::unique_ptr<const Callable>;

/// Lets the collector work off the memory of tensors, then calls it; on an exception pushes the
/// error and returns -1.
int run(lua_State* L, const Callable& callable);
/// What a shim does last: raises the error of a failed run.
int finish(lua_State* L, int count);
/// The shim behind every function that Lua sees; its first upvalue is the Callable.
extern "C" int crescent_invoke(lua_State* L);

/// A C++ function with its signature.
template <class F, class R, class... A>
class Bound final : public Callable {
 public:
  Bound(std::string name, F function, Parameters parameters, std::string doc)
      : Callable(std::move(name), std::move(parameters), std::move(doc)), function_(function) {}

  int call(lua_State* L) const override {
    arrange(L, mask(Read<std::remove_cvref_t<A>>::takes_names...),
            mask(Read<std::remove_cvref_t<A>>::is_list...));
    return call(L, std::index_sequence_for<A...>());
  }

 private:
  template <class... Bools>
  static constexpr unsigned mask(Bools... set) {
    unsigned bits = 0, i = 0;
    ((bits |= set ? 1u << i : 0u, ++i), ...);
    return bits;
  }
  template <class T>
  auto read(lua_State* L, int index) const {
    try {
      return Read<std::remove_cvref_t<T>>::from(L, index);
    } catch (const LuaError&) {
      throw;
    } catch (Error& error) {
      name_argument(error, index);
      throw;
    }
  }
  template <size_t... I>
  int call(lua_State* L, std::index_sequence<I...>) const {
    [[maybe_unused]] std::tuple<decltype(Read<std::remove_cvref_t<A>>::from(L, 1))...> arguments{
        read<A>(L, static_cast<int>(I) + 1)...};
    if constexpr (std::is_void_v<R>) {
      std::invoke(function_, Read<std::remove_cvref_t<A>>::pass(std::get<I>(arguments))...);
      return 0;
    } else {
      return push_results(
          L, std::invoke(function_, Read<std::remove_cvref_t<A>>::pass(std::get<I>(arguments))...));
    }
  }
  F function_;
};

/// A function that works on the stack itself.
class Raw final : public Callable {
 public:
  using Body = int (*)(lua_State*);
  Raw(std::string name, Body body, Parameters parameters, std::string doc,
      const SchemaData* options)
      : Callable(std::move(name), std::move(parameters), std::move(doc)),
        body_(body),
        options_(options) {}
  int call(lua_State* L) const override { return body_(L); }
  const SchemaData* options() const override { return options_; }

 private:
  Body body_;
  const SchemaData* options_;
};

namespace detail {
template <class F, class R, class... A>
CallablePtr make_bound(std::string name, F f, Parameters parameters, std::string doc, R (*)(A...)) {
  return std::make_unique<const Bound<F, R, A...>>(std::move(name), f, std::move(parameters),
                                                   std::move(doc));
}
template <class T>
struct PlainSignature;
template <class R, class C, class... A>
struct PlainSignature<R (C::*)(A...) const> {
  using Function = R (*)(A...);
};
}  // namespace detail

template <class R, class... A>
CallablePtr bound(std::string name, R (*f)(A...), Parameters parameters, std::string doc = "") {
  return detail::make_bound(std::move(name), f, std::move(parameters), std::move(doc), f);
}
/// Methods take the object as first parameter.
template <class C, class R, class... A>
CallablePtr bound(std::string name, R (C::*f)(A...), Parameters parameters, std::string doc = "") {
  return detail::make_bound(std::move(name), f, std::move(parameters), std::move(doc),
                            static_cast<R (*)(C&, A...)>(nullptr));
}
template <class C, class R, class... A>
CallablePtr bound(std::string name, R (C::*f)(A...) const, Parameters parameters,
                  std::string doc = "") {
  return detail::make_bound(std::move(name), f, std::move(parameters), std::move(doc),
                            static_cast<R (*)(C&, A...)>(nullptr));
}
/// A lambda without captures.
template <class F>
CallablePtr bound(std::string name, F f, Parameters parameters,
                  std::string doc = "") requires(std::is_class_v<F>) {
  return bound(std::move(name),
               static_cast<typename detail::PlainSignature<decltype(&F::operator())>::Function>(f),
               std::move(parameters), std::move(doc));
}
inline CallablePtr raw(std::string name, Raw::Body body, Parameters parameters = {},
                       std::string doc = "", const SchemaData* options = nullptr) {
  return std::make_unique<const Raw>(std::move(name), body, std::move(parameters), std::move(doc),
                                     options);
}

/// Another name for a function that lives as long as the process.
class Alias final : public Callable {
 public:
  explicit Alias(const Callable& target)
      : Callable(target.name(), target.parameters(), target.doc()), target_(target) {}
  int call(lua_State* L) const override { return target_.call(L); }
  const SchemaData* options() const override { return target_.options(); }

 private:
  const Callable& target_;
};
inline CallablePtr alias(const Callable& target) { return std::make_unique<const Alias>(target); }

/// The Callable as a Lua function; it must live as long as the process.
inline void push_callable(lua_State* L, const Callable& callable) {
  lua_pushlightuserdata(L, const_cast<Callable*>(&callable));
  lua_pushcclosure(L, crescent_invoke, 1);
}
/// Null when the value at `index` is no such function.
const Callable* to_callable(lua_State* L, int index);

/// True for a plain table with at least one name as key: keywords, not a list and not an object of
/// ours.
bool is_keywords(lua_State* L, int index);
/// True for such a table and for an empty one, which stands for no options where something comes
/// before it.
bool is_options(lua_State* L, int index);

}  // namespace crescent::lua
