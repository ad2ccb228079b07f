// A Stream describes a sequence of elements and their transformations on the way to a model:
//
//   StreamPtr files = list_stream(paths_and_labels);
//   StreamPtr data = shuffle(files, {.buffer = 1000, .seed = 1});
//   data = map(data, {.make = load_image, .workers = 2});
//   data = prefetch_elements(batch(data, {.size = 32}), 2);
//   model->fit(data);
//
// A stream is only a description: each pass over it has a cursor, so one stream can be used in
// several places. Random numbers depend only on the seeds of the stream, the number of the pass and
// the index of the element, never on threads or on earlier draws, so another process can continue a
// pass.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crescent/data/data.h"

namespace crescent {

class Layer;

/// The parts of a sample or of a batch (x, y, sample_weight): boxed tensors, numbers, texts, or
/// lists and dictionaries of these.
using Element = List;

/// One pass over a stream.
class CRESCENT_API Cursor {
 public:
  virtual ~Cursor();
  /// Writes the next element of the pass to `element`; returns false at the end of the pass. Throws
  /// Interrupted if the thread that waits for the element was interrupted.
  virtual bool next(Element& element) = 0;
  /// Skips up to `count` elements, if possible without making them; returns the number of skipped
  /// elements.
  virtual int64_t pass(int64_t count);
};
using CursorPtr = std::shared_ptr<Cursor>;

class Stream;
using StreamPtr = std::shared_ptr<Stream>;

/// As a Dataset, a stream gives each element as a batch: its parts are x, y and sample_weight.
class CRESCENT_API Stream : public Dataset {
 public:
  static constexpr int64_t kUnknown = -1, kInfinite = -2;
  ~Stream() override;
  /// The number of elements in a pass, kUnknown or kInfinite.
  virtual int64_t elements() const { return kUnknown; }
  /// Begins pass number `epoch`, on which the random numbers of the pass depend.
  virtual CursorPtr open(uint64_t epoch) = 0;
  /// Begins the next pass: each call of this overload increments the number of the pass.
  CursorPtr open() { return open(next_epoch_++); }
  /// The streams whose elements this stream transforms or combines.
  virtual std::vector<StreamPtr> sources() const;
  /// Whether elements must be made on the thread of the Lua script, because a function of the
  /// script makes them.
  virtual bool on_own_thread() const;

  // With the next three functions, a batch is made without reading those of its rows that this
  // process does not need. They concern streams whose elements are rows of arrays, because the
  // index of each row is known before the row is read, and streams of batches of such rows.
  /// The arrays whose rows are the elements; null (the default) if the elements are not rows of
  /// arrays.
  virtual const Element* arrays() const { return nullptr; }
  /// Begins a pass like open(epoch), but each element is the index of a row of arrays() instead of
  /// the row. Called only if arrays() is not null.
  virtual CursorPtr open_numbers(uint64_t /*epoch*/) { return nullptr; }
  /// Begins a pass like open(epoch). In the first part of each batch, the inputs, only the rows
  /// that `needed` returns must have values.
  virtual CursorPtr open_partial(uint64_t epoch, const NeededRows& /*needed*/) {
    return open(epoch);
  }

  int64_t batches() const override { return elements() < 0 ? -1 : elements(); }
  void begin_epoch() override;
  bool next(Batch& batch) override;
  void check() const override;
  Value state() const override;
  void restore(const Value& state, int64_t batches) override;
  DatasetPtr with_needed(const NeededRows& needed) override;

 protected:
  /// The state on which passes depend besides the pass number and the sources, such as a seed that
  /// was drawn. It is part of state().
  virtual Value own_state() const { return {}; }
  virtual void set_own_state(const Value& /*state*/) {}

 private:
  friend class StreamDataset;  // the dataset of with_names()
  bool next(Batch& batch, const std::vector<std::string>& x, const std::vector<std::string>& y);
  void set_state(const Value& state);
  void pass(int64_t batches);
  CursorPtr cursor_;  ///< the cursor of the epoch that begin_epoch() began
  uint64_t epoch_ = 0, next_epoch_ = 0;
};

/// The batches of a dataset as a stream; a stream is returned unchanged. A dataset that shuffles
/// allows only one pass at a time.
CRESCENT_API StreamPtr stream_of(const DatasetPtr& data);
/// The stream as a dataset for a model whose inputs and outputs have these names. The tensors of a
/// part that is a dictionary are ordered by these names.
CRESCENT_API DatasetPtr with_names(const StreamPtr& stream, std::vector<std::string> x,
                                   std::vector<std::string> y);

// ---- sources of elements

/// A stream of these elements.
CRESCENT_API StreamPtr list_stream(std::vector<Element> elements);
/// A stream of the rows of arrays of the same length, or of lists or dictionaries of such arrays.
CRESCENT_API StreamPtr slices(Element arrays);
/// A source of elements. Its function `begin` starts a pass and returns another function. Each call
/// of that function writes the next element of the pass, or returns false at the end.
struct Generated {
  std::function<std::function<bool(Element&)>(uint64_t epoch)> begin;
  int64_t elements = Stream::kUnknown;
  /// Whether `begin` calls a function of the Lua script, which runs on the script's thread only.
  bool on_own_thread = false;
};
/// A stream of the elements of `source`.
CRESCENT_API StreamPtr generated(Generated source);
/// A stream of the paths that match a glob pattern ("data/*.csv"), in a new order in each pass if
/// `shuffled`. Fails if no path matches.
CRESCENT_API StreamPtr list_files(const std::string& pattern, bool shuffled = true,
                                  std::optional<int64_t> seed = {});

// ---- transformations of single elements

/// Maps an element to another. During the call, global_random() is a generator of this element,
/// whose numbers do not depend on other elements.
using Mapper = std::function<Element(Element)>;
/// A mapper and the threads on which it runs.
struct Mapping {
  /// Makes a mapper; each worker uses a mapper of its own, and later passes reuse the mappers.
  std::function<Mapper()> make;
  int64_t workers = 0;  ///< worker threads; 0: the mapper runs on the thread that calls next()
  /// Whether the mapper calls a function of the Lua script, which runs on the script's thread only.
  bool on_own_thread = false;
  std::string name = "map";  ///< the word for the mapping in messages
};
/// A mapping that calls a layer on the first part of each element, a tensor or a list of tensors,
/// and keeps the other parts. Its random numbers depend on the element.
CRESCENT_API Mapping layer_mapping(const std::shared_ptr<Layer>& layer,
                                   std::optional<bool> training = {});
/// The mapped elements, in the order of `source` for any number of workers.
CRESCENT_API StreamPtr map(StreamPtr source, Mapping mapping);
/// The elements for which the mapping returns true.
CRESCENT_API StreamPtr filter(StreamPtr source, Mapping mapping);
/// The elements of `source`; another thread makes up to `count` elements before they are used.
CRESCENT_API StreamPtr prefetch_elements(StreamPtr source, int64_t count);
/// Stores the elements of the first complete pass in memory, or in a file that later processes
/// find; all later passes give these elements.
CRESCENT_API StreamPtr cache(StreamPtr source, const std::string& path = "");

// ---- number and order of elements

/// The options of shuffle().
struct ShuffleOptions {
  int64_t buffer = 1;  ///< the number of elements from which the next one is drawn
  std::optional<int64_t> seed;
  bool each_pass = true;  ///< whether each pass has a new order
};
/// The elements in random order: each is drawn from a buffer, where the next element of the
/// source replaces it. Fails for a buffer without elements.
CRESCENT_API StreamPtr shuffle(StreamPtr source, const ShuffleOptions& options);
/// The elements of `source`, `count` times in succession; nullopt: without end.
CRESCENT_API StreamPtr repeat(StreamPtr source, std::optional<int64_t> count);
/// The first `count` elements.
CRESCENT_API StreamPtr take(StreamPtr source, int64_t count);
/// The elements after the first `count`.
CRESCENT_API StreamPtr skip(StreamPtr source, int64_t count);
/// The elements of the sources, one source after another.
CRESCENT_API StreamPtr concatenate(std::vector<StreamPtr> sources);
/// Combines the parts of one element of each source into an element. The stream ends with the
/// shortest source.
CRESCENT_API StreamPtr zip(std::vector<StreamPtr> sources);
/// Elements of two parts: the index of an element, counted from `first`, and the element.
CRESCENT_API StreamPtr enumerate(StreamPtr source, int64_t first);
/// The elements of the streams that `make` returns for the elements of a source: `cycle` of these
/// streams are open at a time, and each gives `block` elements in its turn.
struct Interleaving {
  std::function<StreamPtr(Element)> make;
  int64_t cycle = 4, block = 1;
  bool on_own_thread = false;
};
/// The elements of the streams of an Interleaving for the elements of `source`.
CRESCENT_API StreamPtr interleave(StreamPtr source, Interleaving interleaving);

// ---- batching and unbatching

/// A window has `size` elements, `stride` apart; each window begins `shift` elements after the
/// previous one.
struct WindowOptions {
  int64_t size = 1;
  std::optional<int64_t> shift;  ///< nullopt: `size`
  int64_t stride = 1;
  bool drop_remainder = false;  ///< whether windows with fewer elements are left out
};
/// The windows of elements, whose parts are stacked along a new first axis. Fails, naming the
/// element, if the parts of a window have different shapes or dtypes.
CRESCENT_API StreamPtr batch(StreamPtr source, const WindowOptions& options);
/// Batches of `size` elements; the last batch may have fewer. The first tensor of each element is
/// padded with zeros, along its first axis, to the longest of the batch.
CRESCENT_API StreamPtr padded_batch(StreamPtr source, int64_t size);
/// The rows of batches as elements; the inverse of batch().
CRESCENT_API StreamPtr unbatch(StreamPtr source);

}  // namespace crescent
