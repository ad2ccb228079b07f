// A stream that selects, repeats or reorders the elements of its source without looking at them.
#pragma once
#include "data/streams/derived_stream.h"

namespace crescent {

class OrderStream : public DerivedStream {
 public:
  using DerivedStream::DerivedStream;
  CursorPtr open(uint64_t epoch) final {
    return reorder([source = source_](uint64_t pass) { return source->open(pass); }, epoch);
  }
  const Element* arrays() const final { return source_->arrays(); }
  CursorPtr open_numbers(uint64_t epoch) final {
    return reorder([source = source_](uint64_t pass) { return source->open_numbers(pass); }, epoch);
  }
  CursorPtr open_partial(uint64_t epoch, const NeededRows& needed) final {
    return reorder(
        [source = source_, needed](uint64_t pass) { return source->open_partial(pass, needed); },
        epoch);
  }

 protected:
  /// Begins a pass over the source.
  using OpenPass = std::function<CursorPtr(uint64_t epoch)>;
  /// Begins pass number `epoch` of this stream. The pass takes its elements from one or more passes
  /// over the source, which it begins by `open_source`.
  virtual CursorPtr reorder(const OpenPass& open_source, uint64_t epoch) = 0;
};

}  // namespace crescent
