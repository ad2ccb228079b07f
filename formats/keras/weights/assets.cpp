#include "keras/weights/assets.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "crescent/system/file.h"
#include "keras/weights/vocabularies.h"

namespace crescent::keras {
namespace {

namespace fs = std::filesystem;

/// The property and the methods of classes from Lua, which may lack save_assets and load_assets.
constexpr const char *kKeepsAssets = "keeps_assets", *kWriteAssets = "write_assets",
                     *kReadAssets = "read_assets";
/// The methods of classes of plugins.
constexpr const char *kSaveAssets = "save_assets", *kLoadAssets = "load_assets";

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "crescent-assets-XXXXXX").string();
    if (!mkdtemp(pattern.data()))
      fail("cannot create the folder '", pattern, "': ", strerror(errno));
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored_error;
    fs::remove_all(path_, ignored_error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

bool is_lua_layer(const Layer& layer) { return layer.info()->schema.find_property(kKeepsAssets); }

enum class Direction { save, load };

/// Calls save_assets or load_assets of the layer; errors name the layer and the function.
void call_with_folder(Layer& layer, Direction direction, const fs::path& folder) {
  const bool is_saving = direction == Direction::save;
  const char* function = is_saving ? kSaveAssets : kLoadAssets;
  const char* method = !is_lua_layer(layer) ? function : is_saving ? kWriteAssets : kReadAssets;
  try {
    layer.call_method(method, {{"dir_path", folder.string()}});
  } catch (const Interrupted&) {
    throw;
  } catch (Error& error) {
    error.add_context(concat("layer '", layer.name(), "': ", function, "(): "));
    throw;
  }
}

/// The files that the layer writes to a folder, with paths relative to it, ordered by path.
AssetFiles files_of(Layer& layer) {
  const TemporaryFolder folder;
  call_with_folder(layer, Direction::save, folder.path());
  AssetFiles files;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
    if (entry.is_regular_file())
      files.push_back({entry.path().lexically_relative(folder.path()).generic_string(),
                       read_file(entry.path().string())});
  std::sort(files.begin(), files.end(),
            [](const AssetFile& a, const AssetFile& b) { return a.path < b.path; });
  return files;
}

/// Whether a path from a file leads to a file in the folder to which it is relative.
bool stays_inside(const fs::path& path) {
  return path.has_filename() && path.is_relative() &&
         path.native().find_first_of(std::string_view("\\\0", 2)) == path.native().npos &&
         std::none_of(path.begin(), path.end(), [](const fs::path& name) { return name == ".."; });
}

}  // namespace

bool keeps_assets(const Layer& layer) {
  if (!layer.info() || has_vocabulary(layer)) return false;
  if (is_lua_layer(layer)) return layer.get_property(kKeepsAssets).as_bool();
  return layer.info()->schema.find_method(kSaveAssets);
}

AssetFiles written_assets(const LayerPaths& paths) {
  AssetFiles files;
  for (const auto& [group, layer] : paths)
    if (keeps_assets(*layer))
      for (AssetFile& file : files_of(*layer))
        files.push_back({group + file.path, std::move(file.content)});
  return files;
}

void warn_of_assets(Model& model, const std::string& path) {
  for (const Layer* layer : model.flatten_layers())
    if (keeps_assets(*layer))
      warn("'", path, "': the files of save_assets() of layer '", layer->name(),
           "' are left out; an archive of Keras 3 (.keras) holds them");
}

Assets::Assets(WeightSource& file, const LayerPaths& paths) : path_(file.path()) {
  for (const auto& [group, layer] : paths) {
    if (!keeps_assets(*layer)) continue;
    FilesOfLayer files_of_layer{layer, {}};
    for (const std::string& name : file.assets(group)) {
      if (!stays_inside(name))
        fail("'", path_, "': expected a file inside of the folder 'assets/", group, "', got '",
             name, "'; nothing was loaded");
      if (auto content = file.asset(group + name))
        files_of_layer.files.push_back({name, std::move(*content)});
    }
    if (!files_of_layer.files.empty()) files_.push_back(std::move(files_of_layer));
  }
}

void Assets::give_to_layers() const {
  for (const FilesOfLayer& files_of_layer : files_) {
    Layer& layer = *files_of_layer.layer;
    const TemporaryFolder folder;
    for (const AssetFile& file : files_of_layer.files) {
      const fs::path path = folder.path() / file.path;
      create_folder(path.parent_path().string());
      replace_file(path.string(), file.content);
    }
    try {
      call_with_folder(layer, Direction::load, folder.path());
    } catch (const Interrupted&) {
      throw;
    } catch (Error& error) {
      error.add_context(concat("'", path_, "': "));
      throw;
    }
  }
}

}  // namespace crescent::keras
