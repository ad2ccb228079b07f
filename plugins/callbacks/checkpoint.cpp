// ModelCheckpoint saves the model during training. Saving is atomic (format.h), so the last good
// file survives a crash.
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "crescent/io/format.h"
#include "crescent/model/callback.h"
#include "crescent/ops/ops.h"
#include "crescent/program/distribution.h"
#include "crescent/program/division.h"
#include "crescent/registry/registration.h"
#include "crescent/system/file.h"
#include "monitor.h"

namespace crescent {
namespace {

/// The epoch and the batch, counted from 1, after which the model is saved. A save at the end of an
/// epoch has no batch.
struct SaveTime {
  int64_t epoch;
  std::optional<int64_t> batch;
  std::optional<int64_t> number(const std::string& name) const {
    return name == "epoch" ? epoch : name == "batch" ? batch : std::nullopt;
  }
};

/// The value of a placeholder such as "epoch:02d" or "val_loss:.2f".
std::string fill_placeholder(const std::string& text, const SaveTime& save_time, const Logs& logs) {
  const size_t colon_position = text.find(':');
  const std::string name = text.substr(0, colon_position);
  std::string number_format =
      colon_position == std::string::npos ? "" : text.substr(colon_position + 1);
  const std::optional<int64_t> number = save_time.number(name);
  if (!number && !logs.contains(name))
    fail("ModelCheckpoint: the file name asks for '", name, "'; there are: epoch, ",
         save_time.batch ? "batch, " : "", join(logs.names()),
         name == "batch" ? "; 'batch' comes with save_freq = a number of batches" : "");
  const std::string digits_and_point = "0123456789.";
  const char conversion = number_format.empty() ? (number ? 'd' : 'g') : number_format.back();
  if (!number_format.empty()) number_format.pop_back();
  if (number_format.find_first_not_of(digits_and_point) != std::string::npos ||
      number_format.size() > 6 || std::string("dfeg").find(conversion) == std::string::npos)
    fail("ModelCheckpoint: cannot read the format '", text,
         "'; write {epoch:02d} or {val_loss:.2f}");
  char buffer[400];
  if (conversion == 'd')
    std::snprintf(buffer, sizeof buffer, ("%" + number_format + "lld").c_str(),
                  (long long)(number ? *number : int64_t(logs.at(name))));
  else
    std::snprintf(buffer, sizeof buffer, ("%" + number_format + conversion).c_str(),
                  number ? double(*number) : logs.at(name));
  return buffer;
}

/// Fills the placeholders of a path: "m-03.h5" for "m-{epoch:02d}.h5".
std::string fill_path(const std::string& pattern, const SaveTime& save_time, const Logs& logs) {
  std::string path;
  for (size_t i = 0; i < pattern.size();) {
    const size_t close_position = pattern[i] == '{' ? pattern.find('}', i) : std::string::npos;
    if (close_position == std::string::npos) {
      path += pattern[i++];
    } else {
      path += fill_placeholder(pattern.substr(i + 1, close_position - i - 1), save_time, logs);
      i = close_position + 1;
    }
  }
  return path;
}

/// The name of a weight that contains NaN or infinity; empty if all weights are finite.
std::string name_of_non_finite_weight(const Model& model) {
  for (const Variable& weight : model.weights())
    if (is_floating(weight.dtype()) && ops::all(ops::isfinite(weight)).item() == 0)
      return weight.name();
  return "";
}

/// Creates the folder of a file if it is missing.
void create_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) create_folder(folder);
}

class ModelCheckpoint final : public Callback {
 public:
  static void describe(Schema<ModelCheckpoint>& s) {
    s.doc("Saves the model after each epoch or every so many batches.")
        .field(
            "filepath", &ModelCheckpoint::path_,
            "Path; may contain {epoch:02d}, {val_loss:.2f} and, if save_freq is a number, {batch}. "
            "Missing folders are created.")
        .required()
        .field("monitor", &ModelCheckpoint::monitor_name_,
               "Name of the value that save_best_only compares.")
        .field("verbose", &ModelCheckpoint::verbose_, "1: print a message.")
        .field("save_best_only", &ModelCheckpoint::save_best_only_,
               "Save only if the monitored value improved.")
        .field("save_weights_only", &ModelCheckpoint::save_weights_only_,
               "Save the weights instead of the whole model.")
        .field("mode", &ModelCheckpoint::mode_,
               "Whether smaller (\"min\") or larger (\"max\") values are better; \"auto\" decides "
               "by the name.")
        .choices({"auto", "min", "max"})
        .field("save_freq", &ModelCheckpoint::save_freq_, "\"epoch\" or a number of batches.")
        .field("initial_value_threshold", &ModelCheckpoint::threshold_,
               "A value that the first improvement must beat.");
  }
  void configured() override {
    const bool is_batch_count = save_freq_.is_int() && save_freq_.as_int() > 0;
    if (!is_batch_count && !(save_freq_.is_string() && save_freq_.as_string() == "epoch"))
      fail("save_freq must be \"epoch\" or a number of batches, got ", save_freq_);
    check_file_name_ending();
    monitor_ = {.name = monitor_name_, .mode = mode_, .min_delta = 0, .best = threshold_};
  }
  void on_train_begin(const Logs&) override { monitor_.improvement = Direction::unknown; }
  void on_epoch_begin(int64_t epoch, const Logs&) override { epoch_ = epoch; }
  void on_train_batch_end(int64_t batch, const Logs& logs) override {
    if (save_best_only_) monitor_.find_direction(*model_, class_name());
    if (save_freq_.is_int() && ++batch_count_ % save_freq_.as_int() == 0)
      save_unless_worse({epoch_ + 1, batch + 1}, logs);
  }
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    if (save_freq_.is_string()) save_unless_worse({epoch + 1, {}}, logs);
  }
  bool comes_last() const override { return true; }
  /// Whether one process alone writes the file. This is false if weights are divided among the
  /// processes, because then all processes contribute to the file.
  bool writes_for_all() const override { return layouts().empty(); }
  Dict get_state() const override {
    return {{"best", monitor_.best_value()}, {"batches", batch_count_}};
  }
  void set_state(const Dict& state) override {
    monitor_.set_best(state.at("best"));
    batch_count_ = state.at("batches").as_int();
  }

 private:
  /// Fails for a path whose file name ending belongs to no file format. The folder need not exist
  /// yet.
  void check_file_name_ending() const {
    const std::string name = path_.substr(path_.rfind('/') + 1);
    if (save_weights_only_)
      format_to_write<WeightsFormat>(name);
    else
      format_to_write<ModelFormat>(name);
  }
  void save_unless_worse(const SaveTime& save_time, const Logs& logs) {
    if (logs.contains("loss") && !std::isfinite(logs.at("loss")))
      return warn("ModelCheckpoint: the loss is not finite, nothing saved in epoch ",
                  save_time.epoch);
    if (!save_best_only_) return void(save(save_time, logs, ""));
    monitor_.find_direction(*model_, class_name());
    if (!logs.contains(monitor_.name)) {
      warn("Can save best model only with ", monitor_.name, " available.");
      return void(save(save_time, logs, ""));
    }
    const double value = logs.at(monitor_.name);
    if (!monitor_.improves(value)) return report_no_improvement(save_time.epoch);
    const std::string improvement_text = monitor_.best ? concat(monitor_.name, " improved from ",
                                                                *monitor_.best, " to ", value, ", ")
                                                       : "";
    // The best value is set before saving, because the saved state of callbacks contains it.
    const std::optional<double> old_best = std::exchange(monitor_.best, value);
    if (!save(save_time, logs, improvement_text)) monitor_.best = old_best;
  }
  void report_no_improvement(int64_t epoch) const {
    if (!prints_messages()) return;
    std::printf("\nEpoch %lld: %s did not improve", (long long)epoch,
                printable(monitor_.name).c_str());
    if (monitor_.best) std::printf(" from %.5f", *monitor_.best);
    std::printf("\n");
  }
  /// Whether this process prints messages.
  bool prints_messages() const { return verbose_ > 0 && is_reporting_process(); }
  /// Saves the model. Only the reporting process writes the file, but if weights are divided among
  /// processes, all of them take part, because the weights must be gathered. If saving fails,
  /// prints the reason and returns false; training continues, and the previous file is kept.
  bool save(const SaveTime& save_time, const Logs& logs, const std::string& improvement_text) {
    const std::string path = fill_path(path_, save_time, logs);
    const int64_t epoch = save_time.epoch;
    const bool is_writer = is_reporting_process();
    if (!is_writer && !any_divided(model_->weights())) return true;
    if (const std::string bad_weight_name = name_of_non_finite_weight(*model_);
        !bad_weight_name.empty()) {
      if (is_writer)
        warn("ModelCheckpoint: epoch ", epoch, " was not saved: weight '", bad_weight_name,
             "' is not finite");
      return false;
    }
    if (prints_messages())
      std::printf("\nEpoch %lld: %ssaving model to %s\n", (long long)epoch,
                  printable(improvement_text).c_str(), printable(path).c_str());
    try {
      if (is_writer) create_folder_of(path);
      if (save_weights_only_)
        save_weights(*model_, path);
      else
        save_model(*model_, path);
      return true;
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      if (is_writer) warn("ModelCheckpoint: epoch ", epoch, " was not saved: ", error.what());
      return false;
    }
  }

  std::string path_, monitor_name_ = "val_loss", mode_ = "auto";
  int64_t verbose_ = 0;
  bool save_best_only_ = false, save_weights_only_ = false;
  Value save_freq_ = "epoch";
  std::optional<double> threshold_;

  Monitor monitor_;
  int64_t epoch_ = 0, batch_count_ = 0;
};

}  // namespace

CRESCENT_REGISTER(checkpoint) { registry.add<ModelCheckpoint>("ModelCheckpoint"); }

}  // namespace crescent
