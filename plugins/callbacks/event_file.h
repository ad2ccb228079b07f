// Event files of TensorBoard: records of protocol buffers with checksums.
#pragma once
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

namespace crescent {

class EventFile {
 public:
  /// Makes the folder and a new file in it.
  explicit EventFile(const std::string& folder);
  void add_scalar(const std::string& tag, double value, int64_t step);
  /// Adds the histogram of values in buckets of exponentially growing width.
  void add_histogram(const std::string& tag, std::span<const double> values, int64_t step);
  /// Adds a model as JSON, which TensorBoard shows as a graph.
  void add_model(const std::string& json);
  void flush();

 private:
  /// Adds a message Summary.Value, given as its encoded bytes without the tag.
  void add_summary(const std::string& tag, const std::string& value, int64_t step);
  void write_record(const std::string& bytes);

  struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, FileCloser> file_;
};

}  // namespace crescent
