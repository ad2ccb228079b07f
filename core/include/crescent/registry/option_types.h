// More types of options: integers of other sizes, enumerations, pairs and maps; the codecs of
// codec.h extend them to lists and optional values.
//
// An enumeration can be an option if a function in its namespace lists its names:
//
//   enum class Mode { sum, mean };
//   inline EnumNames<Mode> enum_names(Mode) { return {{"sum", Mode::sum}, {"mean", Mode::mean}}; }
#pragma once
#include <concepts>
#include <type_traits>
#include <utility>

#include "crescent/registry/codec.h"

namespace crescent {

CRESCENT_CODEC(float);

/// An integer type other than int64_t, such as size_t.
template <std::integral T>
struct Codec<T> {
  static T decode(const Value& value) {
    const int64_t number = value.as_int();
    if (std::in_range<T>(number)) return static_cast<T>(number);
    if (std::is_unsigned_v<T> && number < 0) fail("expected at least 0, got ", number);
    fail("expected an integer of ", 8 * sizeof(T), " bits, got ", number);
  }
  static Value encode(const T& member) {
    if (!std::in_range<int64_t>(member)) fail("expected an integer of 63 bits, got ", member);
    return static_cast<int64_t>(member);
  }
  static std::string type() { return Codec<int64_t>::type(); }
};

/// The names of the values of an enumeration, in the order in which help lists them.
template <class E>
using EnumNames = std::vector<std::pair<std::string, E>>;

/// An enumeration with an enum_names() function.
template <class E>
requires std::is_enum_v<E> && requires(E e) { EnumNames<E>(enum_names(e)); }
struct Codec<E> {
  static E decode(const Value& value) {
    const std::string& text = value.as_string();
    for (const auto& [name, member] : enum_names(E{}))
      if (name == text) return member;
    fail("must be ", type(), ", got '", text, "'");
  }
  static Value encode(const E& member) {
    for (const auto& [name, named] : enum_names(E{}))
      if (named == member) return name;
    fail("expected a value with a name, got ", static_cast<std::underlying_type_t<E>>(member));
  }
  static std::string type() { return concat("one of ", join(choices())); }

 private:
  static std::vector<std::string> choices() {
    std::vector<std::string> names;
    for (const auto& [name, member] : enum_names(E{})) names.push_back("'" + name + "'");
    return names;
  }
};

/// A list of two values.
template <class A, class B>
struct Codec<std::pair<A, B>> {
  static std::pair<A, B> decode(const Value& value) {
    if (!value.is_list() || value.as_list().size() != 2) fail("expected ", type(), ", got ", value);
    return {Codec<A>::decode(value.as_list()[0]), Codec<B>::decode(value.as_list()[1])};
  }
  static Value encode(const std::pair<A, B>& member) {
    return List{Codec<A>::encode(member.first), Codec<B>::encode(member.second)};
  }
  static std::string type() {
    return concat("a list of two, ", Codec<A>::type(), " and ", Codec<B>::type());
  }
};

/// A dictionary whose values have one type: std::map or std::unordered_map.
template <class Map>
requires std::same_as<typename Map::key_type, std::string>
struct Codec<Map> {
  using Item = typename Map::mapped_type;
  static Map decode(const Value& value) {
    Map items;
    for (const DictEntry& entry : Codec<Dict>::decode(value))
      items.emplace(entry.key, Codec<Item>::decode(entry.value));
    return items;
  }
  static Value encode(const Map& member) {
    Dict dict;
    for (const auto& [name, item] : member) dict.set(name, Codec<Item>::encode(item));
    return dict;
  }
  static std::string type() { return concat("a dictionary, each value ", Codec<Item>::type()); }
};

}  // namespace crescent
