#include "crescent/registry/registry.h"

#include <algorithm>

#include "registry/first_bytes.h"
#include "registry/registry_state.h"

namespace crescent {

Factory::~Factory() = default;

SchemaFactory::SchemaFactory(const SchemaData& schema) : schema_(schema) {}
SchemaFactory::~SchemaFactory() = default;

std::shared_ptr<Configurable> SchemaFactory::make(const Dict& options) const {
  const New new_object = create();
  std::shared_ptr<Configurable> object(new_object.object);
  object->self_ = new_object.self;
  schema_.configure(new_object.self, options);
  return object;
}

ClassInfo::ClassInfo() = default;
ClassInfo::ClassInfo(const ClassInfo&) = default;
ClassInfo::ClassInfo(ClassInfo&&) noexcept = default;
ClassInfo& ClassInfo::operator=(const ClassInfo&) = default;
ClassInfo& ClassInfo::operator=(ClassInfo&&) noexcept = default;
ClassInfo::~ClassInfo() = default;

std::string describe_origin(const ClassInfo& info) {
  if (info.origin == "Lua") return "Lua";
  if (info.plugin.empty()) return "the program";
  return concat("plugin '", info.plugin, "'", info.origin.empty() ? "" : " (" + info.origin + ")");
}

std::vector<std::string> words_of(const ClassInfo& info) {
  std::vector<std::string> words = info.aliases;
  words.insert(words.begin(), info.name);
  return words;
}

void refuse_clash(std::string_view kind, std::string_view word, std::string_view origin) {
  fail(kind, " '", word, "' is there already, from ", origin);
}

// ---- State

ClassInfoPtr Registry::State::find(std::string_view kind, std::string_view word) const {
  std::lock_guard lock(mutex);
  const ClassInfoPtr* info = table.find(kind, word);
  return info ? *info : nullptr;
}

ClassInfoPtr Registry::State::find_exact(std::string_view kind, std::string_view word) const {
  std::lock_guard lock(mutex);
  const ClassInfoPtr* info = table.find_exact(kind, word);
  return info ? *info : nullptr;
}

void Registry::State::insert(ClassInfoPtr info) {
  std::lock_guard lock(mutex);
  table.add(info->kind, info->name, info->aliases, info);
  classes.push_back(std::move(info));
}

void Registry::State::erase(const ClassInfoPtr& info) {
  std::lock_guard lock(mutex);
  table.erase(info->kind, info->name, info);
  std::erase(classes, info);
}

/// Collects words from the tables of registered classes, of the index and of plugins on the search
/// path; `add_words` adds the words of one table to a set.
template <class AddWords>
std::vector<std::string> Registry::State::collect(AddWords add_words) const {
  std::set<std::string> words;
  if (loader)
    add_words(loader->indexed_classes(), words), add_words(*loader->found_classes(), words);
  std::lock_guard lock(mutex);
  add_words(table, words);
  return {words.begin(), words.end()};
}

// ---- Registry

Registry::Registry() : state_(std::make_unique<State>()) {}
Registry::~Registry() = default;

void Registry::add(ClassInfo info) {
  if (info.plugin.empty()) info.plugin = state_->plugin, info.plugin_version = state_->version;
  if (info.origin.empty()) info.origin = state_->origin;
  for (const std::string& word : words_of(info)) {
    if (ClassInfoPtr registered = state_->find_exact(info.kind, word))
      refuse_clash(info.kind, word, describe_origin(*registered));
    if (state_->loader) state_->loader->refuse_indexed(info.kind, word, info.origin);
  }
  state_->insert(std::make_shared<const ClassInfo>(std::move(info)));
}

/// Fails if declarations of the class are missing or occur twice.
static void check_declared(const SchemaData& schema) {
  for (const Method& method : schema.methods) {
    for (const Field& parameter : method.parameters.fields)
      if (parameter.name.empty())
        fail(method.parameters.title, ": the method takes ", method.parameters.fields.size(),
             " arguments; give each a name by arg(name, doc)");
    if (schema.find_property(method.name))
      fail(method.parameters.title, " is declared as a method and as a property");
  }
  if (const Value* signatures = schema.traits.find("signatures"))
    for (const Value& signature : signatures->as_list())
      signature_bytes(signature.as_string(), schema.title);
}

void Registry::add(const char* kind, const SchemaData& schema, std::vector<std::string> aliases,
                   std::unique_ptr<const Factory> factory) {
  check_declared(schema);
  ClassInfo info;
  info.kind = kind;
  info.name = schema.title;
  info.aliases = std::move(aliases);
  info.schema = schema;
  info.factory = std::move(factory);
  add(std::move(info));
}

void Registry::replace(ClassInfo info) {
  std::vector<ClassInfoPtr> replaced_classes;
  for (const std::string& word : words_of(info)) {
    if (state_->loader) state_->loader->refuse_indexed(info.kind, word, info.origin);
    ClassInfoPtr registered = state_->find_exact(info.kind, word);
    if (registered && registered->origin != "Lua")
      refuse_clash(info.kind, word, describe_origin(*registered));
    if (registered) replaced_classes.push_back(std::move(registered));
  }
  for (const ClassInfoPtr& old_class : replaced_classes) state_->erase(old_class);
  state_->insert(std::make_shared<const ClassInfo>(std::move(info)));
}

std::shared_ptr<const ClassInfo> Registry::find(std::string_view kind, std::string_view name) {
  ClassInfoPtr info = state_->find_exact(kind, name);
  if (!info && state_->loader) state_->loader->load_for(kind, name);
  return info ? info : state_->find(kind, name);
}

std::shared_ptr<const ClassInfo> Registry::get(std::string_view kind, std::string_view name) {
  if (auto info = find(kind, name)) return info;
  if (const std::string missing_reason =
          state_->loader ? state_->loader->why_missing(kind, name) : "";
      !missing_reason.empty())
    fail("unknown ", kind, " '", name, "'", missing_reason);
  const auto known_names = state_->collect([&](const auto& table, auto& words) {
    table.collect_words(kind, words);
    table.collect_spellings(kind, words);
  });
  const std::string similar_names_hint = did_you_mean(name, known_names);
  fail("unknown ", kind, " '", name, "'",
       similar_names_hint.empty() && state_->loader ? state_->loader->refused_plugins_note()
                                                    : similar_names_hint);
}

std::vector<std::string> Registry::names(std::string_view kind) {
  return state_->collect([&](const auto& table, auto& names) { table.collect_names(kind, names); });
}

std::vector<std::string> Registry::all_names(std::string_view kind) {
  return state_->collect([&](const auto& table, auto& words) { table.collect_words(kind, words); });
}

Dict Registry::traits(std::string_view kind, std::string_view name) {
  if (ClassInfoPtr info = state_->find_exact(kind, name)) return info->schema.traits;
  return state_->loader ? state_->loader->indexed_traits(kind, name) : Dict();
}

}  // namespace crescent
