#include "keras_archive.h"

#include <zlib.h>

#include <filesystem>

#include "crescent/system/file.h"
#include "files/zip/image.h"
#include "image.h"
#include "keras/model/own_attribute.h"

namespace crescent::archive {
namespace {

namespace fs = std::filesystem;

/// The attribute of the root group of model.weights.h5 in which Crescent saves the CRC-32 of
/// config.json, to notice a later change of config.json.
constexpr const char* kConfigChecksumAttribute = "crescent_config_crc32";

int64_t checksum_of(const std::string& text) {
  return static_cast<int64_t>(crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

bool is_folder(const std::string& path) {
  std::error_code ignored_error;
  return fs::is_directory(system_path(path), ignored_error);
}

std::string weights_path(const std::string& path, bool is_folder) {
  return is_folder ? path + "/" + hdf5::kWeightsMember : path;
}

}  // namespace

KerasArchive::KerasArchive(const std::string& path)
    : path_(path),
      is_folder_(is_folder(path)),
      weights_(weights_path(path, is_folder_)),
      config_(member(kConfigFile).value_or("")),
      model_(json(kConfigFile)),
      metadata_(json(kMetadataFile)) {}

std::optional<std::string> KerasArchive::member(const std::string& name) {
  if (!is_folder_) return weights_.member(name);
  const std::string file_path = path_ + "/" + name;
  std::error_code ignored_error;
  return fs::exists(file_path, ignored_error) ? std::optional(read_file(file_path)) : std::nullopt;
}

keras::Names KerasArchive::assets(const std::string& folder) {
  const std::string prefix = kAssetFolder + folder;
  keras::Names names;
  if (is_folder_) {
    const fs::path root = path_ + "/" + prefix;
    std::error_code ignored_error;
    if (fs::is_directory(root, ignored_error))
      for (const auto& entry : fs::recursive_directory_iterator(root))
        if (entry.is_regular_file())
          names.push_back(entry.path().lexically_relative(root).generic_string());
    return names;
  }
  for (const std::string& name : weights_.member_names(prefix))
    if (!name.ends_with('/')) names.push_back(name.substr(prefix.size()));
  return names;
}

std::optional<Dict> KerasArchive::json(const std::string& name) {
  const auto text = member(name);
  if (!text) return std::nullopt;
  try {
    Value value = parse_json(*text);
    if (!value.is_dict()) fail("expected an object");
    return value.as_dict();
  } catch (const Error& error) {
    fail("'", path_, "': '", name, "' is no valid JSON: ", error.what(), "; nothing was loaded");
  }
}

/// Crescent's own description of the model, which has more details than config.json. It is an
/// attribute of model.weights.h5, and is ignored, with a warning, if config.json was changed after
/// saving.
std::optional<std::string> KerasArchive::own_description() {
  auto description = weights_.text("", keras::kOwnAttribute);
  if (!description || weights_.integer("", kConfigChecksumAttribute) == checksum_of(config_))
    return description;
  warn("'", path_, "': '", kConfigFile, "' was changed since it was written; it is what counts");
  return std::nullopt;
}

std::optional<std::string> KerasArchive::text(const std::string& group, const std::string& name) {
  if (!group.empty()) return weights_.text(group, name);
  if (name == keras::kOwnAttribute) return own_description();
  const bool is_in_metadata = name == "keras_version";
  const std::optional<Dict>& entries = is_in_metadata ? metadata_ : model_;
  if (name == "model_config") return entries ? std::optional(config_) : std::nullopt;
  const Value* value = nullptr;
  if (entries) value = entries->find(name == "training_config" ? "compile_config" : name);
  if (is_in_metadata) return value && value->is_string() ? value->as_string() : "3";
  const bool has_entries = value && value->is_dict() && !value->as_dict().empty();
  return has_entries ? std::optional(to_json(*value)) : std::nullopt;
}

namespace {

/// Writes the files to a folder, which is created unless it exists. The last one is config.json, by
/// which the folder of a model is recognized.
void write_folder(const std::vector<zip::File>& files, const std::string& path) {
  for (const zip::File& file : files)
    if (file.name != kConfigFile) {
      create_folder(fs::path(path + file.name).parent_path().string());
      replace_file(path + file.name, file.pieces);
    }
  for (const zip::File& file : files)
    if (file.name == kConfigFile) replace_file(path + file.name, file.pieces);
}

}  // namespace

void write_archive(keras::ArchiveParts parts, const std::string& path) {
  parts.weights.front().attributes.set(kConfigChecksumAttribute, checksum_of(parts.config));
  const hdf5::FileImage weights(hdf5::tree_of(parts.weights));
  auto bytes_of = [](const std::string& text) { return std::as_bytes(std::span(text)); };
  std::vector<zip::File> files{{kMetadataFile, {bytes_of(parts.metadata)}},
                               {kConfigFile, {bytes_of(parts.config)}},
                               {hdf5::kWeightsMember, weights.pieces()}};
  for (const keras::AssetFile& asset : parts.assets)
    files.push_back({kAssetFolder + asset.path, {bytes_of(asset.content)}});
  if (path.ends_with('/')) return write_folder(files, path);
  for (const keras::AssetFile& asset : parts.assets)
    if (asset.content.size() > hdf5::kMaxMemberBytes)
      fail("'", kAssetFolder, asset.path, "' has ", asset.content.size(),
           " bytes; expected at most ", hdf5::kMaxMemberBytes,
           " in an archive: a folder (zipped=false) holds larger files");
  const zip::Image image(files);
  replace_file(path, image.pieces());
}

}  // namespace crescent::archive
