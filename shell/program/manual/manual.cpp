// crescent manual and crescent editor. Lua scripts (shell/manual) write the files; the program
// gives them the folder, texts, the table of commands, and functions that Lua does not have.
#include "manual_texts.h"

#include <dlfcn.h>
#include <md4c-html.h>

#include <algorithm>
#include <filesystem>

#include "../command_table.h"
#include "../commands.h"
#include "../lua/lua_state.h"
#include "../usage.h"
#include "crescent/base/error.h"
#include "crescent/registry/loader.h"
#include "crescent/system/file.h"

namespace crescent::program {
namespace {

namespace fs = std::filesystem;

void append_html(const MD_CHAR* text, MD_SIZE size, void* to) {
  static_cast<std::string*>(to)->append(text, size);
}

/// Returns the function md_html of the library md4c-html, or null if the library is missing.
auto loaded_md_html() {
  static void* const library = dlopen(CRESCENT_MARKDOWN_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  return library ? reinterpret_cast<decltype(&md_html)>(dlsym(library, "md_html")) : nullptr;
}

/// Converts a text in Markdown, with tables, to HTML.
int markdown(lua_State* L) {
  size_t size = 0;
  const char* text = luaL_checklstring(L, 1, &size);
  const auto convert = loaded_md_html();
  if (!convert) return luaL_error(L, "the library %s is missing", CRESCENT_MARKDOWN_LIBRARY);
  bool succeeded = false;
  {
    std::string html;
    succeeded =
        convert(text, static_cast<MD_SIZE>(size), append_html, &html, MD_DIALECT_GITHUB, 0) == 0;
    lua_pushlstring(L, html.data(), html.size());
  }
  return succeeded ? 1 : luaL_error(L, "this is no Markdown");
}

/// Returns the text of a part of the manual, by its name.
int push_manual_text(lua_State* L) {
  const ManualText& manual_part = manual_text(luaL_checkstring(L, 1));
  lua_pushlstring(L, manual_part.text.data(), manual_part.text.size());
  return 1;
}

/// Sets a field of the table on top of the stack to a text.
void set_text(lua_State* L, const char* name, const std::string& value) {
  lua_pushlstring(L, value.data(), value.size());
  lua_setfield(L, -2, name);
}

void set_functions(lua_State* L) {
  lua_pushcfunction(L, markdown);
  lua_setfield(L, -2, "markdown");
  lua_pushcfunction(L, push_manual_text);
  lua_setfield(L, -2, "text");
}

void set_commands(lua_State* L) {
  lua_newtable(L);
  for (const Command& command : commands()) {
    lua_newtable(L);
    set_text(L, "name", command.name);
    set_text(L, "usage", usage_of(command));
    set_text(L, "doc", command.doc);
    lua_rawseti(L, -2, static_cast<lua_Integer>(lua_rawlen(L, -2)) + 1);
  }
  lua_setfield(L, -2, "commands");
}

void set_variables(lua_State* L) {
  lua_newtable(L);
  for (const auto& [name, text] : environment_variables()) {
    lua_newtable(L);
    set_text(L, "name", name);
    set_text(L, "doc", text);
    lua_rawseti(L, -2, static_cast<lua_Integer>(lua_rawlen(L, -2)) + 1);
  }
  lua_setfield(L, -2, "variables");
}

std::vector<std::string> files_in(const fs::path& folder, const char* ending) {
  std::vector<std::string> files;
  std::error_code ignored_error;
  for (const fs::directory_entry& file : fs::directory_iterator(folder, ignored_error))
    if (file.path().extension() == ending) files.push_back(file.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

/// Sets a field of the table on top of the stack to the texts of the files, in the order of their
/// names.
void set_files(lua_State* L, const char* field, const std::vector<std::string>& files) {
  lua_newtable(L);
  for (const std::string& path : files) {
    lua_newtable(L);
    set_text(L, "name", fs::path(path).filename().string()), set_text(L, "text", read_file(path));
    lua_rawseti(L, -2, static_cast<lua_Integer>(lua_rawlen(L, -2)) + 1);
  }
  lua_setfield(L, -2, field);
}

std::vector<std::string> note_files() {
  std::vector<std::string> files;
  for (const std::string& folder : plugin_search_path())
    for (std::string& file : files_in(folder, ".notes")) files.push_back(std::move(file));
  return files;
}

/// The folder of the guide, in the build or in the installation of this program, found relative to
/// the folder of the plugins.
fs::path guide_folder() {
  return fs::path(plugin_search_path().back()) / "../../../share/doc/crescent/guide";
}

std::vector<std::string> guide_images() {
  std::vector<std::string> files = files_in(guide_folder(), ".svg");
  for (std::string& file : files_in(guide_folder(), ".png")) files.push_back(std::move(file));
  return files;
}

struct ManualRequest {
  const char* script;  ///< the name of the Lua script that writes the files
  std::string folder;
};

/// Writes the files in a protected call; the argument on the stack is a ManualRequest.
int write_in_lua(lua_State* L) {
  const auto& request = *static_cast<const ManualRequest*>(lua_touserdata(L, 1));
  open_libraries(L);
  const std::string_view code = manual_text(request.script).text;
  if (luaL_loadbuffer(L, code.data(), code.size(), request.script) != LUA_OK) return lua_error(L);
  lua_getglobal(L, "cr");
  lua_newtable(L);
  set_text(L, "folder", request.folder);
  set_functions(L), set_commands(L), set_variables(L);
  set_files(L, "chapters", files_in(guide_folder(), ".md"));
  set_files(L, "images", guide_images()), set_files(L, "notes", note_files());
  lua_call(L, 2, 0);
  return 0;
}

int write_files(const char* script, const char* command, const std::vector<std::string>& folders) {
  if (folders.size() != 1 || folders[0].starts_with("-")) fail_usage(command, "expected a folder");
  create_folder(folders[0]);
  ManualRequest request{script, folders[0]};
  lua_State* L = luaL_newstate();
  if (!L) fail("not enough memory for Lua");
  lua_pushcfunction(L, write_in_lua);
  lua_pushlightuserdata(L, &request);
  const bool succeeded = lua_pcall(L, 1, 0, 0) == LUA_OK;
  const std::string message = succeeded ? "" : lua_tostring(L, -1);
  lua_close(L);
  if (!succeeded) fail(message);
  return 0;
}

}  // namespace

int make_manual(const std::vector<std::string>& folders) {
  return write_files("manual.lua", "manual", folders);
}

int make_editor_files(const std::vector<std::string>& folders) {
  return write_files("editor.lua", "editor", folders);
}

}  // namespace crescent::program
