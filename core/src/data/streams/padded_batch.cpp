// padded_batch() batches elements whose first parts have different lengths.
#include "crescent/ops/ops.h"
#include "data/streams/derived_stream.h"
#include "data/streams/interruption_check.h"

namespace crescent {
namespace {

Tensor& first_tensor(Element& element) {
  auto boxed = element.at(0).object_as<BoxedTensor>();
  if (!boxed) fail("padded_batch: expected tensors, got ", element.at(0));
  return boxed->tensor;
}

void pad_to_longest(std::vector<Element>& elements) {
  int64_t longest_length = 0;
  for (Element& element : elements)
    longest_length = std::max(longest_length, first_tensor(element).dim(0));
  for (Element& element : elements) {
    Tensor& tensor = first_tensor(element);
    std::vector<int64_t> before(tensor.rank(), 0), after = before;
    after[0] = longest_length - tensor.dim(0);
    if (after[0] > 0) element[0] = Codec<Tensor>::encode(ops::pad(tensor, before, after));
  }
}

class PaddedCursor final : public Cursor {
 public:
  PaddedCursor(CursorPtr source, int64_t size) : source_cursor_(std::move(source)), size_(size) {}
  bool next(Element& element) override {
    std::vector<Element> elements;
    Element next_element;
    while (static_cast<int64_t>(elements.size()) < size_ && source_cursor_->next(next_element)) {
      check_element_interruption();
      elements.push_back(std::move(next_element));
    }
    if (elements.empty()) return false;
    pad_to_longest(elements);
    const WindowOptions whole_window{static_cast<int64_t>(elements.size()), {}, 1, false};
    return batch(list_stream(std::move(elements)), whole_window)->open(0)->next(element);
  }

 private:
  CursorPtr source_cursor_;
  int64_t size_;
};

class PaddedBatchStream final : public DerivedStream {
 public:
  PaddedBatchStream(StreamPtr source, int64_t size)
      : DerivedStream(std::move(source)), size_(size) {
    if (size < 1) fail("batch_size: expected at least 1, got ", size);
  }
  int64_t elements() const override {
    return count_from_source(
        [&](int64_t source_count) { return (source_count + size_ - 1) / size_; });
  }
  Element element_spec() const override {
    const int64_t source_count = source_->elements();
    const bool is_whole =
        source_count == kInfinite || (source_count >= 0 && source_count % size_ == 0);
    return batch_spec(DerivedStream::element_spec(), is_whole ? size_ : -1);
  }
  CursorPtr open(uint64_t epoch) override {
    return std::make_shared<PaddedCursor>(source_->open(epoch), size_);
  }

 private:
  int64_t size_;
};

}  // namespace

StreamPtr padded_batch(StreamPtr source, int64_t size) {
  return std::make_shared<PaddedBatchStream>(std::move(source), size);
}

}  // namespace crescent
