#include "model/atomic_format.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "crescent/system/file.h"
#include "registry/blame.h"
#include "system/replay_task.h"

namespace crescent {
namespace {

namespace fs = std::filesystem;

void sync(const fs::path& file) {
  const Descriptor descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor < 0 || (fsync(descriptor) != 0 && errno != EINVAL))
    fail("cannot save '", file.filename().string(), "': ", strerror(errno));
}

/// A temporary folder next to the file that is to be saved. The format writes its files into this
/// folder. When all of them are complete, they are moved to the folder of the requested file and
/// replace files of the same names; the requested file is moved last.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& path) {
    std::error_code error;
    const std::string target_path = path.substr(0, path.find_last_not_of('/') + 1);
    is_target_folder_ = path.ends_with('/');
    target_ = fs::is_symlink(target_path, error) ? fs::weakly_canonical(target_path)
                                                 : fs::path(target_path);
    std::string pattern = (target_.parent_path() / ".crescent-saving-XXXXXX").string();
    if (!mkdtemp(pattern.data())) fail("cannot save '", path, "': ", strerror(errno));
    folder_ = pattern;
    file_ = folder_ / target_.filename();
  }
  ~TemporaryFolder() {
    std::error_code error;
    fs::remove_all(folder_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;

  /// The path that the format writes to; that of a folder ends in '/'.
  std::string file() const { return file_.string() + (is_target_folder_ ? "/" : ""); }

  void commit() const {
    if (!fs::exists(file_)) fail("the format wrote no file");
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) sync(entry.path());
    for (const auto& entry : fs::directory_iterator(folder_))
      if (entry.path() != file_) move_out(entry.path(), destination_of(entry.path()));
    move_out(file_, destination_of(file_));
    sync(folder_.parent_path().empty() ? fs::path(".") : folder_.parent_path());
  }

 private:
  fs::path destination_of(const fs::path& temporary_file) const {
    return target_.parent_path() / temporary_file.filename();
  }

  /// Moves a complete file to its destination with the permissions of the file that it replaces.
  /// The files of a folder are moved one by one if the destination is a folder.
  static void move_out(const fs::path& temporary_file, const fs::path& destination) {
    if (fs::is_directory(temporary_file) && fs::is_directory(destination)) {
      for (const auto& entry : fs::directory_iterator(temporary_file))
        move_out(entry.path(), destination / entry.path().filename());
      return;
    }
    if (fs::is_regular_file(destination))
      fs::permissions(temporary_file, fs::status(destination).permissions());
    fs::rename(temporary_file, destination);
  }

  fs::path target_, folder_;
  fs::path file_;  ///< the temporary file, or folder, that is moved to target_
  bool is_target_folder_ = false;
};

/// Fails with `text`, in which the path of the temporary file is replaced by `path`, which the user
/// gave.
[[noreturn]] void fail_saving(std::string text, const std::string& path,
                              const std::string& temporary_path) {
  for (size_t position; (position = text.find(temporary_path)) != text.npos;)
    text.replace(position, temporary_path.size(), path);
  fail("cannot save '", path, "': ", text);
}

class AtomicFormat final : public Format,
                           public ModelFormat,
                           public WeightsFormat,
                           public ReadsArrays,
                           public WritesArrays,
                           public ReadsTables,
                           public TranslatesConfigs {
 public:
  explicit AtomicFormat(FormatPtr format) : format_(std::move(format)) { attach(format_->info()); }
  Dict get_config() const override { return format_->get_config(); }

  const SchemaData& save_model_options() const override {
    return as<ModelFormat>().save_model_options();
  }
  const SchemaData& load_model_options() const override {
    return as<ModelFormat>().load_model_options();
  }
  void save_model(Model& model, const std::string& path, const Dict& options) override {
    save(path, [&](const std::string& temporary_path) {
      as<ModelFormat>().save_model(model, temporary_path, options);
    });
  }
  ModelPtr load_model(const std::string& path, const Dict& options) override {
    return with_path_in_errors(path, [&] { return as<ModelFormat>().load_model(path, options); });
  }

  const SchemaData& save_weights_options() const override {
    return as<WeightsFormat>().save_weights_options();
  }
  const SchemaData& load_weights_options() const override {
    return as<WeightsFormat>().load_weights_options();
  }
  void save_weights(Model& model, const std::string& path, const Dict& options) override {
    save(path, [&](const std::string& temporary_path) {
      as<WeightsFormat>().save_weights(model, temporary_path, options);
    });
  }
  void load_weights(Model& model, const std::string& path, const Dict& options) override {
    with_path_in_errors(path, [&] { as<WeightsFormat>().load_weights(model, path, options); });
  }

  Tensor read_array(const std::string& path, const std::string& name) override {
    return with_path_in_errors(path, [&] { return as<ReadsArrays>().read_array(path, name); });
  }
  Tensor open_array(const std::string& path, const std::string& name) override {
    return with_path_in_errors(path, [&] { return as<ReadsArrays>().open_array(path, name); });
  }
  NamedTensors read_arrays(const std::string& path) override {
    return with_path_in_errors(path, [&] { return as<ReadsArrays>().read_arrays(path); });
  }
  void write_arrays(const std::string& path, const NamedTensors& arrays) override {
    save(path, [&](const std::string& temporary_path) {
      as<WritesArrays>().write_arrays(temporary_path, arrays);
    });
  }

  const SchemaData& read_table_options() const override {
    return as<ReadsTables>().read_table_options();
  }
  Table read_table(const std::string& path, const Dict& options) override {
    return with_path_in_errors(path, [&] { return as<ReadsTables>().read_table(path, options); });
  }

  Value config_in(const Value& config, const Value& custom_objects) override {
    return as<TranslatesConfigs>().config_in(config, custom_objects);
  }
  const SchemaData& config_out_options() const override {
    return as<TranslatesConfigs>().config_out_options();
  }
  Value config_out(const Value& config, const Dict& options) override {
    return as<TranslatesConfigs>().config_out(config, options);
  }

 private:
  template <class Interface>
  Interface& as() const {
    return dynamic_cast<Interface&>(*format_);
  }

  /// Runs code that reads the file; errors name its path.
  template <class F>
  auto with_path_in_errors(const std::string& path, F f) const -> decltype(f()) {
    try {
      return blaming(*format_, f);
    } catch (const Interrupted&) {
      throw;
    } catch (Error& error) {
      if (std::string_view(error.what()).find(path) == std::string_view::npos)
        error.add_context(concat("'", path, "': "));
      throw;
    }
  }

  /// Saves a file, except in a process that replays a recorded step: the files of the recorded run
  /// must stay unchanged.
  template <class F>
  void save(const std::string& path, F write) const {
    if (replay_task()) return;
    const TemporaryFolder temporary_folder(path);
    const std::string temporary_path = temporary_folder.file();
    try {
      blaming(*format_, [&] { write(temporary_path), temporary_folder.commit(); });
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      fail_saving(error.what(), path, temporary_path);
    }
  }

  FormatPtr format_;
};

}  // namespace

FormatPtr with_atomic_saving(FormatPtr format) {
  const bool is_lua_format = format && format->info()->origin == "Lua";
  const bool is_built_in_format = format && is_built_in(*format->info()) && !is_lua_format;
  if (!format || (is_built_in_format && !replay_task())) return format;
  return std::make_shared<AtomicFormat>(std::move(format));
}

}  // namespace crescent
