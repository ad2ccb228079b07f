#include "keras/vocabulary/code_names.h"

#include <algorithm>

#include "crescent/layer/layer.h"
#include "crescent/registry/registry.h"
#include "keras/vocabulary/objects.h"

namespace crescent::keras {
namespace {

/// A word that an option accepts in addition to the names of functions.
struct OptionWord {
  const char *class_name, *option, *word;
};
constexpr OptionWord kOptionWords[] = {
    {"TextVectorization", "standardize", "lower_and_strip_punctuation"},
    {"TextVectorization", "standardize", "lower"},
    {"TextVectorization", "standardize", "strip_punctuation"},
    {"TextVectorization", "split", "whitespace"},
    {"TextVectorization", "split", "character"}};

using ClassInfoPtr = std::shared_ptr<const ClassInfo>;

/// Whether a class is defined by the user: one of Lua, or one that is not known here.
bool is_user_class(const ClassInfoPtr& info) { return !info || info->origin == "Lua"; }

class CodeSearch {
 public:
  void visit(const Value& value) {
    if (value.is_list()) {
      for (const Value& item : value.as_list()) visit(item);
    } else if (is_object(value)) {
      visit_object(value.as_dict());
    } else if (value.is_dict()) {
      for (const DictEntry& entry : value.as_dict()) visit(entry.value);
    }
  }
  std::vector<std::string> names;

 private:
  void visit_object(const Dict& object) {
    const std::string name = class_of(object);
    const ClassInfoPtr info = find_class(name);
    // whether the object is a slice, tensor or dtype policy
    const bool is_data = name.starts_with("__") || is_policy(name);
    if (!is_data && is_user_class(info)) add(name);
    for (const DictEntry& entry : config_of(object)) {
      const Field* field = info ? info->schema.find(entry.key) : nullptr;
      const std::string kind = field ? field->kind : "";
      if (!entry.value.is_string())
        visit(entry.value);
      else if (is_own_word(name, entry.key, entry.value.as_string()))
        continue;
      else if (!kind.empty() && is_user_class(registry().find(kind, entry.value.as_string())))
        add(entry.value.as_string());
      else if (name == "Lambda" && entry.key == "function" &&
               is_user_class(registry().find("activation", entry.value.as_string())))
        add(entry.value.as_string());
    }
  }
  void add(const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
};

/// Whether a class of this name, and not a function, is registered.
bool is_defined_class(const std::string& name) {
  const ClassInfoPtr info = find_class(name);
  return info && !info->schema.traits.contains("function");
}

}  // namespace

std::vector<std::string> names_of_code(const Value& config) {
  CodeSearch search;
  search.visit(config);
  return std::move(search.names);
}

std::vector<std::string> names_of_functions(const Value& config) {
  std::vector<std::string> names = names_of_code(config);
  std::erase_if(names, is_defined_class);
  return names;
}

bool is_own_function(const std::string& kind, const std::string& name) {
  if (kind.empty() || kind == Layer::kKind || name.starts_with("__")) return false;
  const ClassInfoPtr info = registry().find(kind, name);
  return !info || info->schema.traits.contains("function");
}

bool is_own_word(const std::string& class_name, const std::string& option,
                 const std::string& text) {
  return std::any_of(std::begin(kOptionWords), std::end(kOptionWords), [&](const OptionWord& row) {
    return class_name == row.class_name && option == row.option && text == row.word;
  });
}

std::string how_to_provide(const std::string& name, const char* load) {
  const bool is_nameless = name == "function";
  if (const size_t separator = name.rfind('>'); separator != name.npos)
    return how_to_provide(name.substr(separator + 1), load);
  return concat("pass it when loading: ", load, ", {custom_objects = {",
                is_nameless ? "[\"function\"]" : name, " = ", is_nameless ? "f" : name, "}})");
}

}  // namespace crescent::keras
