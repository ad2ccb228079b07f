// Files of elements, in which cache() stores them.
#pragma once
#include <cstdio>
#include <memory>

#include "data/input_file.h"
#include "data/streams/element.h"

namespace crescent {

/// Writes elements to a temporary file beside `path`, which finish() renames to `path`. The
/// destructor removes an unfinished file.
class ElementWriter {
 public:
  explicit ElementWriter(const std::string& path);
  ~ElementWriter();
  ElementWriter(const ElementWriter&) = delete;
  void write(const Element& element);
  void finish();

 private:
  void write_bytes(const void* bytes, size_t count);
  [[noreturn]] void fail_writing() const;
  std::string path_, temporary_path_;
  std::FILE* file_ = nullptr;
};

/// Reads elements from a file; all data in the file is checked before it is used.
class ElementReader {
 public:
  explicit ElementReader(const std::string& path);
  bool next(Element& element);

 private:
  Tensor tensor_at(const List& spec);
  Tensor texts_of(const List& texts_and_shape) const;
  void expect_remaining(uint64_t bytes) const;
  InputFile file_;
  size_t size_, offset_;
};

}  // namespace crescent
