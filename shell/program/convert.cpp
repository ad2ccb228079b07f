#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>

#include "crescent/io/format.h"
#include "file_commands.h"

namespace crescent::program {
namespace {

namespace fs = std::filesystem;

/// A temporary path in a new folder beside the target. A file is written there first; its
/// companions, such as shards of weights, are written to the folder too. The destructor removes the
/// folder.
class TemporaryTarget {
 public:
  explicit TemporaryTarget(const fs::path& target)
      : target_(target.string()),
        folder_(target.parent_path() / concat(".convert-", getpid())),
        path_((folder_ / target.filename()).string()) {
    // ignored, because the writer reports that the parent folder does not exist
    std::error_code ignored_error;
    fs::create_directory(folder_, ignored_error);
  }
  ~TemporaryTarget() {
    std::error_code ignored_error;
    fs::remove_all(folder_, ignored_error);
  }
  TemporaryTarget(const TemporaryTarget&) = delete;
  const std::string& path() const { return path_; }
  /// The message with the temporary path replaced by the path of the target.
  std::string with_target_path(std::string text) const {
    const std::string parent = fs::path(target_).parent_path().string();
    for (const auto& [from, to] :
         {std::pair(path_, target_), std::pair(folder_.string(), parent.empty() ? "." : parent)})
      for (size_t offset; (offset = text.find(from)) != text.npos;)
        text.replace(offset, from.size(), to);
    return text;
  }

 private:
  std::string target_;
  fs::path folder_;
  std::string path_;
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
    static std::vector<std::string> all;
    return all;
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

[[noreturn]] void refuse(const std::string& from, const std::string& reason) {
  fail("'", from, "' is not converted: ", reason);
}

/// Prints the warnings since the last call; fails if one of them says that content would be lost.
void refuse_losses(const std::string& from, const TemporaryTarget& target) {
  for (std::string& text : CollectedWarnings::texts())
    text = target.with_target_path(std::move(text));
  for (const std::string& text : CollectedWarnings::texts())
    for (const char* loss_text : kLossWarnings)
      if (text.find(loss_text) != text.npos) refuse(from, "this would be lost: " + text);
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
                        const std::string& to) {
  const Tensors a = written_model.get_weights(), b = read_model.get_weights();
  bool are_same = a.size() == b.size();
  for (size_t i = 0; are_same && i < a.size(); ++i)
    are_same = a[i].spec() == b[i].spec() && std::memcmp(a[i].raw(), b[i].raw(), a[i].bytes()) == 0;
  if (!are_same) fail("'", to, "': what was written is not read as it was");
}

Dict save_options(const SchemaData& schema, const FileArguments& command_line) {
  Dict options;
  if (!command_line.has("target")) return options;
  if (!schema.find("target")) fail("--target: such files are written in one way only");
  options.set("target", Value(command_line.options.at("target")));
  return options;
}

std::string contents_of(Model& model) {
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

Conversion convert_model(const std::string& from, const std::string& to,
                         const TemporaryTarget& target, const FileArguments& command_line) {
  const ModelPtr model = load_model(from);
  refuse_losses(from, target);
  print(contents_of(*model));
  if (holds_models(to)) {
    const auto format = format_to_write<ModelFormat>(to);
    const Dict options = save_options(format->save_model_options(), command_line);
    Conversion conversion{
        [=](const std::string& path) { format->save_model(*model, path, options); }};
    conversion.save(target.path());
    refuse_losses(from, target);
    if (is_written_only(to)) {
      print("  what it predicts alone: what compile was given and the layers stay behind\n");
      conversion.check_text = "";
    } else {
      check_same_weights(*model, *load_model(target.path()), to);
    }
    return conversion;
  }
  const auto format = format_to_write<WeightsFormat>(to);
  const Dict options = save_options(format->save_weights_options(), command_line);
  Conversion conversion{
      [=](const std::string& path) { format->save_weights(*model, path, options); }};
  conversion.save(target.path());
  const ModelPtr reloaded = load_model(from);
  load_weights(*reloaded, target.path());
  check_same_weights(*model, *reloaded, to);
  print("  weights alone: layers and what compile was given stay behind\n");
  return conversion;
}

/// The largest difference between numbers of two arrays of one shape; NaN equals NaN.
double largest_difference(const Tensor& a, const Tensor& b) {
  const auto numbers = [](const Tensor& t) {
    return (t.dtype() == DType::complex64 ? ops::view_as_real(t) : t).to_vector();
  };
  const std::vector<double> x = numbers(a), y = numbers(b);
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (x[i] != y[i] && !(std::isnan(x[i]) && std::isnan(y[i])))
      largest = std::max(largest, std::abs(x[i] - y[i]));
  return largest;
}

/// Compares arrays with those that are read from the file `path`, where a single array may have
/// another name. Fails if an array or its shape is not there; formats may round numbers, so the
/// largest difference is returned.
double check_same_arrays(const NamedTensors& written_arrays, const std::string& path,
                         const std::string& to) {
  const auto reader = format_to_read<ReadsArrays>(path);
  double largest = 0;
  for (const auto& [name, array] : written_arrays) {
    const Tensor read_array = reader->read_array(path, written_arrays.size() == 1 ? "" : name);
    if (read_array.shape() != array.shape())
      fail("'", to, "': array '", name, "', ", array.spec(), ", is read as ", read_array.spec());
    if (array.dtype() != DType::string)
      largest = std::max(largest, largest_difference(array, read_array));
  }
  return largest;
}

/// Converts arrays between two formats that both store arrays by name.
Conversion convert_arrays(const std::string& from, const Dict& description, const std::string& to,
                          const TemporaryTarget& target) {
  const auto reader = format_to_read<ReadsArrays>(from);
  const auto writer = format_to_write<WritesArrays>(to);
  NamedTensors arrays;
  for (const Value& array : description.at("arrays").as_list()) {
    const std::string& name = array.as_dict().at("name").as_string();
    // the array of a .npy file has no name; it gets that which NumPy gives it in .npz
    arrays.emplace_back(name.empty() ? "arr_0" : name, reader->read_array(from, name));
  }
  Conversion conversion{[=](const std::string& path) { writer->write_arrays(path, arrays); }};
  conversion.save(target.path());
  print(concat("  ", arrays.size(), " arrays\n"));
  const double largest = check_same_arrays(arrays, target.path(), to);
  if (largest > 0)
    conversion.check_text = concat("read again, with numbers rounded by up to ", largest);
  return conversion;
}

/// Returns the error message that says why a file that contains `kind` (arrays or weights) instead
/// of a model cannot be converted to the file `to`.
std::string conversion_error(const std::string& kind, const std::string& to,
                             const FileArguments& command_line) {
  constexpr const char* kHint = ": load them into the model in a script and save that";
  if (kind == "arrays" && command_line.has("target"))
    return "--target is for models, and it holds arrays";
  if (kind == "arrays" && to.ends_with(".weights.h5"))
    return concat("it holds arrays by name, and '", to,
                  "' has weights by the classes of a model's layers", kHint);
  if (kind == "weights" && !holds_models(to))
    return concat("it holds weights, and only their model knows how '", to, "' has them", kHint);
  return concat("it holds ", kind, " and no model, which '", to, "' needs", kHint);
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
  const std::string &from = command_line.paths[0], &to = command_line.paths[1];
  const Value description = described_file(from);
  const std::string kind = description.as_dict().at("kind").as_string();
  const bool is_dry_run = command_line.has("dry-run");
  print(concat(is_dry_run ? "would convert '" : "converting '", from, "' (", kind, ") to '", to,
               "'\n"));
  const CollectedWarnings warnings;
  const TemporaryTarget target(to);
  Conversion conversion;
  if (kind == "model")
    conversion = with_target_in_errors(
        target, [&] { return convert_model(from, to, target, command_line); });
  else if (kind == "arrays" && !command_line.has("target") && !to.ends_with(".weights.h5"))
    conversion = with_target_in_errors(
        target, [&] { return convert_arrays(from, description.as_dict(), to, target); });
  else
    refuse(from, conversion_error(kind, to, command_line));
  if (!is_dry_run) conversion.save(to);
  print(is_dry_run                      ? "nothing was written\n"
        : conversion.check_text.empty() ? "done\n"
                                        : concat("done: ", conversion.check_text, "\n"));
  return 0;
}

}  // namespace crescent::program
