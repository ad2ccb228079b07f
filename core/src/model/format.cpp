// Finds the format of a file: by its name for writing, by its first bytes for reading.
#include "crescent/io/format.h"

#include <sys/stat.h>

#include <algorithm>

#include "crescent/system/file.h"
#include "data/input_file.h"
#include "layer/blank_weights.h"
#include "model/atomic_format.h"
#include "model/config.h"
#include "registry/first_bytes.h"
#include "registry/loader/class_of_plugin.h"
#include "system/saved_file.h"
#include "training/input/start_together.h"
#include "training/sharing/write_together.h"

namespace crescent {

ModelFormat::~ModelFormat() = default;
WeightsFormat::~WeightsFormat() = default;
ReadsArrays::~ReadsArrays() = default;
NamedTensors ReadsArrays::read_arrays(const std::string& path) {
  return {{"", read_array(path, "")}};
}
WritesArrays::~WritesArrays() = default;
ReadsTables::~ReadsTables() = default;
TranslatesConfigs::~TranslatesConfigs() = default;
Format::~Format() = default;

namespace {

using Texts = std::vector<std::string>;

/// The entry of a file format in the index of plugins. It is read without loading the plugin.
struct IndexedFormat {
  std::string name;
  Texts endings, signatures, abilities;
  std::string marker_file;  ///< the name of a file by which a folder in this format is recognized

  bool can(std::string_view ability) const {
    return ability.empty() ||
           std::find(abilities.begin(), abilities.end(), ability) != abilities.end();
  }
  /// The length of the longest file name extension of this format with which `path` ends; 0 if it
  /// ends with none.
  size_t ending_length(std::string_view path) const {
    size_t longest = 0;
    for (const std::string& ending : endings)
      if (path.ends_with(ending)) longest = std::max(longest, ending.size());
    return longest;
  }
  bool has_signature_of(std::string_view first_bytes) const {
    return std::any_of(signatures.begin(), signatures.end(), [&](const std::string& signature) {
      return first_bytes.starts_with(signature);
    });
  }
};

Texts texts_in(const Dict& traits, std::string_view name) {
  const Value* texts = traits.find(name);
  return texts ? Codec<Texts>::decode(*texts) : Texts();
}

std::vector<IndexedFormat> known_formats() {
  std::vector<IndexedFormat> formats;
  look_for_plugins();
  for (const std::string& name : registry().names(Format::kKind)) {
    const Dict traits = registry().traits(Format::kKind, name);
    IndexedFormat format{name, texts_in(traits, "endings"), {}, texts_in(traits, "abilities"), ""};
    if (const Value* file = traits.find("folder")) format.marker_file = file->as_string();
    for (const std::string& signature_text : texts_in(traits, "signatures"))
      format.signatures.push_back(signature_bytes(signature_text, name));
    formats.push_back(std::move(format));
  }
  return formats;
}

std::string text_of(const IndexedFormat& format) {
  return format.endings.empty() ? format.name
                                : concat(format.name, " (", join(format.endings), ")");
}

/// Lists the formats with the ability: "formats that hold models: hdf5 (.h5, .hdf5)".
std::string text_of_formats(std::string_view ability) {
  Texts names;
  for (const IndexedFormat& format : known_formats())
    if (format.can(ability)) names.push_back(text_of(format));
  return concat(ability.empty() ? "known formats" : concat("formats that ", ability), ": ",
                names.empty() ? "none" : join(names));
}

/// Returns the format with the greatest `fitness`. Among formats of equal fitness, one that has the
/// ability is preferred. Returns null if the fitness of all formats is 0.
template <class Fitness>
FormatPtr best_format(const std::string& path, std::string_view ability, const Fitness& fitness) {
  std::optional<IndexedFormat> best;
  size_t best_score = 0;
  for (IndexedFormat& format : known_formats()) {
    const size_t score = 2 * fitness(format) + format.can(ability);
    if (score > std::max<size_t>(best_score, 1)) best = std::move(format), best_score = score;
  }
  if (!best) return nullptr;
  if (!best->can(ability))
    fail("'", path, "': files of format ", best->name, " do not ", ability, "; ",
         text_of_formats(ability));
  return with_atomic_saving(make<Format>(best->name));
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/', path.find_last_not_of('/'));
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string with_slash(const std::string& path) { return path.ends_with('/') ? path : path + "/"; }

bool is_folder(const std::string& path) {
  struct stat status {};
  return stat(system_path(path), &status) == 0 && S_ISDIR(status.st_mode);
}

/// The format for a folder that is to be written: one that has the ability and recognizes its
/// folders by a file; if there are several, one with whose ending the name of the folder ends.
FormatPtr format_of_new_folder(const std::string& path, std::string_view ability) {
  const std::string_view name = std::string_view(path).substr(0, path.find_last_not_of('/') + 1);
  const auto fitness_for_folders = [&](const IndexedFormat& format) -> size_t {
    if (!format.can(ability) || format.marker_file.empty()) return 0;
    return 1 + format.ending_length(name);
  };
  if (auto format = best_format(path, ability, fitness_for_folders)) return format;
  fail("'", path, "' is the path of a folder; expected that of a file; ", text_of_formats(ability));
}

FormatPtr format_of_folder(const std::string& path, std::string_view ability) {
  const auto fitness_by_file = [&](const IndexedFormat& format) -> size_t {
    struct stat status {};
    return !format.marker_file.empty() &&
           stat((path + "/" + format.marker_file).c_str(), &status) == 0;
  };
  if (auto format = best_format(path, ability, fitness_by_file)) return format;
  fail("'", path, "' is a folder; expected a file");
}

std::string first_bytes_of(const std::string& path) {
  const InputFile file(path);
  std::string bytes(std::min<size_t>(file.size(), 64), '\0');
  file.read(0, bytes.size(), bytes.data());
  return bytes;
}

}  // namespace

/// A path that ends in '/' is that of a folder, which need not exist.
FormatPtr format_to_write(const std::string& path, std::string_view ability) {
  if (path.empty()) fail("expected the path of a file, got an empty text");
  const bool names_folder = path.ends_with('/');
  if (!names_folder && is_folder(path))
    fail("'", path, "' is a folder; expected the path of a file such as '", path, "/model.h5'");
  if (!is_folder(folder_of(path)))
    fail("cannot write '", path, "': there is no folder '", folder_of(path), "'");
  if (names_folder) return format_of_new_folder(path, ability);
  const auto fitness_by_name = [&](const IndexedFormat& format) {
    return format.ending_length(path);
  };
  if (auto format = best_format(path, ability, fitness_by_name)) return format;
  fail("cannot write '", path, "': no format is known by this name; ", text_of_formats(ability));
}

/// A format that has a signature is recognized by the first bytes of the file; if several formats
/// share the signature, the extension of the file name decides between them. Formats without a
/// signature are recognized by the extension.
FormatPtr format_to_read(const std::string& path, std::string_view ability) {
  if (is_folder(path)) return format_of_folder(path, ability);
  const std::string first_bytes = first_bytes_of(path);
  const auto fitness_by_bytes = [&](const IndexedFormat& format) -> size_t {
    return format.has_signature_of(first_bytes) ? 1 + format.ending_length(path) : 0;
  };
  if (auto format = best_format(path, ability, fitness_by_bytes)) return format;
  const auto fitness_by_name = [&](const IndexedFormat& format) -> size_t {
    return first_bytes.empty() || format.signatures.empty() ? format.ending_length(path) : 0;
  };
  if (auto format = best_format(path, ability, fitness_by_name)) return format;
  fail("cannot read '", path, "': ",
       first_bytes.empty() ? "the file is empty" : "its first bytes are those of no known format",
       "; ", text_of_formats(ability));
}

FormatPtr format_named(const std::string& name, std::string_view ability) {
  auto format = make<Format>(name);
  const Texts abilities = texts_in(format->info()->schema.traits, "abilities");
  if (std::find(abilities.begin(), abilities.end(), ability) == abilities.end())
    fail("files of format ", name, " do not ", ability, "; ", text_of_formats(ability));
  return format;
}

FormatPtr format_with(std::string_view ability) {
  for (const IndexedFormat& format : known_formats())
    if (format.can(ability)) return make<Format>(format.name);
  return nullptr;
}

ModelPtr blank_model_from_config(const Value& config, const std::vector<Shape>& input_shapes) {
  const BlankWeights blank;
  ModelPtr model = model_from_own_config(config);
  if (!model->built() && !input_shapes.empty()) model->build_for(input_shapes);
  return model;
}

/// With the option zipped=false, the model is saved as a folder.
void save_model(Model& model, const std::string& given_path, const Dict& options) {
  const Value* zipped = options.find("zipped");
  const bool is_folder = zipped && *zipped == Value(false) && !given_path.empty();
  const std::string path = is_folder ? with_slash(given_path) : given_path;
  const auto format = format_to_write<ModelFormat>(path);
  write_together(state_of(model), [&] { format->save_model(model, path, options); });
  note_saved_file(path);
}
ModelPtr load_model(const std::string& path, const Dict& options) {
  const InterruptScope interrupt_scope;
  return format_to_read<ModelFormat>(path)->load_model(path, options);
}
void save_weights(Model& model, const std::string& path, const Dict& options) {
  if (!model.built() && model.weights().empty())
    fail("You are saving a model that has not yet been built. Try building the model first by ",
         "calling it on some data or by using `build()`.");
  const auto format = format_to_write<WeightsFormat>(path);
  write_together(state_of(model), [&] { format->save_weights(model, path, options); });
  note_saved_file(path);
}
void load_weights(Model& model, const std::string& path, const Dict& options) {
  const InterruptScope interrupt_scope;
  format_to_read<WeightsFormat>(path)->load_weights(model, path, options);
}
Tensor read_array(const std::string& path, const std::string& name) {
  const InterruptScope interrupt_scope;
  return format_to_read<ReadsArrays>(path)->read_array(path, name);
}
Tensor open_array(const std::string& path, const std::string& name) {
  const InterruptScope interrupt_scope;
  return format_to_read<ReadsArrays>(path)->open_array(path, name);
}
NamedTensors read_arrays(const std::string& path) {
  const InterruptScope interrupt_scope;
  return format_to_read<ReadsArrays>(path)->read_arrays(path);
}
void write_arrays(const std::string& path, const NamedTensors& arrays) {
  format_to_write<WritesArrays>(path)->write_arrays(path, arrays);
}
Table read_table(const std::string& path, const Dict& options) {
  const InterruptScope interrupt_scope;
  return format_to_read<ReadsTables>(path)->read_table(path, options);
}

}  // namespace crescent
