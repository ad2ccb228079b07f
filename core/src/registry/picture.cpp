// Finds the class that can draw pictures into files with a given extension.
#include "crescent/io/picture.h"

#include "crescent/system/file.h"

namespace crescent {

Picture::~Picture() = default;

namespace {

std::string ending_of(const Dict& traits) {
  const Value* ending = traits.find("ending");
  return ending ? ending->as_string() : "";
}

[[noreturn]] void fail_for_ending(const std::string& path) {
  std::vector<std::string> endings;
  for (const std::string& name : registry().names(Picture::kKind)) {
    const std::string ending = ending_of(registry().traits(Picture::kKind, name));
    if (!ending.empty()) endings.push_back(ending);
  }
  fail("'", path, "': expected a name that ends in ", join(endings, " or "),
       ", which says how the picture is drawn");
}

/// The name of the class that draws files with the extension of this path.
std::string class_for(const std::string& path) {
  for (const std::string& name : registry().names(Picture::kKind)) {
    const std::string ending = ending_of(registry().traits(Picture::kKind, name));
    if (!ending.empty() && path.ends_with(ending)) return name;
  }
  fail_for_ending(path);
}

}  // namespace

void save_picture(const std::string& path, const Dict& figure, const Dict& options) {
  replace_file(path, make<Picture>(class_for(path))->draw(figure, options));
}

}  // namespace crescent
