// cache() stores the elements of the first complete pass in memory or in a file.
#include <filesystem>
#include <mutex>

#include "crescent/system/file.h"
#include "data/streams/derived_stream.h"
#include "data/streams/element_file.h"

namespace crescent {
namespace {

class ReadingCursor final : public Cursor {
 public:
  explicit ReadingCursor(const std::string& path) : reader_(path) {}
  bool next(Element& element) override { return reader_.next(element); }

 private:
  ElementReader reader_;
};

/// A cursor that writes its elements to a file.
class WritingCursor final : public Cursor {
 public:
  WritingCursor(CursorPtr source, const std::string& path)
      : source_cursor_(std::move(source)), writer_(std::make_unique<ElementWriter>(path)) {}
  bool next(Element& element) override {
    const bool has_next = source_cursor_->next(element);
    if (!writer_) return has_next;
    if (has_next) {
      writer_->write(element);
    } else {
      writer_->finish();
      writer_ = nullptr;
    }
    return has_next;
  }

 private:
  CursorPtr source_cursor_;
  std::unique_ptr<ElementWriter> writer_;  ///< null after the end of the pass
};

class FileCacheStream final : public DerivedStream {
 public:
  FileCacheStream(StreamPtr source, std::string path)
      : DerivedStream(std::move(source)), path_(std::move(path)) {
    system_path(path_);
  }
  bool on_own_thread() const override { return !file_exists() && Stream::on_own_thread(); }
  CursorPtr open(uint64_t) override {
    if (file_exists()) return std::make_shared<ReadingCursor>(path_);
    return std::make_shared<WritingCursor>(source_->open(0), path_);
  }

 private:
  bool file_exists() const { return std::filesystem::exists(path_); }
  std::string path_;
};

/// The elements of a complete pass; passes on several threads share them.
struct CachedElements {
  std::mutex mutex;
  std::shared_ptr<const std::vector<Element>> elements;
};

class RecordingCursor final : public Cursor {
 public:
  RecordingCursor(CursorPtr source, std::shared_ptr<CachedElements> cached_elements)
      : source_cursor_(std::move(source)), cached_elements_(std::move(cached_elements)) {}
  bool next(Element& element) override {
    if (!source_cursor_->next(element)) {
      const std::lock_guard lock(cached_elements_->mutex);
      if (!cached_elements_->elements)
        cached_elements_->elements =
            std::make_shared<const std::vector<Element>>(std::move(recorded_elements_));
      return false;
    }
    recorded_elements_.push_back(element);
    return true;
  }

 private:
  CursorPtr source_cursor_;
  std::shared_ptr<CachedElements> cached_elements_;
  std::vector<Element> recorded_elements_;
};

class ReplayCursor final : public Cursor {
 public:
  explicit ReplayCursor(std::shared_ptr<const std::vector<Element>> elements)
      : elements_(std::move(elements)) {}
  bool next(Element& element) override {
    if (next_index_ == elements_->size()) return false;
    element = (*elements_)[next_index_++];
    return true;
  }
  int64_t pass(int64_t count) override {
    const size_t passed_count =
        std::min(static_cast<size_t>(count), elements_->size() - next_index_);
    next_index_ += passed_count;
    return static_cast<int64_t>(passed_count);
  }

 private:
  std::shared_ptr<const std::vector<Element>> elements_;
  size_t next_index_ = 0;
};

class MemoryCacheStream final : public DerivedStream {
 public:
  using DerivedStream::DerivedStream;
  CursorPtr open(uint64_t) override {
    const std::lock_guard lock(cached_elements_->mutex);
    if (cached_elements_->elements)
      return std::make_shared<ReplayCursor>(cached_elements_->elements);
    return std::make_shared<RecordingCursor>(source_->open(0), cached_elements_);
  }

 private:
  std::shared_ptr<CachedElements> cached_elements_ = std::make_shared<CachedElements>();
};

}  // namespace

StreamPtr cache(StreamPtr source, const std::string& path) {
  if (path.empty()) return std::make_shared<MemoryCacheStream>(std::move(source));
  return std::make_shared<FileCacheStream>(std::move(source), path);
}

}  // namespace crescent
