// Batching of elements, and splitting of batches into elements.
#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

#include "data/streams/derived_stream.h"
#include "data/streams/element.h"
#include "data/streams/interruption_check.h"

namespace crescent {
namespace {

struct Windows {
  int64_t size, shift, stride;
  bool drop_remainder;

  /// the number of elements from the first to the last one of a window, inclusive
  int64_t span() const { return (size - 1) * stride + 1; }
  /// The number of windows over `elements` elements.
  int64_t count(int64_t elements) const {
    if (drop_remainder) return elements < span() ? 0 : (elements - span()) / shift + 1;
    return elements == 0 ? 0 : (elements - 1) / shift + 1;
  }
  /// Whether all windows over `elements` elements have the full size. `elements` may be
  /// Stream::kUnknown or kInfinite.
  bool are_all_full(int64_t elements) const {
    if (drop_remainder || elements == Stream::kInfinite) return true;
    return elements >= 0 && (count(elements) - 1) * shift + span() <= elements;
  }
};

/// Makes a batch of elements. Messages number the elements, beginning with `first_number`.
using StackFunction =
    std::function<Element(const std::vector<Element>& elements, int64_t first_number)>;

/// A cursor of batches; it keeps the elements of the current window that later windows share.
class WindowCursor final : public Cursor {
 public:
  WindowCursor(CursorPtr source, const Windows& windows, StackFunction stack_function)
      : source_cursor_(std::move(source)),
        windows_(windows),
        stack_function_(std::move(stack_function)) {}

  bool next(Element& element) override {
    fill();
    if (!has_window()) return false;
    std::vector<Element> window_elements;
    const auto end =
        std::min<int64_t>(windows_.span(), static_cast<int64_t>(window_buffer_.size()));
    for (int64_t i = 0; i < end; i += windows_.stride) window_elements.push_back(window_buffer_[i]);
    element = stack_function_(window_elements, first_index_ + 1);
    advance();
    return true;
  }

  int64_t pass(int64_t count) override {
    if (windows_.shift < windows_.span()) return Cursor::pass(count);
    int64_t passed_count = 0;
    for (; passed_count < count; ++passed_count) {
      check_element_interruption();
      const int64_t available_count = source_cursor_->pass(windows_.shift);
      first_index_ += windows_.shift;
      if (available_count < windows_.shift)
        return passed_count + (available_count >= (windows_.drop_remainder ? windows_.span() : 1));
    }
    return passed_count;
  }

 private:
  void fill() {
    if (skip_count_ > 0) has_ended_ = has_ended_ || source_cursor_->pass(skip_count_) < skip_count_;
    skip_count_ = 0;
    while (!has_ended_ && static_cast<int64_t>(window_buffer_.size()) < windows_.span()) {
      check_element_interruption();
      Element next_element;
      has_ended_ = !source_cursor_->next(next_element);
      if (!has_ended_) window_buffer_.push_back(std::move(next_element));
    }
  }
  bool has_window() const {
    return !window_buffer_.empty() &&
           (!windows_.drop_remainder ||
            static_cast<int64_t>(window_buffer_.size()) >= windows_.span());
  }
  void advance() {
    const auto dropped_count =
        std::min<int64_t>(windows_.shift, static_cast<int64_t>(window_buffer_.size()));
    window_buffer_.erase(window_buffer_.begin(), window_buffer_.begin() + dropped_count);
    skip_count_ = windows_.shift - dropped_count;
    first_index_ += windows_.shift;
  }

  CursorPtr source_cursor_;
  Windows windows_;
  StackFunction stack_function_;
  std::deque<Element> window_buffer_;
  int64_t first_index_ = 0, skip_count_ = 0;
  bool has_ended_ = false;
};

/// The batch of those rows of `arrays` whose indices are the values of `elements`. Of the first
/// array, only needed rows of the batch are read.
Element rows_by_number(const Element& arrays, const std::vector<Element>& elements,
                       const NeededRows& needed_rows) {
  std::vector<int64_t> numbers;
  for (const Element& element : elements) numbers.push_back(element.front().as_int());
  const RowRange all_rows{0, static_cast<int64_t>(numbers.size())};
  Element batch;
  for (const Value& array_part : arrays)
    batch.push_back(
        rows_at(array_part, numbers, batch.empty() ? needed_rows(all_rows.count) : all_rows));
  return batch;
}

class BatchStream final : public DerivedStream {
 public:
  BatchStream(StreamPtr source, const WindowOptions& options)
      : DerivedStream(std::move(source)),
        windows_{options.size, options.shift.value_or(options.size), options.stride,
                 options.drop_remainder} {
    for (const auto& [name, count] :
         {std::pair{"size", windows_.size}, {"shift", windows_.shift}, {"stride", windows_.stride}})
      if (count < 1) fail("expected a ", name, " of at least 1, got ", count);
    if (windows_.size - 1 > (std::numeric_limits<int64_t>::max() - 1) / windows_.stride)
      fail("batch: windows of size ", windows_.size, " and stride ", windows_.stride,
           " span more elements than there can be");
  }
  int64_t elements() const override {
    return count_from_source([&](int64_t source_count) { return windows_.count(source_count); });
  }
  Element element_spec() const override {
    const bool is_whole = windows_.are_all_full(source_->elements());
    return batch_spec(DerivedStream::element_spec(), is_whole ? windows_.size : -1);
  }
  CursorPtr open(uint64_t epoch) override {
    return std::make_shared<WindowCursor>(
        source_->open(epoch), windows_, [](const std::vector<Element>& rows, int64_t first_number) {
          return stacked(rows, first_number);
        });
  }
  CursorPtr open_partial(uint64_t epoch, const NeededRows& needed_rows) override {
    const Element* arrays = source_->arrays();
    if (!arrays) return open(epoch);
    return std::make_shared<WindowCursor>(
        source_->open_numbers(epoch), windows_,
        [arrays = *arrays, needed_rows](const std::vector<Element>& numbers, int64_t) {
          return rows_by_number(arrays, numbers, needed_rows);
        });
  }

 private:
  Windows windows_;
};

class UnbatchCursor final : public Cursor {
 public:
  explicit UnbatchCursor(CursorPtr source) : source_cursor_(std::move(source)) {}
  bool next(Element& element) override {
    if (!has_row()) return false;
    element = row_of(batch_, row_index_++);
    return true;
  }
  int64_t pass(int64_t count) override {
    int64_t passed_count = 0;
    while (passed_count < count && has_row()) {
      const int64_t taken_rows = std::min(count - passed_count, row_count_ - row_index_);
      row_index_ += taken_rows;
      passed_count += taken_rows;
    }
    return passed_count;
  }

 private:
  bool has_row() {
    while (row_index_ == row_count_) {
      check_element_interruption();
      if (!source_cursor_->next(batch_)) return false;
      row_count_ = rows_of(batch_);
      row_index_ = 0;
    }
    return true;
  }
  CursorPtr source_cursor_;
  Element batch_;
  int64_t row_index_ = 0, row_count_ = 0;
};

class UnbatchStream final : public DerivedStream {
 public:
  using DerivedStream::DerivedStream;
  int64_t elements() const override {
    return count_from_source([](int64_t source_count) { return source_count == 0 ? 0 : kUnknown; });
  }
  Element element_spec() const override { return row_spec(DerivedStream::element_spec()); }
  CursorPtr open(uint64_t epoch) override {
    return std::make_shared<UnbatchCursor>(source_->open(epoch));
  }
};

}  // namespace

StreamPtr batch(StreamPtr source, const WindowOptions& options) {
  return std::make_shared<BatchStream>(std::move(source), options);
}
StreamPtr unbatch(StreamPtr source) { return std::make_shared<UnbatchStream>(std::move(source)); }

}  // namespace crescent
