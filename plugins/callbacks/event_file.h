// Files of events that TensorBoard shows: records of protocol buffers, each with checksums.
#pragma once
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

namespace crescent {

class EventFile {
 public:
  /// Makes the folder and in it a file of its own.
  explicit EventFile(const std::string& folder);
  void add_scalar(const std::string& tag, double value, int64_t step);
  /// How often values fall between exponentially growing limits.
  void add_histogram(const std::string& tag, std::span<const double> values, int64_t step);
  /// A model as JSON, which TensorBoard draws as a graph.
  void add_model(const std::string& json);
  void flush();

 private:
  /// The bytes of a Summary.Value without its tag.
  void add_summary(const std::string& tag, const std::string& value, int64_t step);
  void write_record(const std::string& bytes);

  struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, FileCloser> file_;
};

}  // namespace crescent
