// A table of classes by kind, name and alias, for registered classes and for classes of the index.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace crescent {

template <class T>
class NameTable {
 public:
  void add(std::string_view kind, const std::string& name, const std::vector<std::string>& aliases,
           const T& entry) {
    KindTable& table = tables_by_kind_[std::string(kind)];
    table.names.insert(name);
    table.words.emplace(name, entry);
    for (const std::string& alias : aliases) table.words.emplace(alias, entry);
    std::string snake = snake_case(name), lower_name = lower_case(name);
    if (lower_name != name && lower_name != snake)
      table.spellings.emplace(std::move(lower_name), entry);
    if (snake != name) table.spellings.emplace(std::move(snake), entry);
  }

  void erase(std::string_view kind, const std::string& name, const T& entry) {
    KindTable& table = tables_by_kind_[std::string(kind)];
    table.names.erase(name);
    std::erase_if(table.words, [&](const auto& word) { return word.second == entry; });
    std::erase_if(table.spellings, [&](const auto& word) { return word.second == entry; });
  }

  /// Finds a class by name or alias, or by its name in snake case or lower case ("adam").
  const T* find(std::string_view kind, std::string_view word) const {
    if (const T* entry = find_exact(kind, word)) return entry;
    auto table = tables_by_kind_.find(kind);
    return table == tables_by_kind_.end() ? nullptr : look_up(table->second.spellings, word);
  }

  /// Finds a class by name or alias.
  const T* find_exact(std::string_view kind, std::string_view word) const {
    auto table = tables_by_kind_.find(kind);
    return table == tables_by_kind_.end() ? nullptr : look_up(table->second.words, word);
  }

  void collect_names(std::string_view kind, std::set<std::string>& names) const {
    auto table = tables_by_kind_.find(kind);
    if (table != tables_by_kind_.end())
      names.insert(table->second.names.begin(), table->second.names.end());
  }
  void collect_words(std::string_view kind, std::set<std::string>& words) const {
    auto table = tables_by_kind_.find(kind);
    if (table == tables_by_kind_.end()) return;
    for (const auto& [word, entry] : table->second.words) words.insert(word);
  }
  void collect_spellings(std::string_view kind, std::set<std::string>& spellings) const {
    auto table = tables_by_kind_.find(kind);
    if (table == tables_by_kind_.end()) return;
    for (const auto& [word, entry] : table->second.spellings) spellings.insert(word);
  }

 private:
  using Words = std::map<std::string, T, std::less<>>;
  struct KindTable {
    std::set<std::string> names;
    Words words;      ///< names and aliases
    Words spellings;  ///< names in snake or lower case that differ from the name
  };
  static const T* look_up(const Words& words, std::string_view word) {
    auto entry = words.find(word);
    return entry == words.end() ? nullptr : &entry->second;
  }

  std::map<std::string, KindTable, std::less<>> tables_by_kind_;
};

}  // namespace crescent
