// Sources of elements: lists, rows of arrays, functions, other datasets.
#include <algorithm>
#include <map>
#include <mutex>

#include "crescent/data/stream.h"
#include "data/streams/derived_stream.h"
#include "data/streams/element.h"

namespace crescent {
namespace {

/// A stream whose elements can be made in any order, by their index.
class IndexedStream : public Stream, public SpecifiedDataset {
 public:
  virtual Element element_at(int64_t index) const = 0;
  CursorPtr open(uint64_t) override;
  Element element_spec() const override {
    Element common_element = elements() > 0 ? spec_of(element_at(0)) : Element{};
    for (int64_t i = 1; i < elements() && !common_element.empty(); ++i)
      common_element = common_spec(common_element, element_at(i));
    return common_element;
  }

 protected:
  DatasetPtr own_shard(int64_t index, int64_t count) override {
    return shard_elements(std::static_pointer_cast<Stream>(shared_from_this()), index, count);
  }
};

/// A pass over `count` elements, which a function makes from their indices.
class IndexedCursor final : public Cursor {
 public:
  IndexedCursor(int64_t count, std::function<Element(int64_t)> make_element)
      : count_(count), make_element_(std::move(make_element)) {}
  bool next(Element& element) override {
    if (next_index_ == count_) return false;
    element = make_element_(next_index_++);
    return true;
  }
  int64_t pass(int64_t count) override {
    const int64_t passed_count = std::min(count, count_ - next_index_);
    next_index_ += passed_count;
    return passed_count;
  }

 private:
  int64_t count_, next_index_ = 0;
  std::function<Element(int64_t)> make_element_;
};

CursorPtr IndexedStream::open(uint64_t) {
  const auto this_stream = std::static_pointer_cast<const IndexedStream>(shared_from_this());
  return std::make_shared<IndexedCursor>(
      elements(), [this_stream](int64_t index) { return this_stream->element_at(index); });
}

class ListStream final : public IndexedStream {
 public:
  explicit ListStream(std::vector<Element> elements) : elements_(std::move(elements)) {}
  int64_t elements() const override { return static_cast<int64_t>(elements_.size()); }
  Element element_at(int64_t index) const override { return elements_[index]; }

 private:
  std::vector<Element> elements_;
};

class SliceStream final : public IndexedStream {
 public:
  explicit SliceStream(Element arrays) : arrays_(std::move(arrays)), row_count_(rows_of(arrays_)) {
    for (Value& part : arrays_)
      if (is_tensor_like(part)) part = std::make_shared<BoxedTensor>(tensor_of(part));
  }
  int64_t elements() const override { return row_count_; }
  Element element_at(int64_t index) const override { return row_of(arrays_, index); }
  const Element* arrays() const override { return &arrays_; }
  CursorPtr open_numbers(uint64_t) override {
    return std::make_shared<IndexedCursor>(row_count_,
                                           [](int64_t index) { return Element{index}; });
  }
  Element element_spec() const override {
    const bool has_lists = std::any_of(arrays_.begin(), arrays_.end(), has_list);
    return has_lists ? IndexedStream::element_spec() : row_spec(arrays_);
  }

 private:
  /// Whether the part is a list, or a dictionary that contains a list. The items of such a list are
  /// its rows and may have different specs.
  static bool has_list(const Value& part) {
    if (is_tensor_like(part) || !part.is_dict()) return part.is_list() && !is_tensor_like(part);
    const Dict& dict = part.as_dict();
    return std::any_of(dict.begin(), dict.end(),
                       [](const DictEntry& entry) { return has_list(entry.value); });
  }
  Element arrays_;
  int64_t row_count_;
};

class FunctionCursor final : public Cursor {
 public:
  explicit FunctionCursor(std::function<bool(Element&)> produce) : produce_(std::move(produce)) {}
  bool next(Element& element) override {
    if (produce_ && !produce_(element)) produce_ = nullptr;
    return produce_ != nullptr;
  }

 private:
  std::function<bool(Element&)> produce_;  ///< null after the end of the pass
};

class GeneratedStream final : public Stream {
 public:
  explicit GeneratedStream(Generated source) : source_(std::move(source)) {}
  int64_t elements() const override { return source_.elements; }
  bool on_own_thread() const override { return source_.on_own_thread; }
  CursorPtr open(uint64_t epoch) override {
    return std::make_shared<FunctionCursor>(source_.begin(epoch));
  }

 private:
  Generated source_;
};

/// The batches of a dataset that is no stream. Such a dataset allows one pass at a time, so a new
/// pass ends the previous one.
class BatchesStream final : public Stream, public SpecifiedDataset {
 public:
  explicit BatchesStream(DatasetPtr data) : data_(std::move(data)), opened_data_(data_) {}
  int64_t elements() const override { return data_->batches(); }
  /// A dataset that does not know its number of samples may make its batches by a function of the
  /// Lua script, which runs on the thread of the script only.
  bool on_own_thread() const override { return data_->samples() < 0; }
  void check() const override { opened_data_->check(); }
  Element element_spec() const override { return crescent::element_spec(*data_); }

  CursorPtr open(uint64_t) override { return begin_pass(data_); }
  CursorPtr open_partial(uint64_t, const NeededRows& needed) override {
    return begin_pass(data_->with_needed(needed));
  }

 protected:
  Value own_state() const override { return opened_data_->state(); }
  void set_own_state(const Value& state) override { state_at_begin_ = state; }

 private:
  CursorPtr begin_pass(DatasetPtr data) {
    opened_data_ = std::move(data);
    if (state_at_begin_)
      opened_data_->restore(*std::exchange(state_at_begin_, std::nullopt), 0);
    else
      opened_data_->begin_epoch();
    const auto this_stream = std::static_pointer_cast<BatchesStream>(shared_from_this());
    return std::make_shared<FunctionCursor>([this_stream, pass = ++pass_count_](Element& element) {
      return this_stream->next_in_pass(pass, element);
    });
  }

  bool next_in_pass(uint64_t pass, Element& element) {
    if (pass != pass_count_)
      fail(
          "another pass over this dataset has begun, and it can be gone through once at a time; "
          "from_tensor_slices makes one that can be used in several places");
    Batch batch;
    if (!opened_data_->next(batch)) return false;
    element = element_of(batch);
    return true;
  }

  DatasetPtr data_;
  DatasetPtr opened_data_;  ///< the dataset of the last pass: data_, or data_ with partial inputs
  std::optional<Value> state_at_begin_;
  uint64_t pass_count_ = 0;
};

/// Returns the stream of a dataset, the same one for all callers, so that a new pass can end the
/// previous one.
StreamPtr batches_of(const DatasetPtr& data) {
  static std::mutex mutex;
  static std::map<const Dataset*, std::weak_ptr<BatchesStream>> streams_by_data;
  const std::lock_guard lock(mutex);
  std::erase_if(streams_by_data, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<BatchesStream>& stream_entry = streams_by_data[data.get()];
  std::shared_ptr<BatchesStream> stream = stream_entry.lock();
  if (!stream) stream_entry = stream = std::make_shared<BatchesStream>(data);
  return stream;
}

}  // namespace

StreamPtr list_stream(std::vector<Element> elements) {
  return std::make_shared<ListStream>(std::move(elements));
}

StreamPtr slices(Element arrays) {
  if (arrays.empty()) fail("expected at least one array");
  return std::make_shared<SliceStream>(std::move(arrays));
}

StreamPtr generated(Generated source) {
  return std::make_shared<GeneratedStream>(std::move(source));
}

StreamPtr stream_of(const DatasetPtr& data) {
  if (!data) fail("expected a dataset, got none");
  if (auto stream = std::dynamic_pointer_cast<Stream>(data)) return stream;
  return batches_of(data);
}

}  // namespace crescent
