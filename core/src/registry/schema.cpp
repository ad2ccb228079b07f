#include "crescent/registry/schema.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "base/text.h"

namespace crescent {

FieldAccess::~FieldAccess() = default;
MethodAccess::~MethodAccess() = default;

Field::Field() = default;
Field::Field(const Field&) = default;
Field::Field(Field&&) noexcept = default;
Field& Field::operator=(const Field&) = default;
Field& Field::operator=(Field&&) noexcept = default;
Field::~Field() = default;

Method::Method() = default;
Method::Method(const Method&) = default;
Method::Method(Method&&) noexcept = default;
Method& Method::operator=(const Method&) = default;
Method& Method::operator=(Method&&) noexcept = default;
Method::~Method() = default;

SchemaData::SchemaData() = default;
SchemaData::SchemaData(const SchemaData&) = default;
SchemaData::SchemaData(SchemaData&&) noexcept = default;
SchemaData& SchemaData::operator=(const SchemaData&) = default;
SchemaData& SchemaData::operator=(SchemaData&&) noexcept = default;
SchemaData::~SchemaData() = default;

// ---- building a schema

#define CRESCENT_DEFINE(Type) template MemberType MemberType::of<Type>();
CRESCENT_COMMON_MEMBER_TYPES(CRESCENT_DEFINE)
#undef CRESCENT_DEFINE

SchemaBuilder::SchemaBuilder(std::string title) { data_.title = std::move(title); }
SchemaBuilder::~SchemaBuilder() = default;

namespace {

Field field_of(const MemberType& type) {
  Field field;
  field.type = type.type();
  field.kind = type.kind;
  field.takes_dict = type.takes_dict;
  field.is_list = type.takes_list;
  return field;
}

/// Appends a field with this name and documentation; returns its address.
Field* append(std::vector<Field>& fields, Field field, std::string_view name,
              std::string_view doc) {
  field.name = name;
  field.doc = doc;
  fields.push_back(std::move(field));
  return &fields.back();
}

}  // namespace

void SchemaBuilder::begin_base(SchemaBuilder& whole, std::ptrdiff_t origin) {
  data_ = std::move(whole.data_);
  keyword_only_ = whole.keyword_only_;
  origin_ = whole.origin_ + origin;
}

void SchemaBuilder::end_base(SchemaBuilder& whole) {
  whole.data_ = std::move(data_);
  whole.last_ = last_;
}

/// Adds a field. A class may declare an option that its base class has declared, as Embedding does
/// with input_dim; the new declaration replaces that of the base class.
void SchemaBuilder::add(std::string_view name, std::string_view doc, const MemberType& type,
                        std::ptrdiff_t offset, const void* object) {
  Field field = field_of(type);
  field.keyword_only = keyword_only_;
  field.access = type.access(origin_ + offset);
  if (object) field.default_value = type.default_value(static_cast<const char*>(object) + offset);
  std::erase_if(data_.fields, [&](const Field& declared_field) {
    if (declared_field.name == name && !declared_field.keyword_only)
      fail(data_.title, ": option '", name, "' is declared twice");
    return declared_field.name == name;  // removes the declaration of the base class
  });
  last_ = append(data_.fields, std::move(field), name, doc);
}

void SchemaBuilder::add_property(std::string_view name, std::string_view doc,
                                 const MemberType& type, std::unique_ptr<const FieldAccess> access,
                                 bool read_only) {
  if (origin_ != 0)
    fail(data_.title, ": property '", name, "' belongs to a base within the object");
  Field property = field_of(type);
  property.access = std::move(access);
  property.read_only = read_only;
  last_ = append(data_.properties, std::move(property), name, doc);
}

void SchemaBuilder::add_method(std::string_view name, std::string_view doc, std::string result,
                               std::unique_ptr<const MethodAccess> access) {
  if (origin_ != 0) fail(data_.title, ": method '", name, "' belongs to a base within the object");
  Method method;
  method.name = name;
  method.result = std::move(result);
  method.access = std::move(access);
  method.parameters.title = concat(data_.title, data_.title.empty() ? "" : ".", name);
  method.parameters.description = doc;
  method.parameters.word = "argument";
  data_.methods.push_back(std::move(method));
}

void SchemaBuilder::add_parameter(const MemberType& type, std::ptrdiff_t offset) {
  Field parameter = field_of(type);
  parameter.required = true;
  parameter.access = type.access(offset);
  data_.methods.back().parameters.fields.push_back(std::move(parameter));
}

void SchemaBuilder::name_parameter(std::string_view name, std::string_view doc,
                                   const Value* default_value) {
  assert(!data_.methods.empty());
  SchemaData& parameters = data_.methods.back().parameters;
  auto next_field = std::find_if(parameters.fields.begin(), parameters.fields.end(),
                                 [](const Field& field) { return field.name.empty(); });
  if (next_field == parameters.fields.end())
    fail(parameters.title, ": argument '", name, "' is one more than the method takes");
  next_field->name = name;
  next_field->doc = doc;
  next_field->required = !default_value;
  if (default_value) next_field->default_value = *default_value;
  last_ = &*next_field;
}

void SchemaBuilder::set_required() {
  last().required = true;
  last().default_value = Value();
}

void SchemaBuilder::set_choices(std::initializer_list<const char*> texts) {
  last().choices.assign(texts.begin(), texts.end());
}
void SchemaBuilder::add_alias(std::string_view name) { last().aliases.emplace_back(name); }

// ---- checks

namespace {

std::string quoted_list(std::span<const std::string> texts) {
  std::vector<std::string> words;
  for (const std::string& text : texts) words.push_back("'" + text + "'");
  return join(words);
}

void check_range(const Field& field, const Value& value) {
  if (!value.is_number() || (!field.min && !field.max)) return;
  const double x = value.as_float();
  const bool is_in_range = (!field.min || x >= *field.min) && (!field.max || x <= *field.max);
  if (is_in_range) return;
  if (field.min && field.max)
    fail("must be between ", *field.min, " and ", *field.max, ", got ", value);
  fail("must be at ", field.min ? "least " : "most ", field.min ? *field.min : *field.max, ", got ",
       value);
}

void check_choice(const Field& field, const Value& value) {
  if (!value.is_string() || field.choices.empty()) return;
  const std::string& text = value.as_string();
  if (std::find(field.choices.begin(), field.choices.end(), text) != field.choices.end()) return;
  fail("must be one of ", quoted_list(field.choices), ", got '", text, "'",
       did_you_mean(text, field.choices));
}

void check(const Field& field, const Value& value) {
  static const List kNoItems;
  check_range(field, value);
  check_choice(field, value);
  for (const Value& item : value.is_list() ? value.as_list() : kNoItems) {
    check_range(field, item);
    check_choice(field, item);
  }
}

std::vector<std::string> names_and_aliases(const std::vector<Field>& fields) {
  std::vector<std::string> names;
  for (const Field& field : fields) {
    names.push_back(field.name);
    names.insert(names.end(), field.aliases.begin(), field.aliases.end());
  }
  return names;
}

/// Returns the value of a field; for a field that takes objects, false becomes null, because tables
/// of Lua cannot hold nil.
Value object_or_null(const Field& field, const Value& value) {
  const bool is_false = !field.kind.empty() && value.is_bool() && !value.as_bool();
  return is_false ? Value() : value;
}

/// Returns the value of an option whose choices Keras compares without regard to case, in lower
/// case if that makes it one of the choices; other values unchanged.
Value in_case_of_choices(const Field& field, const Value& value) {
  static constexpr std::array<std::string_view, 3> kCaselessOptions{"padding", "data_format",
                                                                    "distribution"};
  if (!value.is_string() || std::find(kCaselessOptions.begin(), kCaselessOptions.end(),
                                      field.name) == kCaselessOptions.end())
    return value;
  std::string lower_text = lower_case(value.as_string());
  const bool is_choice =
      std::find(field.choices.begin(), field.choices.end(), lower_text) != field.choices.end();
  return is_choice ? Value(std::move(lower_text)) : value;
}

/// Checks the value and sets the field; errors call the field `word`, such as "option".
void check_and_set(void* object, const std::string& title, const char* word, const Field& field,
                   const Value& given) {
  const Value value = in_case_of_choices(field, given);
  try {
    check(field, value);
  } catch (const Error& error) {
    fail(title, ": ", word, " '", field.name, "' ", error.what());
  }
  try {
    field.access->set(object, object_or_null(field, value));
  } catch (const Interrupted&) {
    throw;
  } catch (Error& error) {
    error.add_context(concat(title, ": ", word, " '", field.name, "': "));
    throw;
  }
}

template <class Item>
const Item* find_last(const std::vector<Item>& items, std::string_view name) {
  for (auto item = items.rbegin(); item != items.rend(); ++item)
    if (item->name == name) return &*item;
  return nullptr;
}

}  // namespace

const Field* SchemaData::find(std::string_view name) const {
  if (const Field* field = find_last(fields, name)) return field;
  for (const Field& field : fields)
    if (std::find(field.aliases.begin(), field.aliases.end(), name) != field.aliases.end())
      return &field;
  return nullptr;
}

const Method* SchemaData::find_method(std::string_view name) const {
  return find_last(methods, name);
}
const Field* SchemaData::find_property(std::string_view name) const {
  return find_last(properties, name);
}

std::vector<std::string> SchemaData::names() const {
  std::vector<std::string> names;
  for (const Field& field : fields) names.push_back(field.name);
  return names;
}

void SchemaData::set(void* object, const Field& field, const Value& value) const {
  check_and_set(object, title, word, field, value);
}

void SchemaData::set_property(void* object, const Field& property, const Value& value) const {
  if (property.read_only) fail(title, ": '", property.name, "' cannot be set");
  check_and_set(object, title, "property", property, value);
}

Signature Method::signature() const {
  Signature signature;
  signature.name = name;
  signature.doc = parameters.description;
  signature.result = result.empty() ? "nothing" : result;
  signature.parameters.assign(parameters.fields.begin(), parameters.fields.end());
  return signature;
}

void Method::fill(void* frame, const Dict& arguments) const {
  parameters.configure(frame, arguments);
  for (const Field& parameter : parameters.fields) {
    const bool is_given = std::any_of(
        arguments.begin(), arguments.end(),
        [&](const DictEntry& argument) { return parameters.find(argument.key) == &parameter; });
    if (!is_given && !parameter.default_value.is_null())
      parameters.set(frame, parameter, parameter.default_value);
  }
}

namespace {

/// Returns a hint about an option that does not exist: the most similar name or, if none is
/// similar, the names of the options that can be given by position, unless these are many.
std::string hint_for(const std::string& name, const std::vector<Field>& fields) {
  std::vector<std::string> positional_names;
  for (const Field& field : fields)
    if (!field.keyword_only) positional_names.push_back(field.name);
  return options_hint(name, names_and_aliases(fields), positional_names);
}

}  // namespace

void SchemaData::configure(void* object, const Dict& options) const {
  std::vector<const Field*> given_fields;
  for (const DictEntry& option : options) {
    const Field* field = find(option.key);
    if (!field) fail(title, ": no ", word, " '", option.key, "'", hint_for(option.key, fields));
    if (std::find(given_fields.begin(), given_fields.end(), field) != given_fields.end())
      fail(title, ": ", word, " '", field->name, "' is given twice, once as '", option.key, "'");
    given_fields.push_back(field);
    set(object, *field, option.value);
  }
  for (const Field& field : fields)
    if (field.required &&
        std::find(given_fields.begin(), given_fields.end(), &field) == given_fields.end())
      fail(title, ": missing required ", word, " '", field.name, "'");
}

Dict SchemaData::read(const void* object) const {
  std::vector<DictEntry> entries;
  for (const Field& field : fields) {
    if (!field.stored) continue;
    Value value = field.access->get(object);
    if (!(field.omit_null && value.is_null())) entries.push_back({field.name, std::move(value)});
  }
  return Dict::from(std::move(entries));
}

Dict SchemaData::by_name(const List& positional, const Dict& keywords) const {
  std::vector<const Field*> positional_fields;
  for (const Field& field : fields)
    if (!field.keyword_only) positional_fields.push_back(&field);
  if (positional.size() > positional_fields.size()) {
    std::vector<std::string> names;
    for (const Field* field : positional_fields) names.push_back(field->name);
    if (names.empty())
      fail(title, ": expected no ", word, "s by position, got ", positional.size());
    fail(title, ": expected at most ", names.size(), " ", word, names.size() == 1 ? "" : "s",
         " by position (", join(names), "), got ", positional.size());
  }
  std::vector<DictEntry> entries;
  for (size_t i = 0; i < positional.size(); ++i)
    entries.push_back({positional_fields[i]->name, positional[i]});
  for (const DictEntry& option : keywords) {
    const auto positional_end = positional_fields.begin() + positional.size();
    if (std::find(positional_fields.begin(), positional_end, find(option.key)) != positional_end)
      fail(title, ": ", word, " '", option.key, "' is given twice, by position and by name");
    entries.push_back(option);
  }
  return Dict::from(std::move(entries));
}

}  // namespace crescent
