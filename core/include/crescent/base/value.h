// Value: the type of configurations, options and metadata in files. A Value is null, bool, int,
// float, string, list, dict (in insertion order), or a shared Object (an initializer given as an
// object, a callback, ...).
//
//   Dict config{{"units", 10}, {"activation", "relu"}};
//   std::string text = to_json(config);          // {"units": 10, "activation": "relu"}
//   Value again = parse_json(text);
#pragma once
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "crescent/base/error.h"

namespace crescent {

/// Base class of everything that a Value holds by reference: layers, losses, callbacks, boxed
/// tensors.
class CRESCENT_API Object : public std::enable_shared_from_this<Object> {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object();
  /// Name of the class as users write it: "Dense", "Adam".
  virtual std::string class_name() const = 0;
};

class Value;
struct DictEntry;
using List = std::vector<Value>;

/// An insertion-ordered map from string to Value. Lookup is linear: configurations are small.
class CRESCENT_API Dict {
 public:
  Dict();
  Dict(std::initializer_list<DictEntry> entries);
  /// Makes a dictionary of the entries in linear time; their keys must be distinct.
  static Dict from(std::vector<DictEntry> entries);
  Dict(const Dict&);
  Dict(Dict&&) noexcept;
  Dict& operator=(const Dict&);
  Dict& operator=(Dict&&) noexcept;
  ~Dict();

  size_t size() const;
  bool empty() const { return size() == 0; }
  /// Returns a null pointer when the key is absent.
  const Value* find(std::string_view key) const;
  Value* find(std::string_view key);
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  /// Fails with an error that names the key when it is absent.
  const Value& at(std::string_view key) const;
  /// Inserts a null when the key is absent.
  Value& operator[](std::string_view key);
  void set(std::string_view key, Value value);
  bool erase(std::string_view key);
  std::vector<std::string> keys() const;

  const DictEntry* begin() const;
  const DictEntry* end() const;
  DictEntry* begin();
  DictEntry* end();

 private:
  std::vector<DictEntry> entries_;
};

/// A null, boolean, number, text, list, dictionary or object. The copy and move members and the
/// destructor are defined in core, as they are in other types that describe options (Field,
/// ClassInfo, ...); inline, they would make up most of a plugin's code and compile time.
class CRESCENT_API Value {
 public:
  enum class Kind : uint8_t { null, boolean, integer, real, string, list, dict, object };

  Value() noexcept;
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();
  Value(std::nullptr_t);
  Value(bool b);
  Value(int64_t n);
  template <std::integral T>
  Value(T n) : Value(static_cast<int64_t>(n)) {}
  Value(double x);
  Value(const char* s);
  Value(std::string s);
  Value(std::string_view s);
  Value(List list);
  Value(Dict dict);
  Value(std::shared_ptr<Object> object);  ///< a null pointer gives a null Value
  template <std::derived_from<Object> T>
  Value(std::shared_ptr<T> object) : Value(std::shared_ptr<Object>(std::move(object))) {}
  template <class T>
  requires(!std::same_as<T, Value> && std::convertible_to<const T&, Value>)
      Value(const std::vector<T>& items)
      : Value(List(items.begin(), items.end())) {}

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is_null() const { return kind() == Kind::null; }
  bool is_bool() const { return kind() == Kind::boolean; }
  bool is_int() const { return kind() == Kind::integer; }
  bool is_float() const { return kind() == Kind::real; }
  bool is_number() const { return is_int() || is_float(); }
  bool is_string() const { return kind() == Kind::string; }
  bool is_list() const { return kind() == Kind::list; }
  bool is_dict() const { return kind() == Kind::dict; }
  bool is_object() const { return kind() == Kind::object; }

  // If the value is of another kind, each of these functions fails with a message such as: expected
  // an integer, got "ten".
  bool as_bool() const;
  int64_t as_int() const;   ///< accepts a float without fraction too
  double as_float() const;  ///< accepts an integer too
  const std::string& as_string() const;
  const List& as_list() const;
  List& as_list();
  const Dict& as_dict() const;
  Dict& as_dict();
  const std::shared_ptr<Object>& as_object() const;
  /// The object cast to T, or null when the value is not an object of type T.
  template <class T>
  std::shared_ptr<T> object_as() const {
    return is_object() ? std::dynamic_pointer_cast<T>(as_object()) : nullptr;
  }

  /// Deep equality; 1 and 1.0 differ, objects are equal by identity.
  bool operator==(const Value& other) const;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, List, Dict,
               std::shared_ptr<Object>>
      data_;
};

struct DictEntry {
  std::string key;
  Value value;
};
CRESCENT_API bool operator==(const Dict& a, const Dict& b);

/// The name of a kind for messages: "an integer", "a string", ...
CRESCENT_API std::string describe_kind(Value::Kind kind);
/// Text for messages: JSON cut at 60 characters, with objects written as <Dense>.
CRESCENT_API std::string to_text(const Value& value);

/// Writes what Python's json.dumps writes: separators ", " and ": ", floats as Python's repr,
/// escaped non-ASCII, bare NaN and Infinity. A negative `indent` gives one line. Fails on an
/// Object.
CRESCENT_API std::string to_json(const Value& value, int indent = -1);
/// Parses what Python writes (with bare NaN, Infinity, -Infinity). Refuses nesting deeper than
/// 1000, duplicate keys and trailing text; errors name line and column.
CRESCENT_API Value parse_json(std::string_view text);

}  // namespace crescent
