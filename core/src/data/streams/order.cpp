// Streams that select or reorder elements.
#include <algorithm>
#include <limits>

#include "crescent/ops/random.h"
#include "data/streams/index_generator.h"
#include "data/streams/interruption_check.h"
#include "data/streams/order_stream.h"

namespace crescent {
namespace {

void check_count(const char* what, int64_t count, int64_t minimum) {
  if (count < minimum) fail(what, ": expected at least ", minimum, ", got ", count);
}

// ---- shuffle

/// A cursor that draws elements from a buffer and replaces each by the next element of the source.
class ShuffleCursor final : public Cursor {
 public:
  ShuffleCursor(CursorPtr source, int64_t size, uint64_t key)
      : source_cursor_(std::move(source)), buffer_size_(size), index_generator_(key) {}

  bool next(Element& element) override {
    while (!has_ended_ && buffer_.size() < buffer_size_) {
      check_element_interruption();
      Element next_element;
      has_ended_ = !source_cursor_->next(next_element);
      if (!has_ended_) buffer_.push_back(std::move(next_element));
    }
    if (buffer_.empty()) return false;
    std::swap(buffer_[index_generator_.index_below(buffer_.size())], buffer_.back());
    element = std::move(buffer_.back());
    buffer_.pop_back();
    return true;
  }

 private:
  CursorPtr source_cursor_;
  size_t buffer_size_;
  IndexGenerator index_generator_;
  bool has_ended_ = false;
  std::vector<Element> buffer_;
};

class ShuffleStream final : public OrderStream {
 public:
  ShuffleStream(StreamPtr source, const ShuffleOptions& options)
      : OrderStream(std::move(source)), options_(options), seed_(options.seed.value_or(0)) {
    check_count("shuffle: buffer", options.buffer, 1);
    if (!options.seed) seed_ = global_random().seed();
  }

 protected:
  CursorPtr reorder(const OpenPass& open_source, uint64_t epoch) override {
    return std::make_shared<ShuffleCursor>(open_source(epoch), options_.buffer,
                                           random_bits(seed_, options_.each_pass ? epoch : 0));
  }
  Value own_state() const override { return seed_; }
  void set_own_state(const Value& state) override { seed_ = state.as_int(); }

 private:
  ShuffleOptions options_;
  int64_t seed_;
};

// ---- repeat

class RepeatCursor final : public Cursor {
 public:
  using OpenPass = std::function<CursorPtr(uint64_t epoch)>;
  /// Repeats the source `count` times, or without end if `count` < 0; the passes over the source
  /// have the numbers `first_pass`, `first_pass` + 1, ...
  RepeatCursor(OpenPass open_source, int64_t count, uint64_t first_pass)
      : open_source_(std::move(open_source)), remaining_count_(count), pass_number_(first_pass) {}

  bool next(Element& element) override {
    for (bool is_reopened = false;; is_reopened = true) {
      check_element_interruption();
      if (cursor_ && cursor_->next(element)) return true;
      if (remaining_count_ == 0 || (is_reopened && remaining_count_ < 0)) return false;
      if (remaining_count_ > 0) --remaining_count_;
      cursor_ = open_source_(pass_number_++);
    }
  }

 private:
  OpenPass open_source_;
  int64_t remaining_count_;
  uint64_t pass_number_;
  CursorPtr cursor_;
};

class RepeatStream final : public OrderStream {
 public:
  RepeatStream(StreamPtr source, std::optional<int64_t> count)
      : OrderStream(std::move(source)), count_(count.value_or(-1)) {
    if (count) check_count("repeat: count", *count, 0);
  }
  int64_t elements() const override {
    if (source_->elements() == 0 || count_ == 0) return 0;
    if (count_ < 0) return kInfinite;
    constexpr int64_t kMaxCount = std::numeric_limits<int64_t>::max();
    return count_from_source([&](int64_t source_count) {
      return source_count > kMaxCount / count_ ? kMaxCount : source_count * count_;
    });
  }

 protected:
  CursorPtr reorder(const OpenPass& open_source, uint64_t epoch) override {
    constexpr uint64_t kPassesPerEpoch = 1 << 20;
    return std::make_shared<RepeatCursor>(
        open_source, count_,
        epoch * (count_ < 0 ? kPassesPerEpoch : static_cast<uint64_t>(count_)));
  }

 private:
  int64_t count_;
};

// ---- take and skip

class TakeCursor final : public Cursor {
 public:
  TakeCursor(CursorPtr source, int64_t count)
      : source_cursor_(std::move(source)), remaining_count_(count) {}
  bool next(Element& element) override {
    if (remaining_count_ == 0 || !source_cursor_->next(element)) return remaining_count_ = 0, false;
    --remaining_count_;
    return true;
  }
  int64_t pass(int64_t count) override {
    const int64_t passed_count = source_cursor_->pass(std::min(count, remaining_count_));
    remaining_count_ -= passed_count;
    return passed_count;
  }

 private:
  CursorPtr source_cursor_;
  int64_t remaining_count_;
};

class TakeStream final : public OrderStream {
 public:
  TakeStream(StreamPtr source, int64_t count) : OrderStream(std::move(source)), count_(count) {
    check_count("take: count", count, 0);
  }
  int64_t elements() const override {
    const int64_t source_count = source_->elements();
    if (source_count == kInfinite) return count_;
    return count_from_source([&](int64_t n) { return std::min(n, count_); });
  }

 protected:
  CursorPtr reorder(const OpenPass& open_source, uint64_t epoch) override {
    return std::make_shared<TakeCursor>(open_source(epoch), count_);
  }

 private:
  int64_t count_;
};

/// A cursor that skips the first elements of the source.
class SkipCursor final : public Cursor {
 public:
  SkipCursor(CursorPtr source, int64_t count)
      : source_cursor_(std::move(source)), skip_count_(count) {}
  bool next(Element& element) override { return start(), source_cursor_->next(element); }
  int64_t pass(int64_t count) override { return start(), source_cursor_->pass(count); }

 private:
  void start() { source_cursor_->pass(std::exchange(skip_count_, 0)); }
  CursorPtr source_cursor_;
  int64_t skip_count_;
};

class SkipStream final : public OrderStream {
 public:
  SkipStream(StreamPtr source, int64_t count) : OrderStream(std::move(source)), count_(count) {
    check_count("skip: count", count, 0);
  }
  int64_t elements() const override {
    return count_from_source([&](int64_t n) { return std::max<int64_t>(0, n - count_); });
  }

 protected:
  CursorPtr reorder(const OpenPass& open_source, uint64_t epoch) override {
    return std::make_shared<SkipCursor>(open_source(epoch), count_);
  }

 private:
  int64_t count_;
};

// ---- shards

/// A cursor that gives element number `index` of every `count` elements.
class ShardCursor final : public Cursor {
 public:
  ShardCursor(CursorPtr source, int64_t index, int64_t count)
      : source_cursor_(std::move(source)), index_(index), count_(count) {}
  bool next(Element& element) override {
    const int64_t later_shards = count_ - 1 - index_;
    return source_cursor_->pass(index_) == index_ && source_cursor_->next(element) &&
           source_cursor_->pass(later_shards) == later_shards;
  }
  int64_t pass(int64_t count) override {
    const int64_t max_count = std::numeric_limits<int64_t>::max() / count_;
    return source_cursor_->pass(std::min(count, max_count) * count_) / count_;
  }

 private:
  CursorPtr source_cursor_;
  int64_t index_, count_;
};

class ShardStream final : public OrderStream {
 public:
  ShardStream(StreamPtr source, int64_t index, int64_t count)
      : OrderStream(std::move(source)), index_(index), count_(count) {}
  int64_t elements() const override {
    return count_from_source([&](int64_t source_count) { return source_count / count_; });
  }

 protected:
  CursorPtr reorder(const OpenPass& open_source, uint64_t epoch) override {
    return std::make_shared<ShardCursor>(open_source(epoch), index_, count_);
  }

 private:
  int64_t index_, count_;
};

// ---- several sources

class CombinedStream : public Stream, public SpecifiedDataset {
 public:
  CombinedStream(const char* what, std::vector<StreamPtr> sources) : sources_(std::move(sources)) {
    if (sources_.empty()) fail(what, ": expected at least one dataset");
    for (const StreamPtr& source : sources_)
      if (!source) fail(what, ": expected datasets, got none");
  }
  std::vector<StreamPtr> sources() const override { return sources_; }

 protected:
  std::vector<StreamPtr> sources_;
};

class ConcatenateCursor final : public Cursor {
 public:
  ConcatenateCursor(std::vector<StreamPtr> sources, uint64_t epoch)
      : sources_(std::move(sources)), epoch_(epoch) {}
  bool next(Element& element) override {
    for (; source_index_ < sources_.size(); ++source_index_, cursor_ = nullptr)
      if (cursor().next(element)) return true;
    return false;
  }
  int64_t pass(int64_t count) override {
    int64_t passed_count = 0;
    for (; source_index_ < sources_.size(); ++source_index_, cursor_ = nullptr)
      if ((passed_count += cursor().pass(count - passed_count)) == count) break;
    return passed_count;
  }

 private:
  Cursor& cursor() {
    if (!cursor_) cursor_ = sources_[source_index_]->open(epoch_);
    return *cursor_;
  }
  std::vector<StreamPtr> sources_;
  uint64_t epoch_;
  size_t source_index_ = 0;
  CursorPtr cursor_;
};

class ConcatenateStream final : public CombinedStream {
 public:
  explicit ConcatenateStream(std::vector<StreamPtr> sources)
      : CombinedStream("concatenate", std::move(sources)) {}
  int64_t elements() const override {
    int64_t total_count = 0;
    for (const StreamPtr& source : sources_) {
      const int64_t count = source->elements();
      if (count == kInfinite || count == kUnknown) return count;
      total_count += count;
    }
    return total_count;
  }
  Element element_spec() const override {
    Element common_element = crescent::element_spec(*sources_.front());
    for (const StreamPtr& source : sources_)
      common_element = common_spec(common_element, crescent::element_spec(*source));
    return common_element;
  }
  CursorPtr open(uint64_t epoch) override {
    return std::make_shared<ConcatenateCursor>(sources_, epoch);
  }
};

class ZipCursor final : public Cursor {
 public:
  explicit ZipCursor(std::vector<CursorPtr> sources) : source_cursors_(std::move(sources)) {}
  bool next(Element& element) override {
    Element joined_element, source_element;
    for (const CursorPtr& cursor : source_cursors_) {
      if (!cursor->next(source_element)) return false;
      std::move(source_element.begin(), source_element.end(), std::back_inserter(joined_element));
    }
    element = std::move(joined_element);
    return true;
  }
  int64_t pass(int64_t count) override {
    for (const CursorPtr& cursor : source_cursors_) count = std::min(count, cursor->pass(count));
    return count;
  }

 private:
  std::vector<CursorPtr> source_cursors_;
};

class ZipStream final : public CombinedStream {
 public:
  explicit ZipStream(std::vector<StreamPtr> sources) : CombinedStream("zip", std::move(sources)) {}
  int64_t elements() const override {
    int64_t fewest_elements = kInfinite;
    for (const StreamPtr& source : sources_) {
      const int64_t count = source->elements();
      if (count == kUnknown) return kUnknown;
      if (count != kInfinite)
        fewest_elements = fewest_elements == kInfinite ? count : std::min(fewest_elements, count);
    }
    return fewest_elements;
  }
  Element element_spec() const override {
    Element joined_element;
    for (const StreamPtr& source : sources_) {
      const Element element = crescent::element_spec(*source);
      if (element.empty()) return {};
      joined_element.insert(joined_element.end(), element.begin(), element.end());
    }
    return joined_element;
  }
  CursorPtr open(uint64_t epoch) override {
    std::vector<CursorPtr> cursors;
    for (const StreamPtr& source : sources_) cursors.push_back(source->open(epoch));
    return std::make_shared<ZipCursor>(std::move(cursors));
  }
};

// ---- enumerate

class EnumerateCursor final : public Cursor {
 public:
  EnumerateCursor(CursorPtr source, int64_t first)
      : source_cursor_(std::move(source)), next_number_(first) {}
  bool next(Element& element) override {
    if (!source_cursor_->next(element)) return false;
    element.insert(element.begin(), next_number_++);
    return true;
  }
  int64_t pass(int64_t count) override {
    const int64_t passed_count = source_cursor_->pass(count);
    next_number_ += passed_count;
    return passed_count;
  }

 private:
  CursorPtr source_cursor_;
  int64_t next_number_;
};

class EnumerateStream final : public DerivedStream {
 public:
  EnumerateStream(StreamPtr source, int64_t first)
      : DerivedStream(std::move(source)), first_number_(first) {}
  CursorPtr open(uint64_t epoch) override {
    return std::make_shared<EnumerateCursor>(source_->open(epoch), first_number_);
  }
  Element element_spec() const override {
    Element element = DerivedStream::element_spec();
    if (!element.empty()) element.insert(element.begin(), spec_of({first_number_}).front());
    return element;
  }

 private:
  int64_t first_number_;
};

}  // namespace

StreamPtr shuffle(StreamPtr source, const ShuffleOptions& options) {
  return std::make_shared<ShuffleStream>(std::move(source), options);
}
StreamPtr repeat(StreamPtr source, std::optional<int64_t> count) {
  return std::make_shared<RepeatStream>(std::move(source), count);
}
StreamPtr take(StreamPtr source, int64_t count) {
  return std::make_shared<TakeStream>(std::move(source), count);
}
StreamPtr skip(StreamPtr source, int64_t count) {
  return std::make_shared<SkipStream>(std::move(source), count);
}
StreamPtr shard_elements(StreamPtr source, int64_t index, int64_t count) {
  return std::make_shared<ShardStream>(std::move(source), index, count);
}
StreamPtr concatenate(std::vector<StreamPtr> sources) {
  return std::make_shared<ConcatenateStream>(std::move(sources));
}
StreamPtr zip(std::vector<StreamPtr> sources) {
  return std::make_shared<ZipStream>(std::move(sources));
}
StreamPtr enumerate(StreamPtr source, int64_t first) {
  return std::make_shared<EnumerateStream>(std::move(source), first);
}

}  // namespace crescent
