#include "crescent/schema.h"

#include <algorithm>

namespace crescent {

FieldAccess::~FieldAccess() = default;

Field::Field() = default;
Field::Field(const Field&) = default;
Field::Field(Field&&) noexcept = default;
Field& Field::operator=(const Field&) = default;
Field& Field::operator=(Field&&) noexcept = default;
Field::~Field() = default;

SchemaData::SchemaData() = default;
SchemaData::SchemaData(const SchemaData&) = default;
SchemaData::SchemaData(SchemaData&&) noexcept = default;
SchemaData& SchemaData::operator=(const SchemaData&) = default;
SchemaData& SchemaData::operator=(SchemaData&&) noexcept = default;
SchemaData::~SchemaData() = default;

#define CRESCENT_DEFINE(Type) template MemberType MemberType::of<Type>();
CRESCENT_COMMON_MEMBER_TYPES(CRESCENT_DEFINE)
#undef CRESCENT_DEFINE

SchemaBuilder::SchemaBuilder(std::string title) { data_.title = std::move(title); }

void SchemaBuilder::add(std::string_view name, std::string_view doc, const MemberType& type,
                        std::ptrdiff_t offset, const void* object) {
  Field field;
  field.name = name;
  field.doc = doc;
  field.type = type.type();
  field.keyword_only = keyword_only_;
  field.access = type.access(offset);
  if (object) field.default_value = type.default_value(static_cast<const char*>(object) + offset);
  data_.fields.push_back(std::move(field));
}

void SchemaBuilder::set_required() {
  last().required = true;
  last().default_value = Value();
}

void SchemaBuilder::set_choices(std::initializer_list<const char*> texts) {
  last().choices.assign(texts.begin(), texts.end());
}
void SchemaBuilder::add_alias(std::string_view name) { last().aliases.emplace_back(name); }

namespace {

std::string quoted(std::span<const std::string> texts) {
  std::vector<std::string> words;
  for (const std::string& text : texts) words.push_back("'" + text + "'");
  return join(words);
}

void check_range(const Field& field, const Value& value) {
  if (!value.is_number() || (!field.min && !field.max)) return;
  const double x = value.as_float();
  const bool inside = (!field.min || x >= *field.min) && (!field.max || x <= *field.max);
  if (inside) return;
  if (field.min && field.max)
    fail("must be between ", *field.min, " and ", *field.max, ", got ", value);
  fail("must be at ", field.min ? "least " : "most ", field.min ? *field.min : *field.max, ", got ",
       value);
}

void check_choice(const Field& field, const Value& value) {
  if (!value.is_string() || field.choices.empty()) return;
  const std::string& text = value.as_string();
  if (std::find(field.choices.begin(), field.choices.end(), text) != field.choices.end()) return;
  fail("must be one of ", quoted(field.choices), ", got '", text, "'",
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

}  // namespace

/// A class may declare an option that its base has too (Embedding's input_dim): the later one
/// counts.
const Field* SchemaData::find(std::string_view name) const {
  for (auto field = fields.rbegin(); field != fields.rend(); ++field)
    if (field->name == name) return &*field;
  for (const Field& field : fields)
    if (std::find(field.aliases.begin(), field.aliases.end(), name) != field.aliases.end())
      return &field;
  return nullptr;
}

std::vector<std::string> SchemaData::names() const {
  std::vector<std::string> names;
  for (const Field& field : fields) names.push_back(field.name);
  return names;
}

void SchemaData::set(void* object, const Field& field, const Value& value) const {
  try {
    check(field, value);
  } catch (const Error& error) {
    fail(title, ": option '", field.name, "' ", error.what());
  }
  try {
    field.access->set(object, value);
  } catch (const Interrupted&) {
    throw;
  } catch (Error& error) {
    error.add_context(concat(title, ": option '", field.name, "': "));
    throw;
  }
}

void SchemaData::configure(void* object, const Dict& options) const {
  std::vector<const Field*> given;
  for (const DictEntry& option : options) {
    const Field* field = find(option.key);
    if (!field)
      fail(title, ": no option '", option.key, "'",
           did_you_mean(option.key, names_and_aliases(fields)));
    if (std::find(given.begin(), given.end(), field) != given.end())
      fail(title, ": option '", field->name, "' is given twice, once as '", option.key, "'");
    given.push_back(field);
    set(object, *field, option.value);
  }
  for (const Field& field : fields)
    if (field.required && std::find(given.begin(), given.end(), &field) == given.end())
      fail(title, ": missing required option '", field.name, "'");
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
  std::vector<const Field*> places;
  for (const Field& field : fields)
    if (!field.keyword_only) places.push_back(&field);
  if (positional.size() > places.size()) {
    std::vector<std::string> names;
    for (const Field* field : places) names.push_back(field->name);
    fail(title, ": expected at most ", places.size(), " options by position (", join(names),
         "), got ", positional.size());
  }
  std::vector<DictEntry> entries;
  for (size_t i = 0; i < positional.size(); ++i)
    entries.push_back({places[i]->name, positional[i]});
  for (const DictEntry& option : keywords) {
    const auto last = places.begin() + positional.size();
    if (std::find(places.begin(), last, find(option.key)) != last)
      fail(title, ": option '", option.key, "' is given twice, by position and by name");
    entries.push_back(option);
  }
  return Dict::from(std::move(entries));
}

}  // namespace crescent
