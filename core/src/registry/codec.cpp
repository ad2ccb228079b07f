// Codecs of the plain types of options.
#include "crescent/registry/codec.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "crescent/registry/option_types.h"

namespace crescent {
namespace {

/// Decodes a list; a value that is not a list becomes a list of one item.
template <class T>
std::vector<T> decode_list(const Value& value) {
  const bool is_single_value = value.is_number() || value.is_string();
  if (!is_single_value && !value.is_list())
    fail("expected ", Codec<std::vector<T>>::type(), ", got ", value);
  if (is_single_value) return {Codec<T>::decode(value)};
  std::vector<T> items;
  for (const Value& item : value.as_list()) items.push_back(Codec<T>::decode(item));
  return items;
}

}  // namespace

bool Codec<bool>::decode(const Value& value) { return value.as_bool(); }
Value Codec<bool>::encode(const bool& member) { return member; }
std::string Codec<bool>::type() { return "a boolean"; }

int Codec<int>::decode(const Value& value) {
  const int64_t number = value.as_int();
  if (!std::in_range<int>(number)) fail("expected an integer of 32 bits, got ", number);
  return static_cast<int>(number);
}
Value Codec<int>::encode(const int& member) { return member; }
std::string Codec<int>::type() { return Codec<int64_t>::type(); }

int64_t Codec<int64_t>::decode(const Value& value) { return value.as_int(); }
Value Codec<int64_t>::encode(const int64_t& member) { return member; }
std::string Codec<int64_t>::type() { return "an integer"; }

double Codec<double>::decode(const Value& value) { return value.as_float(); }
Value Codec<double>::encode(const double& member) { return member; }
std::string Codec<double>::type() { return "a number"; }

float Codec<float>::decode(const Value& value) {
  const double number = value.as_float();
  if (std::isfinite(number) && std::abs(number) > std::numeric_limits<float>::max())
    fail("expected a number of 32 bits, got ", number);
  return static_cast<float>(number);
}
/// The double that has the same shortest decimal text as the float: 0.1, not 0.10000000149011612.
Value Codec<float>::encode(const float& member) {
  if (!std::isfinite(member)) return static_cast<double>(member);
  char text[32];
  const char* end = std::to_chars(text, text + sizeof text, member).ptr;
  double number = 0;
  std::from_chars(text, end, number);
  return number;
}
std::string Codec<float>::type() { return Codec<double>::type(); }

std::string Codec<std::string>::decode(const Value& value) { return value.as_string(); }
Value Codec<std::string>::encode(const std::string& member) { return member; }
std::string Codec<std::string>::type() { return "a string"; }

Value Codec<Value>::decode(const Value& value) { return value; }
Value Codec<Value>::encode(const Value& member) { return member; }
std::string Codec<Value>::type() { return "anything"; }

Dict Codec<Dict>::decode(const Value& value) {
  // In Lua, {} is both the empty list and the empty dictionary.
  const bool is_empty_list = value.is_list() && value.as_list().empty();
  return is_empty_list ? Dict() : value.as_dict();
}
Value Codec<Dict>::encode(const Dict& member) { return member; }
std::string Codec<Dict>::type() { return "a dictionary"; }

std::vector<int64_t> Codec<std::vector<int64_t>>::decode(const Value& value) {
  return decode_list<int64_t>(value);
}
Value Codec<std::vector<int64_t>>::encode(const std::vector<int64_t>& member) { return member; }
std::string Codec<std::vector<int64_t>>::type() { return "an integer or a list of integers"; }

std::vector<double> Codec<std::vector<double>>::decode(const Value& value) {
  return decode_list<double>(value);
}
Value Codec<std::vector<double>>::encode(const std::vector<double>& member) { return member; }
std::string Codec<std::vector<double>>::type() { return "a number or a list of numbers"; }

std::vector<std::string> Codec<std::vector<std::string>>::decode(const Value& value) {
  return decode_list<std::string>(value);
}
Value Codec<std::vector<std::string>>::encode(const std::vector<std::string>& member) {
  return member;
}
std::string Codec<std::vector<std::string>>::type() { return "a string or a list of strings"; }

}  // namespace crescent
