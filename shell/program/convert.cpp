#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>

#include "crescent/io/format.h"
#include "crescent/system/file.h"
#include "file_commands.h"

namespace crescent::program {
namespace {

namespace fs = std::filesystem;

/// The beginning of the names of temporary folders; the number of the process is behind it.
constexpr std::string_view kTemporaryPrefix = ".convert-";

/// Locks a temporary folder as long as the descriptor is open; returns a descriptor below 0 if
/// another process has locked it.
Descriptor locked_folder(const fs::path& folder) {
  Descriptor descriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? std::move(descriptor)
                                                                      : Descriptor();
}

/// Removes the temporary folders in `parent` that are left of conversions that crashed.
void remove_abandoned_folders(const fs::path& parent) {
  std::error_code ignored_error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(parent.empty() ? "." : parent, ignored_error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kTemporaryPrefix)) continue;
    const int process = std::atoi(name.c_str() + kTemporaryPrefix.size());
    const bool has_ended = process > 0 && kill(process, 0) != 0 && errno == ESRCH;
    if (has_ended && locked_folder(entry.path()) >= 0) fs::remove_all(entry.path(), ignored_error);
  }
}

/// A temporary path in a new folder beside the target. The converted file is written there first,
/// together with further files that belong to it, such as shards of weights. The destructor removes
/// the folder; if the process crashes, the next conversion to the same place does.
class TemporaryTarget {
 public:
  explicit TemporaryTarget(const fs::path& target)
      : target_(target.string()),
        folder_(target.parent_path() / concat(kTemporaryPrefix, getpid())),
        temporary_path_((folder_ / target.filename()).string()) {
    remove_abandoned_folders(target.parent_path());
    // ignored, because the writer reports that the parent folder does not exist
    std::error_code ignored_error;
    fs::create_directory(folder_, ignored_error);
    lock_ = locked_folder(folder_);
  }
  ~TemporaryTarget() {
    std::error_code ignored_error;
    fs::remove_all(folder_, ignored_error);
  }
  TemporaryTarget(const TemporaryTarget&) = delete;
  const std::string& path() const { return temporary_path_; }
  /// The message with the temporary path replaced by the path of the target.
  std::string with_target_path(std::string text) const {
    const std::string parent = fs::path(target_).parent_path().string();
    for (const auto& [old_path, new_path] :
         {std::pair(temporary_path_, target_),
          std::pair(folder_.string(), parent.empty() ? "." : parent)})
      for (size_t offset; (offset = text.find(old_path)) != text.npos;)
        text.replace(offset, old_path.size(), new_path);
    return text;
  }

 private:
  std::string target_;
  fs::path folder_;
  std::string temporary_path_;
  Descriptor lock_;
};

/// Collects the warnings that are raised while the object exists.
class CollectedWarnings {
 public:
  CollectedWarnings() {
    texts().clear();
    set_warning_handler([](std::string_view text) { texts().emplace_back(text); });
  }
  ~CollectedWarnings() { set_warning_handler(nullptr); }
  CollectedWarnings(const CollectedWarnings&) = delete;
  static std::vector<std::string>& texts() {
    static std::vector<std::string> warning_texts;
    return warning_texts;
  }
};

/// If a warning contains one of these texts, some content of the file was not converted. Other
/// warnings say what the file does not contain.
constexpr const char* kLossWarnings[] = {
    "Error in loading the saved optimizer state",
    "the model was not compiled: ", "is code, which files do not hold"};

/// Converted content, which was written to the temporary target and read again.
struct Conversion {
  std::function<void(const std::string& path)> save;  ///< writes the content
  std::string check_text = "read again, with the same numbers";
};

[[noreturn]] void refuse(const std::string& source_path, const std::string& reason) {
  fail("'", source_path, "' is not converted: ", reason);
}

/// Prints the warnings since the last call; fails if one of them says that content would be lost.
void refuse_losses(const std::string& source_path, const TemporaryTarget& target) {
  for (std::string& text : CollectedWarnings::texts())
    text = target.with_target_path(std::move(text));
  for (const std::string& text : CollectedWarnings::texts())
    for (const char* loss_text : kLossWarnings)
      if (text.find(loss_text) != text.npos) refuse(source_path, "this would be lost: " + text);
  for (const std::string& text : CollectedWarnings::texts()) print("  note: " + text + "\n");
  CollectedWarnings::texts().clear();
}

bool holds_models(const std::string& path) {
  return format_can(*format_to_write(path, ""), ModelFormat::kAbility) &&
         !path.ends_with(".weights.h5");
}

/// Whether Crescent can write files of this format but cannot read them, because the files are
/// meant for other programs.
bool is_written_only(const std::string& path) {
  return format_to_write(path, "")->info()->schema.traits.find("written_only") != nullptr;
}

void check_same_weights(const Model& written_model, const Model& read_model,
                        const std::string& target_path) {
  const Tensors a = written_model.get_weights(), b = read_model.get_weights();
  bool are_same = a.size() == b.size();
  for (size_t i = 0; are_same && i < a.size(); ++i)
    are_same = a[i].spec() == b[i].spec() && std::memcmp(a[i].raw(), b[i].raw(), a[i].bytes()) == 0;
  if (!are_same) fail("'", target_path, "': what was written is not read as it was");
}

Dict save_options(const SchemaData& schema, const FileArguments& command_line) {
  Dict options;
  if (!command_line.has("target")) return options;
  if (!schema.find("target")) fail("--target: such files are written in one way only");
  options.set("target", Value(command_line.options.at("target")));
  return options;
}

std::string model_summary(Model& model) {
  std::string text =
      concat("  ", model.layers().size(), " layers, ", model.count_params(), " parameters\n");
  if (!model.compiled()) return text + "  not compiled\n";
  const int64_t step_count =
      model.optimizer()->built()
          ? static_cast<int64_t>(model.optimizer()->iterations().value().item())
          : 0;
  return text + concat("  compiled with ", model.optimizer()->class_name(), ", ", step_count,
                       " steps taken, ", model.epochs_trained(), " epochs\n");
}

Conversion convert_model(const std::string& source_path, const std::string& target_path,
                         const TemporaryTarget& target, const FileArguments& command_line) {
  const ModelPtr model = load_model(source_path);
  refuse_losses(source_path, target);
  print(model_summary(*model));
  if (holds_models(target_path)) {
    const auto format = format_to_write<ModelFormat>(target_path);
    const Dict options = save_options(format->save_model_options(), command_line);
    Conversion conversion{
        [=](const std::string& path) { format->save_model(*model, path, options); }};
    conversion.save(target.path());
    refuse_losses(source_path, target);
    if (is_written_only(target_path)) {
      print("  what it predicts alone: what compile was given and the layers stay behind\n");
      conversion.check_text = "";
    } else {
      check_same_weights(*model, *load_model(target.path()), target_path);
    }
    return conversion;
  }
  const auto format = format_to_write<WeightsFormat>(target_path);
  const Dict options = save_options(format->save_weights_options(), command_line);
  Conversion conversion{
      [=](const std::string& path) { format->save_weights(*model, path, options); }};
  conversion.save(target.path());
  const ModelPtr reloaded = load_model(source_path);
  load_weights(*reloaded, target.path());
  check_same_weights(*model, *reloaded, target_path);
  print("  weights alone: layers and what compile was given stay behind\n");
  return conversion;
}

/// The largest difference between numbers of two arrays of one shape; NaN equals NaN.
double largest_difference(const Tensor& a, const Tensor& b) {
  const auto numbers = [](const Tensor& t) {
    return (t.dtype() == DType::complex64 ? ops::view_as_real(t) : t).to_vector();
  };
  const std::vector<double> x = numbers(a), y = numbers(b);
  double max_difference = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (x[i] != y[i] && !(std::isnan(x[i]) && std::isnan(y[i])))
      max_difference = std::max(max_difference, std::abs(x[i] - y[i]));
  return max_difference;
}

/// Compares arrays with those that are read from the file `path`, where a single array may have
/// another name. Fails if an array or its shape is not there; formats may round numbers, so the
/// largest difference is returned.
double check_same_arrays(const NamedTensors& written_arrays, const std::string& path,
                         const std::string& target_path) {
  const auto reader = format_to_read<ReadsArrays>(path);
  double max_difference = 0;
  for (const auto& [name, array] : written_arrays) {
    const Tensor read_array = reader->read_array(path, written_arrays.size() == 1 ? "" : name);
    if (read_array.shape() != array.shape())
      fail("'", target_path, "': array '", name, "', ", array.spec(), ", is read as ",
           read_array.spec());
    if (array.dtype() != DType::string)
      max_difference = std::max(max_difference, largest_difference(array, read_array));
  }
  return max_difference;
}

/// Converts arrays between two formats that both store arrays by name.
Conversion convert_arrays(const std::string& source_path, const Dict& description,
                          const std::string& target_path, const TemporaryTarget& target) {
  const auto reader = format_to_read<ReadsArrays>(source_path);
  const auto writer = format_to_write<WritesArrays>(target_path);
  NamedTensors arrays;
  for (const Value& array : description.at("arrays").as_list()) {
    const std::string& name = array.as_dict().at("name").as_string();
    // the array of a .npy file has no name; it gets that which NumPy gives it in .npz
    arrays.emplace_back(name.empty() ? "arr_0" : name, reader->read_array(source_path, name));
  }
  Conversion conversion{[=](const std::string& path) { writer->write_arrays(path, arrays); }};
  conversion.save(target.path());
  print(concat("  ", arrays.size(), " arrays\n"));
  const double max_difference = check_same_arrays(arrays, target.path(), target_path);
  if (max_difference > 0)
    conversion.check_text = concat("read again, with numbers rounded by up to ", max_difference);
  return conversion;
}

/// Returns the error message that says why a file that contains `kind` (arrays or weights) instead
/// of a model cannot be converted to the file `target_path`.
std::string conversion_error(const std::string& kind, const std::string& target_path,
                             const FileArguments& command_line) {
  constexpr const char* kHint = ": load them into the model in a script and save that";
  if (kind == "arrays" && command_line.has("target"))
    return "--target is for models, and it holds arrays";
  if (kind == "arrays" && target_path.ends_with(".weights.h5"))
    return concat("it holds arrays by name, and '", target_path,
                  "' has weights by the classes of a model's layers", kHint);
  if (kind == "weights" && !holds_models(target_path))
    return concat("it holds weights, and only their model knows how '", target_path, "' has them",
                  kHint);
  return concat("it holds ", kind, " and no model, which '", target_path, "' needs", kHint);
}

/// Returns f(); error messages then name the target instead of the temporary path.
template <class F>
Conversion with_target_in_errors(const TemporaryTarget& target, F f) {
  try {
    return f();
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& error) {
    fail(target.with_target_path(error.what()));
  }
}

}  // namespace

int convert(const std::vector<std::string>& arguments) {
  const FileArguments command_line(arguments, "convert", 2, {"dry-run"}, {"target"});
  const std::string &source_path = command_line.paths[0], &target_path = command_line.paths[1];
  const Value description = file_summary(source_path);
  const std::string kind = description.as_dict().at("kind").as_string();
  const bool is_dry_run = command_line.has("dry-run");
  print(concat(is_dry_run ? "would convert '" : "converting '", source_path, "' (", kind, ") to '",
               target_path, "'\n"));
  const CollectedWarnings warnings;
  const TemporaryTarget target(target_path);
  Conversion conversion;
  if (kind == "model")
    conversion = with_target_in_errors(
        target, [&] { return convert_model(source_path, target_path, target, command_line); });
  else if (kind == "arrays" && !command_line.has("target") && !target_path.ends_with(".weights.h5"))
    conversion = with_target_in_errors(target, [&] {
      return convert_arrays(source_path, description.as_dict(), target_path, target);
    });
  else
    refuse(source_path, conversion_error(kind, target_path, command_line));
  if (!is_dry_run) conversion.save(target_path);
  print(is_dry_run                      ? "nothing was written\n"
        : conversion.check_text.empty() ? "done\n"
                                        : concat("done: ", conversion.check_text, "\n"));
  return 0;
}

}  // namespace crescent::program
