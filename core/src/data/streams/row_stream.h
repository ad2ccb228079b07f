// Streams whose elements are rows of arrays: slices(), and the streams that select, reorder or
// batch its elements. The numbers of the rows are known before the rows are read, so batches can
// leave out rows of the inputs (partial_inputs.h).
#pragma once
#include "data/partial_inputs.h"
#include "data/streams/derived_stream.h"

namespace crescent {

/// A stream of rows, or of batches of rows.
class RowStream {
 public:
  virtual ~RowStream() = default;
  /// The arrays whose rows are the elements; null if elements are no rows.
  virtual const Element* arrays() const { return nullptr; }
  /// Begins a pass like Stream::open(), whose elements are the numbers of rows of arrays() instead
  /// of the rows.
  virtual CursorPtr open_numbers(uint64_t /*epoch*/) { return nullptr; }
  /// Begins a pass like Stream::open(). Batches need to have values only in needed rows of their
  /// first part, the inputs.
  virtual CursorPtr open_partial(uint64_t epoch, const NeededRows& needed) = 0;
};

/// The arrays of a RowStream; null for other streams.
inline const Element* arrays_of(const Stream& stream) {
  const auto* rows = dynamic_cast<const RowStream*>(&stream);
  return rows ? rows->arrays() : nullptr;
}
/// Begins a pass by RowStream::open_partial(); a pass of whole batches if the stream cannot leave
/// out rows or `needed` is empty.
inline CursorPtr open_partial(Stream& stream, uint64_t epoch, const NeededRows& needed) {
  auto* rows = dynamic_cast<RowStream*>(&stream);
  return rows && needed ? rows->open_partial(epoch, needed) : stream.open(epoch);
}

/// A stream that selects, repeats or reorders the elements of its source without looking at them.
class OrderStream : public DerivedStream, public RowStream {
 public:
  using DerivedStream::DerivedStream;
  CursorPtr open(uint64_t epoch) final {
    return reorder([source = source_](uint64_t pass) { return source->open(pass); }, epoch);
  }
  const Element* arrays() const final { return arrays_of(*source_); }
  CursorPtr open_numbers(uint64_t epoch) final {
    return reorder(
        [source = source_](uint64_t pass) {
          return dynamic_cast<RowStream&>(*source).open_numbers(pass);
        },
        epoch);
  }
  CursorPtr open_partial(uint64_t epoch, const NeededRows& needed) final {
    return reorder([source = source_, needed](
                       uint64_t pass) { return crescent::open_partial(*source, pass, needed); },
                   epoch);
  }

 protected:
  /// Begins a pass over the source.
  using Opening = std::function<CursorPtr(uint64_t epoch)>;
  /// Begins pass `epoch` over the elements of the passes that `open_source` begins.
  virtual CursorPtr reorder(const Opening& open_source, uint64_t epoch) = 0;
};

}  // namespace crescent
