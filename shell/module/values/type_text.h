// The names of C++ types in help and in the listing of functions.
#pragma once
#include "lua/handle.h"
#include "values/push.h"
#include "values/read.h"

namespace crescent::lua {

/// The name of a C++ type in help texts; an empty name stands for any value.
template <class T>
struct TypeText {
  static std::string text() {
    if constexpr (std::derived_from<T, Object>)
      return object_text<T>();
    else if constexpr (std::same_as<T, bool>)
      return "true or false";
    else if constexpr (std::integral<T>)
      return "an integer";
    else if constexpr (std::floating_point<T>)
      return "a number";
    else if constexpr (std::derived_from<T, Shape>)
      return "a shape";
    else if constexpr (std::is_void_v<T>)
      return "nothing";
    else
      return "";
  }
};

#define CRESCENT_TYPE_TEXT(Type, words)         \
  template <>                                   \
  struct TypeText<Type> {                       \
    static std::string text() { return words; } \
  }
CRESCENT_TYPE_TEXT(std::string, "a string");
CRESCENT_TYPE_TEXT(const char*, "a string");
CRESCENT_TYPE_TEXT(DType, "a dtype");
CRESCENT_TYPE_TEXT(ops::Padding, "a string");
CRESCENT_TYPE_TEXT(ops::Operand, "a tensor or a number");
CRESCENT_TYPE_TEXT(NamedValueTable, "a table with names");
CRESCENT_TYPE_TEXT(Dict, "a table with names");
CRESCENT_TYPE_TEXT(List, "a list");
CRESCENT_TYPE_TEXT(std::span<const Tensor>, "a list of tensors");
CRESCENT_TYPE_TEXT(Tensor, kHandleTypeName<Tensor>);
CRESCENT_TYPE_TEXT(Variable, kHandleTypeName<Variable>);
CRESCENT_TYPE_TEXT(Symbol, kHandleTypeName<Symbol>);
CRESCENT_TYPE_TEXT(NodePtr, kHandleTypeName<NodePtr>);
CRESCENT_TYPE_TEXT(InputSpec, kHandleTypeName<InputSpec>);
CRESCENT_TYPE_TEXT(ClassPtr, kHandleTypeName<ClassPtr>);
#undef CRESCENT_TYPE_TEXT

/// The name of a type followed by more words. The empty name, which stands for any value, is
/// returned unchanged.
inline std::string with_words(const std::string& type, const char* words) {
  return type.empty() ? type : type + words;
}

template <std::derived_from<Object> T>
struct TypeText<std::shared_ptr<T>> : TypeText<T> {};
template <class T>
struct TypeText<std::optional<T>> {
  static std::string text() { return with_words(TypeText<T>::text(), " or nil"); }
};
template <class T>
struct TypeText<std::vector<T>> {
  static std::string text() { return with_words(TypeText<T>::text(), " or a list of them"); }
};
template <class T>
struct TypeText<OneOrMore<T>> : TypeText<std::vector<T>> {};
template <class... T>
struct TypeText<std::tuple<T...>> {
  static std::string text() { return join(std::vector<std::string>{TypeText<T>::text()...}); }
};

template <class T>
std::string type_text() {
  return TypeText<std::remove_cvref_t<T>>::text();
}

}  // namespace crescent::lua
