// interleave() takes elements from several streams in turn.
#include "crescent/ops/random.h"
#include "data/streams/derived_stream.h"
#include "data/streams/index_generator.h"
#include "data/streams/interruption_check.h"
#include "random/random_scope.h"

namespace crescent {
namespace {

class InterleaveCursor final : public Cursor {
 public:
  InterleaveCursor(CursorPtr source, const Interleaving& options, uint64_t epoch, uint64_t key)
      : source_cursor_(std::move(source)), options_(options), epoch_(epoch), key_(key) {}

  bool next(Element& element) override {
    for (;;) {
      check_element_interruption();
      while (!has_ended_ && static_cast<int64_t>(open_cursors_.size()) < options_.cycle)
        add_cursor();
      if (open_cursors_.empty()) return false;
      if (taken_in_block_ == options_.block) go_to_next_stream();
      if (open_cursors_[current_stream_index_]->next(element)) return ++taken_in_block_, true;
      replace_current();
    }
  }

 private:
  CursorPtr open_next_stream() {
    Element element;
    has_ended_ = has_ended_ || !source_cursor_->next(element);
    if (has_ended_) return nullptr;
    // In this scope, the seeds that a stream draws depend only on key_ and on the index of the
    // stream, so that another process can continue the pass.
    const RandomScope random_scope(
        static_cast<int64_t>(random_bits(static_cast<int64_t>(key_), stream_count_++) >> 1));
    const StreamPtr stream = options_.make(std::move(element));
    if (!stream) fail("interleave: the function gave no dataset");
    return stream->open(epoch_);
  }
  void add_cursor() {
    if (CursorPtr cursor = open_next_stream()) open_cursors_.push_back(std::move(cursor));
  }
  void go_to_next_stream() {
    taken_in_block_ = 0;
    current_stream_index_ = (current_stream_index_ + 1) % open_cursors_.size();
  }
  /// Replaces the current stream, which has ended, by the stream made from the next element of the
  /// source.
  void replace_current() {
    if (CursorPtr cursor = open_next_stream()) {
      open_cursors_[current_stream_index_] = std::move(cursor);
      return go_to_next_stream();
    }
    open_cursors_.erase(open_cursors_.begin() + static_cast<int64_t>(current_stream_index_));
    taken_in_block_ = 0;
    if (current_stream_index_ >= open_cursors_.size()) current_stream_index_ = 0;
  }

  CursorPtr source_cursor_;
  Interleaving options_;
  uint64_t epoch_;
  uint64_t key_;
  uint64_t stream_count_ = 0;  ///< the number of streams made so far
  std::vector<CursorPtr> open_cursors_;
  size_t current_stream_index_ = 0;
  /// elements taken so far of the current block of the current stream
  int64_t taken_in_block_ = 0;
  bool has_ended_ = false;
};

class InterleaveStream final : public DerivedStream {
 public:
  InterleaveStream(StreamPtr source, Interleaving options)
      : DerivedStream(std::move(source)),
        options_(std::move(options)),
        seed_(global_random().seed()) {
    if (options_.cycle < 1 || options_.block < 1)
      fail("interleave: expected a cycle and a block of at least 1, got ", options_.cycle, " and ",
           options_.block);
  }
  int64_t elements() const override { return kUnknown; }
  bool on_own_thread() const override { return options_.on_own_thread || Stream::on_own_thread(); }
  Element element_spec() const override { return {}; }
  CursorPtr open(uint64_t epoch) override {
    return std::make_shared<InterleaveCursor>(source_->open(epoch), options_, epoch,
                                              random_bits(seed_, epoch));
  }

 protected:
  Value own_state() const override { return seed_; }
  void set_own_state(const Value& state) override {
    if (state.is_int()) seed_ = state.as_int();  // states of earlier versions have no seed
  }

 private:
  Interleaving options_;
  int64_t seed_;
};

}  // namespace

StreamPtr interleave(StreamPtr source, Interleaving interleaving) {
  return std::make_shared<InterleaveStream>(std::move(source), std::move(interleaving));
}

}  // namespace crescent
