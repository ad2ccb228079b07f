// CSVLogger writes the logs of each epoch as a line of a CSV file.
#include <algorithm>
#include <cstdio>

#include "crescent/model/callback.h"
#include "crescent/registry/registration.h"
#include "crescent/system/file.h"

namespace crescent {
namespace {

class CSVLogger final : public Callback {
 public:
  static void describe(Schema<CSVLogger>& s) {
    s.doc("Writes the logs of each epoch as a line of a CSV file.")
        .field("filename", &CSVLogger::filename_, "Path of the file.")
        .required()
        .field("separator", &CSVLogger::separator_, "Separator of the columns.")
        .field("append", &CSVLogger::append_, "Append to an existing file.");
  }
  void on_train_begin(const Logs&) override {
    column_names_.clear();
    has_header_ = append_ && file_size() > 0;
    open(append_ ? "a" : "w");
  }
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    if (!file_) return;
    if (column_names_.empty()) {
      choose_columns(logs);
      if (!has_header_) write_header();
    }
    std::string line = std::to_string(epoch);
    for (const std::string& name : column_names_)
      line += separator_ + (logs.contains(name) ? to_text(logs.at(name)) : "NA");
    write(line);
  }
  void on_train_end(const Logs&) override { file_.reset(); }
  bool writes_for_all() const override { return true; }

 private:
  struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  int64_t file_size() const {
    const std::unique_ptr<std::FILE, FileCloser> file(std::fopen(system_path(filename_), "r"));
    if (!file) return 0;
    std::fseek(file.get(), 0, SEEK_END);
    return std::ftell(file.get());
  }
  void open(const char* mode) {
    file_.reset(std::fopen(system_path(filename_), mode));
    if (!file_) fail("CSVLogger: cannot write '", filename_, "'");
  }
  /// Chooses the columns: the sorted names of the logs of the first epoch. If these contain no
  /// validation logs, columns "val_..." are added, as in Keras, because validation may begin in a
  /// later epoch.
  void choose_columns(const Logs& logs) {
    column_names_ = logs.names();
    std::sort(column_names_.begin(), column_names_.end());
    const auto is_validation_log = [](const std::string& name) { return name.starts_with("val_"); };
    if (std::any_of(column_names_.begin(), column_names_.end(), is_validation_log)) return;
    for (size_t i = 0, count = column_names_.size(); i < count; ++i)
      column_names_.push_back("val_" + column_names_[i]);
  }
  std::string quote_if_needed(const std::string& text) const {
    if (text.find_first_of("\"\r\n" + separator_) == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
    return out + "\"";
  }
  void write_header() {
    std::string line = "epoch";
    for (const std::string& name : column_names_) line += separator_ + quote_if_needed(name);
    write(line);
  }
  void write(const std::string& line) {
    const NoFileSizeSignal no_signal;
    if (std::fprintf(file_.get(), "%s\r\n", line.c_str()) < 0 || std::fflush(file_.get()) != 0)
      fail("CSVLogger: cannot write '", filename_, "'");
  }

  std::string filename_, separator_ = ",";
  bool append_ = false, has_header_ = false;
  std::vector<std::string> column_names_;
  std::unique_ptr<std::FILE, FileCloser> file_;
};

}  // namespace

CRESCENT_REGISTER(csv_logger) { registry.add<CSVLogger>("CSVLogger"); }

}  // namespace crescent
