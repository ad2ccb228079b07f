// Finding the format of a file: by its name when writing, by its first bytes when reading.
#include "crescent/format.h"

#include <sys/stat.h>

#include <algorithm>

#include "crescent/file.h"
#include "data/input_file.h"
#include "layer/blank_weights.h"

namespace crescent {

Format::~Format() = default;

namespace {

std::vector<std::shared_ptr<Format>> all_formats() {
  std::vector<std::shared_ptr<Format>> formats;
  for (const std::string& name : registry().names(Format::kKind))
    formats.push_back(make<Format>(name));
  return formats;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool is_folder(const std::string& path) {
  struct stat status {};
  return stat(system_path(path), &status) == 0 && S_ISDIR(status.st_mode);
}

std::shared_ptr<Format> writer(const std::string& path) {
  if (path.empty()) fail("expected the path of a file, got an empty text");
  if (is_folder(path))
    fail("'", path, "' is a folder; expected the path of a file such as '", path, "/model.h5'");
  if (!is_folder(folder_of(path)))
    fail("cannot write '", path, "': there is no folder '", folder_of(path), "'");
  for (const auto& format : all_formats())
    if (format->writes(path)) return format;
  std::vector<std::string> names = registry().names(Format::kKind);
  fail("cannot write '", path, "': no format is known by this name; known formats: ", join(names),
       " (a model's name ends in .h5)");
}

std::shared_ptr<Format> reader(const std::string& path) {
  if (is_folder(path)) fail("'", path, "' is a folder; expected a file");
  const InputFile file(path);
  char bytes[64];
  const size_t count = std::min(file.size(), sizeof bytes);
  file.read(0, count, bytes);
  const std::string_view first(bytes, count);
  for (const auto& format : all_formats())
    if (format->reads(path, first)) return format;
  std::vector<std::string> names = registry().names(Format::kKind);
  fail("cannot read '", path,
       "': ", first.empty() ? "the file is empty" : "its first bytes are those of no known format",
       "; known formats: ", join(names));
}

}  // namespace

ModelPtr blank_model_from_config(const Value& config, const std::vector<Shape>& inputs) {
  const BlankWeights blank;
  ModelPtr model = model_from_config(config);
  if (!model->built() && !inputs.empty()) model->build_for(inputs);
  return model;
}

void save_model(Model& model, const std::string& path, const SaveOptions& options) {
  writer(path)->save_model(model, path, options);
}
ModelPtr load_model(const std::string& path, const LoadOptions& options) {
  const Run run;
  return reader(path)->load_model(path, options);
}
void save_weights(Model& model, const std::string& path, const SaveOptions& options) {
  writer(path)->save_weights(model, path, options);
}
void load_weights(Model& model, const std::string& path, const LoadWeightsOptions& options) {
  const Run run;
  reader(path)->load_weights(model, path, options);
}
Tensor read_array(const std::string& path, const std::string& place) {
  const Run run;
  return reader(path)->read_array(path, place);
}
Tensor open_array(const std::string& path, const std::string& place) {
  const Run run;
  return reader(path)->open_array(path, place);
}
void write_arrays(const std::string& path,
                  const std::vector<std::pair<std::string, Tensor>>& arrays) {
  writer(path)->write_arrays(path, arrays);
}

}  // namespace crescent
