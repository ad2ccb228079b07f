#include "external.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "crescent/system/file.h"

namespace crescent::editor {
namespace {

std::string editor_program() {
  for (const char* variable : {"VISUAL", "EDITOR"})
    if (const char* name = std::getenv(variable); name && *name) return name;
  return "";
}

/// Creates a temporary file that contains the text and that only this user may read. Returns its
/// path, or "" on failure.
std::string make_temporary_file(const std::string& text) {
  std::error_code error;
  std::string path = std::filesystem::temp_directory_path(error) / "crescent-XXXXXX.lua";
  const Descriptor file(mkostemps(path.data(), 4, O_CLOEXEC));
  if (file < 0) return "";
  std::ofstream stream(path, std::ios::binary);
  return stream << text << std::flush ? path : "";
}

bool run_program_on(const std::string& path, std::string& text) try {
  if (std::system((editor_program() + " '" + path + "'").c_str()) != 0) return false;
  text = read_file(path);
  while (text.ends_with('\n')) text.pop_back();
  return true;
} catch (const std::exception&) {
  return false;
}

}  // namespace

bool edit_externally(std::string& text) {
  if (editor_program().empty()) return false;
  const std::string path = make_temporary_file(text);
  if (path.empty()) return false;
  const bool was_edited = run_program_on(path, text);
  unlink(path.c_str());
  return was_edited;
}

}  // namespace crescent::editor
