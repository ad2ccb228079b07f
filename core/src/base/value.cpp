#include "crescent/base/value.h"

#include <algorithm>
#include <cmath>

namespace crescent {

Object::~Object() = default;

// ---- Dict

Dict::Dict() = default;
Dict::Dict(const Dict&) = default;
Dict::Dict(Dict&&) noexcept = default;
Dict& Dict::operator=(const Dict&) = default;
Dict& Dict::operator=(Dict&&) noexcept = default;
Dict::~Dict() = default;

Dict::Dict(std::initializer_list<DictEntry> entries) {
  for (const DictEntry& entry : entries) set(entry.key, entry.value);
}

Dict Dict::from(std::vector<DictEntry> entries) {
  Dict dict;
  dict.entries_ = std::move(entries);
  return dict;
}

size_t Dict::size() const { return entries_.size(); }

const Value* Dict::find(std::string_view key) const {
  for (const DictEntry& entry : entries_)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

Value* Dict::find(std::string_view key) {
  return const_cast<Value*>(std::as_const(*this).find(key));
}

const Value& Dict::at(std::string_view key) const {
  if (const Value* value = find(key)) return *value;
  std::vector<std::string> known_keys = keys();
  fail("no entry '", key, "'", did_you_mean(key, known_keys),
       "; there is: ", known_keys.empty() ? "nothing" : join(known_keys));
}

Value& Dict::operator[](std::string_view key) {
  if (Value* value = find(key)) return *value;
  return entries_.emplace_back(DictEntry{std::string(key), Value()}).value;
}

void Dict::set(std::string_view key, Value value) { (*this)[key] = std::move(value); }

bool Dict::erase(std::string_view key) {
  return std::erase_if(entries_, [&](const DictEntry& entry) { return entry.key == key; }) > 0;
}

std::vector<std::string> Dict::keys() const {
  std::vector<std::string> keys;
  for (const DictEntry& entry : entries_) keys.push_back(entry.key);
  return keys;
}

const DictEntry* Dict::begin() const { return entries_.data(); }
const DictEntry* Dict::end() const { return entries_.data() + entries_.size(); }
DictEntry* Dict::begin() { return entries_.data(); }
DictEntry* Dict::end() { return entries_.data() + entries_.size(); }

bool operator==(const Dict& a, const Dict& b) {
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const DictEntry& entry) {
           const Value* other_value = b.find(entry.key);
           return other_value && *other_value == entry.value;
         });
}

// ---- Value

Value::Value() noexcept = default;
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
// Assignment copies or moves `other` out first, because `other` may be an element of the list or
// dictionary that this value holds and that the assignment destroys.
Value& Value::operator=(const Value& other) { return *this = Value(other); }
Value& Value::operator=(Value&& other) noexcept {
  auto moved_data = std::move(other.data_);
  data_ = std::move(moved_data);
  return *this;
}
Value::~Value() = default;

Value::Value(std::nullptr_t) {}
Value::Value(bool b) : data_(b) {}
Value::Value(int64_t n) : data_(n) {}
Value::Value(double x) : data_(x) {}
Value::Value(const char* s) : data_(std::string(s)) {}
Value::Value(std::string s) : data_(std::move(s)) {}
Value::Value(std::string_view s) : data_(std::string(s)) {}
Value::Value(List list) : data_(std::move(list)) {}
Value::Value(Dict dict) : data_(std::move(dict)) {}
Value::Value(std::shared_ptr<Object> object) {
  if (object) data_ = std::move(object);
}

namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

bool is_whole(double x) { return x >= -kTwoTo63 && x < kTwoTo63 && x == std::trunc(x); }

/// Returns the content as T, or fails with a message that says which kind was expected.
template <class T, class Data>
auto& content(Data& data, Value::Kind kind, const Value& value) {
  if (auto* held_value = std::get_if<T>(&data)) return *held_value;
  fail("expected ", describe_kind(kind), ", got ", value);
}

}  // namespace

bool Value::as_bool() const { return content<bool>(data_, Kind::boolean, *this); }

int64_t Value::as_int() const {
  if (auto* x = std::get_if<double>(&data_); x && is_whole(*x)) return static_cast<int64_t>(*x);
  return content<int64_t>(data_, Kind::integer, *this);
}

double Value::as_float() const {
  if (auto* n = std::get_if<int64_t>(&data_)) return static_cast<double>(*n);
  return content<double>(data_, Kind::real, *this);
}

const std::string& Value::as_string() const {
  return content<std::string>(data_, Kind::string, *this);
}
const List& Value::as_list() const { return content<List>(data_, Kind::list, *this); }
List& Value::as_list() { return content<List>(data_, Kind::list, *this); }
const Dict& Value::as_dict() const { return content<Dict>(data_, Kind::dict, *this); }
Dict& Value::as_dict() { return content<Dict>(data_, Kind::dict, *this); }
const std::shared_ptr<Object>& Value::as_object() const {
  return content<std::shared_ptr<Object>>(data_, Kind::object, *this);
}

bool Value::operator==(const Value& other) const { return data_ == other.data_; }

std::string describe_kind(Value::Kind kind) {
  static constexpr const char* kNames[] = {"null",     "a boolean", "an integer",   "a number",
                                           "a string", "a list",    "a dictionary", "an object"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace crescent
