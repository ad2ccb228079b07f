// BackupAndRestore saves the training run to a file: weights, optimizer, random states, callbacks
// and the position in the data. The same fit in a later process continues the run.
#include <filesystem>

#include "crescent/model/callback.h"
#include "crescent/model/training_run.h"
#include "crescent/program/distribution.h"
#include "crescent/program/division.h"
#include "crescent/registry/registration.h"
#include "crescent/system/interrupt.h"

namespace crescent {
namespace {

namespace fs = std::filesystem;

class BackupAndRestore final : public Callback {
 public:
  static void describe(Schema<BackupAndRestore>& s) {
    s.doc(
         "Saves the state of training in a file, from which the same fit in a later process "
         "continues.")
        .field("backup_dir", &BackupAndRestore::folder_, "Folder of the file; created if missing.")
        .required()
        .field("save_freq", &BackupAndRestore::save_freq_,
               "\"epoch\", a number of batches, or false: only when training is interrupted.")
        .field("double_checkpoint", &BackupAndRestore::double_checkpoint_,
               "Keep the previous file too, in case the last one cannot be read.")
        .field("delete_checkpoint", &BackupAndRestore::delete_checkpoint_,
               "Remove the files when training has ended.")
        .field("file_name", &BackupAndRestore::file_name_, "Name of the file in the folder.");
  }
  void configured() override {
    const bool is_batch_count = save_freq_.is_int() && save_freq_.as_int() > 0;
    const bool is_epoch = save_freq_.is_string() && save_freq_.as_string() == "epoch";
    if (!is_batch_count && !is_epoch && save_freq_ != Value(false))
      fail("save_freq must be \"epoch\", a number of batches or false, got ", save_freq_);
    if (folder_.empty()) fail("Empty `backup_dir` argument passed. Please specify a valid folder.");
    if (file_name_.empty()) fail("Empty `file_name` argument passed. Please specify a file name.");
  }

  void try_resume(TrainingRun& run) override {
    const std::string current_path = path(), previous_path = path_of_previous();
    // While the run is being restored it counts as saved: if it is interrupted meanwhile, its state
    // is incomplete and must not replace the backup files.
    is_saved_ = exists(current_path) || exists(previous_path);
    if (exists(current_path)) {
      if (!exists(previous_path)) return load(run, current_path);
      try {
        return load(run, current_path);
      } catch (const Interrupted&) {
        throw;
      } catch (const Error& error) {
        warn(error.what(), "; going on from '", previous_path, "'");
      }
      load(run, previous_path);
      // The damaged file must not replace the good backup (`previous_path`) when the next backup is
      // saved. The damaged file is not removed here, because processes that resume together may
      // still read it.
      is_unreadable_ = true;
    } else if (exists(previous_path)) {
      load(run, previous_path);
    }
  }
  void on_train_begin(const Logs&) override { batch_count_ = 0; }
  void on_train_batch_end(int64_t, const Logs&) override {
    ++batch_count_;
    is_saved_ = false;
    if (interrupted() || (save_freq_.is_int() && batch_count_ % save_freq_.as_int() == 0)) save();
  }
  void on_test_batch_end(int64_t, const Logs&) override {
    if (interrupted()) save();
  }
  void on_epoch_end(int64_t, Logs&) override {
    if (save_freq_.is_string() || interrupted()) save();
  }
  void on_train_end(const Logs&) override {
    if (interrupted() && !is_saved_) save();
    if (!delete_checkpoint_ || interrupted() || !is_reporting_process()) return;
    remove(path());
    remove(path_of_previous());
  }
  bool comes_last() const override { return true; }

 private:
  std::string path() const { return (fs::path(folder_) / file_name_).string(); }
  /// The path of the backup before the last one: "run.previous.h5" for "run.h5".
  std::string path_of_previous() const {
    const fs::path name = file_name_;
    return (fs::path(folder_) / (name.stem().string() + ".previous" + name.extension().string()))
        .string();
  }
  static bool exists(const std::string& path) {
    std::error_code ignored_error;
    return fs::exists(path, ignored_error);
  }

  static void remove(const std::string& path) {
    std::error_code ignored_error;
    fs::remove(path, ignored_error);
  }

  static void load(TrainingRun& run, const std::string& path) {
    try {
      run.load(path);
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      fail("cannot go on with the run that was kept in '", path,
           "' (delete it to begin anew): ", error.what());
    }
  }

  /// Saves the training run. Only the reporting process writes the file, but if weights are divided
  /// among processes, all of them take part, because the weights must be gathered. If saving fails,
  /// prints the reason, and training continues.
  void save() {
    const TrainingRunPtr run = model_->training_run();
    // During evaluate() there is no training run.
    const bool is_writer = is_reporting_process();
    if (!run || !(is_writer || any_divided(model_->weights()))) return;
    is_saved_ = true;
    try {
      std::error_code ignored_error;
      if (is_writer) fs::create_directories(folder_, ignored_error);
      const bool keeps_previous = double_checkpoint_ && !std::exchange(is_unreadable_, false);
      if (is_writer && keeps_previous) fs::rename(path(), path_of_previous(), ignored_error);
      run->save(path());
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      if (is_writer) warn("BackupAndRestore: the run was not saved: ", error.what());
    }
  }

  std::string folder_, file_name_ = "run.h5";
  Value save_freq_ = "epoch";
  bool double_checkpoint_ = false, delete_checkpoint_ = true;

  int64_t batch_count_ = 0;
  bool is_saved_ = false;       ///< whether the backup file holds the state after the last batch
  bool is_unreadable_ = false;  ///< whether the last backup file could not be read
};

}  // namespace

CRESCENT_REGISTER(backup) { registry.add<BackupAndRestore>("BackupAndRestore"); }

}  // namespace crescent
