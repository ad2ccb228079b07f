// crescent describe: prints the listing of everything that can be called, or the entries of one
// name.
#include <algorithm>
#include <sstream>

#include "commands.h"
#include "crescent/registry/registry.h"
#include "file_commands.h"
#include "lua/lua_state.h"
#include "module/listing.h"

namespace crescent::program {
namespace {

int open_in_lua(lua_State* L) { return open_libraries(L), 0; }

Dict whole_listing() {
  lua_State* L = luaL_newstate();
  if (!L) fail("not enough memory for Lua");
  lua_pushcfunction(L, open_in_lua);
  if (lua_pcall(L, 0, 0, 0) != LUA_OK) fail(lua_tostring(L, -1));
  lua_getglobal(L, "cr");
  Dict rows = lua::listing(L, lua_gettop(L));
  lua_close(L);
  return rows;
}

/// An entry of the listing and its full name: cr.ops.add, cr.layers.Dense, model.fit.
struct ListingEntry {
  std::string name;
  Dict row;
};

void add_members(std::vector<ListingEntry>& entries, const Dict& type) {
  for (const char* members : {"methods", "properties"})
    for (const Value& member : type.at(members).as_list())
      entries.push_back({type.at("name").as_string() + "." + text_of(member.as_dict().at("name")),
                         member.as_dict()});
}

std::vector<ListingEntry> entries_of(const Dict& listing) {
  std::vector<ListingEntry> entries;
  for (const char* section : {"functions", "namespaces", "classes"})
    for (const Value& row : listing.at(section).as_list())
      entries.push_back({row.as_dict().at("path").as_string(), row.as_dict()});
  for (const Value& type : listing.at("types").as_list()) add_members(entries, type.as_dict());
  return entries;
}

/// Whether the name means this entry; "ops.add" and "add" mean cr.ops.add.
bool is_named(const ListingEntry& entry, const std::string& name) {
  return entry.name == name || entry.name.ends_with("." + name);
}

std::string last_name_part(const ListingEntry& entry) {
  return entry.name.substr(entry.name.rfind('.') + 1);
}

std::vector<ListingEntry> entries_named(const std::vector<ListingEntry>& entries,
                                        const std::string& name) {
  std::vector<ListingEntry> matches;
  std::vector<std::string> names;
  for (const ListingEntry& entry : entries) {
    if (is_named(entry, name)) matches.push_back(entry);
    names.push_back(name.find('.') == name.npos ? last_name_part(entry) : entry.name);
  }
  if (matches.empty()) fail("there is no '", name, "'", did_you_mean(name, names));
  return matches;
}

/// The title line of an entry: cr.ops.sum(x, axis=nil), model.layers, cr.layers.Dense.
std::string title_of(const ListingEntry& entry) {
  const Value* signature = entry.row.find("signature");
  return signature ? entry.name + signature->as_string().substr(signature->as_string().find('('))
                   : entry.name;
}

/// The text that describes the limits of a parameter's values.
std::string limits_of(const Dict& parameter) {
  const Value *minimum = parameter.find("min"), *maximum = parameter.find("max");
  if (minimum && maximum) return concat(" from ", minimum->as_float(), " to ", maximum->as_float());
  return minimum   ? concat(", at least ", minimum->as_float())
         : maximum ? concat(", at most ", maximum->as_float())
                   : "";
}

/// The text for an option or parameter: its type and default, then its documentation.
std::string parameter_text(const Dict& parameter) {
  std::string text = "  " + parameter.at("name").as_string();
  if (const std::string& type = parameter.at("type").as_string(); !type.empty())
    text += ": " + type + limits_of(parameter);
  if (const Value* value = parameter.find("default")) text += ", default " + to_text(*value);
  if (parameter.at("required").as_bool()) text += ", required";
  const std::string& doc = parameter.at("doc").as_string();
  return text + (doc.empty() ? "" : ". " + doc) + "\n";
}

std::string indented(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) result += "    " + line + "\n";
  return result;
}

std::string entry_text(const ListingEntry& entry) {
  std::string text = concat(title_of(entry), "\n  ", entry.row.at("doc").as_string(), "\n");
  const bool has_options = entry.row.contains("options");
  if (const Value* rows = entry.row.find(has_options ? "options" : "parameters"))
    for (const Value& row : rows->as_list()) text += parameter_text(row.as_dict());
  for (const char* key : {"result", "type"})
    if (const Value* type = entry.row.find(key); type && !type->as_string().empty())
      text += "  gives " + type->as_string() + "\n";
  for (const char* key : {"example", "errors"})
    if (const Value* lines = entry.row.find(key)) text += indented(lines->as_string());
  return text;
}

/// Prints one line per entry.
void print_names(const std::vector<ListingEntry>& entries) {
  for (const ListingEntry& entry : entries) print(title_of(entry) + "\n");
}

List rows_of(const std::vector<ListingEntry>& entries) {
  List rows;
  for (const ListingEntry& entry : entries) {
    Dict row = entry.row;
    row.set("path", entry.name);
    rows.push_back(std::move(row));
  }
  return rows;
}

void print_entries(const std::vector<ListingEntry>& entries, bool as_json) {
  if (as_json) return print_json(rows_of(entries));
  for (const ListingEntry& entry : entries) print(entry_text(entry));
}

}  // namespace

int describe(const std::vector<std::string>& arguments) {
  const auto name_count =
      std::count_if(arguments.begin(), arguments.end(),
                    [](const std::string& word) { return !word.starts_with("--"); });
  const FileArguments command_line(arguments, "describe", name_count, {"json"});
  const Dict rows = whole_listing();
  const std::vector<ListingEntry> entries = entries_of(rows);
  for (const std::string& name : command_line.paths)
    print_entries(entries_named(entries, name), command_line.has("json"));
  if (!command_line.paths.empty()) return 0;
  command_line.has("json") ? print_json(rows) : print_names(entries);
  return 0;
}

}  // namespace crescent::program
