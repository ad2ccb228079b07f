// Arguments whose meaning depends on the type of the value: an integer or a list, an integer or a
// floating-point number.
#pragma once
#include "crescent/layer/operation.h"

namespace crescent {

/// An integer, a list of integers or a list of such lists.
struct GivenIntegers {
  Value value;
};
template <>
struct Codec<GivenIntegers> {
  static GivenIntegers decode(const Value& value) {
    if (!value.is_list() && !value.is_number()) fail("expected ", type(), ", got ", value);
    return {integers_in(value)};
  }
  static Value encode(const GivenIntegers& integers) { return integers.value; }
  static std::string type() { return "an integer or lists of integers"; }

 private:
  static Value integers_in(const Value& value) {
    if (!value.is_list()) return value.as_int();
    List nested_integers;
    for (const Value& item : value.as_list()) nested_integers.push_back(integers_in(item));
    return nested_integers;
  }
};
template <>
struct detail::ArgumentTraits<GivenIntegers> {
  using Type = GivenIntegers;
  static constexpr bool is_tensor = false, is_list = true;
};

/// An integer, a floating-point number or null.
struct GivenNumber {
  Value value;
};
template <>
struct Codec<GivenNumber> {
  static GivenNumber decode(const Value& value) {
    if (!value.is_null() && !value.is_number()) fail("expected a number, got ", value);
    return {value};
  }
  static Value encode(const GivenNumber& number) { return number.value; }
  static std::string type() { return "a number or null"; }
};

/// A number, true as 1, or null; false means null.
struct GivenFill {
  std::optional<double> value;
};
template <>
struct Codec<GivenFill> {
  static GivenFill decode(const Value& value) {
    if (value == Value(true)) return {1.0};
    return {Codec<std::optional<double>>::decode(value)};
  }
  static Value encode(const GivenFill& fill) { return fill.value ? Value(*fill.value) : Value(); }
  static std::string type() { return "a number or a boolean"; }
};

}  // namespace crescent
