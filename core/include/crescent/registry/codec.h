// Conversion between values and the C++ types of options, arguments and properties.
//
// This header has the plain types; other headers add Shape, DType, Tensor, Variable, Ref<T> and
// objects. To support another type, write CRESCENT_CODEC(MyType) and define the three functions
// that it declares.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "crescent/base/value.h"

namespace crescent {

/// Converts a member variable of type T to a Value and back. decode() fails with "expected ..., got
/// ...". A Codec may also have encode_default(member), which encodes the initial value for help
/// without loading a plugin.
template <class T>
struct Codec;

#define CRESCENT_CODEC(Type)                      \
  template <>                                     \
  struct CRESCENT_API Codec<Type> {               \
    static Type decode(const Value& value);       \
    static Value encode(const Type& member);      \
    static std::string type(); /* "an integer" */ \
  }
CRESCENT_CODEC(bool);
CRESCENT_CODEC(int);
CRESCENT_CODEC(int64_t);
CRESCENT_CODEC(double);
CRESCENT_CODEC(std::string);
CRESCENT_CODEC(Value);  // decodes any value
CRESCENT_CODEC(Dict);
CRESCENT_CODEC(std::vector<int64_t>);  // a single integer gives a list of one
CRESCENT_CODEC(std::vector<double>);   // a single number gives a list of one
CRESCENT_CODEC(std::vector<std::string>);

/// A list; a value that is no list counts as a list of one item.
template <class T>
struct Codec<std::vector<T>> {
  static std::vector<T> decode(const Value& value) {
    std::vector<T> items;
    if (!value.is_list()) return items.push_back(Codec<T>::decode(value)), items;
    for (const Value& item : value.as_list()) items.push_back(Codec<T>::decode(item));
    return items;
  }
  static Value encode(const std::vector<T>& member) {
    List list;
    for (const T& item : member) list.push_back(Codec<T>::encode(item));
    return list;
  }
  static std::string type() { return concat(Codec<T>::type(), " or a list of them"); }
};

/// An optional value; null decodes to nullopt.
template <class T>
struct Codec<std::optional<T>> {
  /// Decodes null as nullopt; false, too, unless T may be false, since Lua has no null in tables.
  static std::optional<T> decode(const Value& value) {
    constexpr bool may_be_false = std::is_same_v<T, bool> || std::is_same_v<T, Value>;
    const bool is_absent = value.is_null() || (!may_be_false && value == Value(false));
    return is_absent ? std::nullopt : std::optional<T>(Codec<T>::decode(value));
  }
  static Value encode(const std::optional<T>& member) {
    return member ? Codec<T>::encode(*member) : Value();
  }
  static std::string type() { return Codec<T>::type() + " or null"; }
};

/// Reads and writes an option or a property in an object of the described class.
class CRESCENT_API FieldAccess {
 public:
  virtual ~FieldAccess();
  virtual Value get(const void* object) const = 0;
  virtual void set(void* object, const Value& value) const = 0;
};

/// Reads and writes a member of type Member at an offset in bytes from the described object. This
/// template does not depend on the described class, so all classes with members of this type share
/// its code.
template <class Member>
class MemberAccess final : public FieldAccess {
 public:
  explicit MemberAccess(std::ptrdiff_t offset) : offset_(offset) {}
  Value get(const void* object) const override {
    return Codec<Member>::encode(
        *reinterpret_cast<const Member*>(static_cast<const char*>(object) + offset_));
  }
  void set(void* object, const Value& value) const override {
    *reinterpret_cast<Member*>(static_cast<char*>(object) + offset_) = Codec<Member>::decode(value);
  }

 private:
  std::ptrdiff_t offset_;
};

template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;

/// The functions that read, write and describe options that are stored in members of one type, such
/// as int64_t. The functions for common types are compiled in core.
struct MemberType {
  std::string (*type)();
  const char* kind;
  bool takes_dict, takes_list;
  std::unique_ptr<const FieldAccess> (*access)(std::ptrdiff_t offset);
  Value (*default_value)(const void* member);

  template <class Member>
  static MemberType of() {
    return {&Codec<Member>::type,
            kind_of<Member>(),
            std::is_same_v<Member, Value> || std::is_same_v<Member, Dict>,
            kIsVector<Member>,
            [](std::ptrdiff_t offset) {
              return std::unique_ptr<const FieldAccess>(new MemberAccess<Member>(offset));
            },
            [](const void* member) -> Value {
              const Member& initial = *static_cast<const Member*>(member);
              if constexpr (requires { Codec<Member>::encode_default(initial); })
                return Codec<Member>::encode_default(initial);
              else
                return Codec<Member>::encode(initial);
            }};
  }

 private:
  template <class Member>
  static constexpr const char* kind_of() {
    if constexpr (requires { Codec<Member>::kKind; })
      return Codec<Member>::kKind;
    else
      return "";
  }
};
#define CRESCENT_COMMON_MEMBER_TYPES(declare)                                                      \
  declare(bool) declare(int64_t) declare(double) declare(std::string) declare(Value) declare(Dict) \
      declare(std::vector<int64_t>) declare(std::vector<double>) declare(std::vector<std::string>) \
          declare(std::optional<int64_t>) declare(std::optional<double>)                           \
              declare(std::optional<std::string>)
#define CRESCENT_DECLARE(Type) extern template CRESCENT_API MemberType MemberType::of<Type>();
CRESCENT_COMMON_MEMBER_TYPES(CRESCENT_DECLARE)
#undef CRESCENT_DECLARE

}  // namespace crescent
