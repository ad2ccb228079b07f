// Stream: elements one after another, and what is done with them on the way to a model:
//
//   StreamPtr files = list_stream(paths_and_labels);
//   StreamPtr data = shuffle(files, {.buffer = 1000, .seed = 1});
//   data = map(data, {.make = load_image, .workers = 2});
//   data = prefetch_elements(batch(data, {.size = 32}), 2);
//   model->fit(data);
//
// A stream is a description; each pass over it has a cursor of its own, so that one stream can be
// used in several places. What is drawn by chance follows from the stream's seeds, the number of
// the pass and the place of the element alone, never from threads or from what was drawn before: a
// pass can be gone on with in another process.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crescent/data/data.h"

namespace crescent {

class Layer;

/// The parts of a sample or of a batch (x, y, sample_weight): tensors (boxed), numbers, texts,
/// lists and dictionaries of them.
using Element = List;

/// One pass over a stream.
class CRESCENT_API Cursor {
 public:
  virtual ~Cursor();
  /// False at the end. Fails with Interrupted where it waited for what was interrupted.
  virtual bool next(Element& element) = 0;
  /// Passes over up to `count` elements, without making them where that can be; returns how many
  /// there were.
  virtual int64_t pass(int64_t count);
};
using CursorPtr = std::shared_ptr<Cursor>;

class Stream;
using StreamPtr = std::shared_ptr<Stream>;

/// As a Dataset it gives each element as a batch of up to three parts.
class CRESCENT_API Stream : public Dataset {
 public:
  static constexpr int64_t kUnknown = -1, kInfinite = -2;
  ~Stream() override;
  /// Of a pass: a number, kUnknown or kInfinite.
  virtual int64_t elements() const { return kUnknown; }
  /// Begins a pass; what is drawn in it follows from `epoch`.
  virtual CursorPtr open(uint64_t epoch) = 0;
  /// A pass with the next number.
  CursorPtr open() { return open(next_epoch_++); }
  /// The streams that it takes elements from.
  virtual std::vector<StreamPtr> sources() const;
  /// Elements are asked for on the script's own thread alone, where one of its functions runs.
  virtual bool on_own_thread() const;

  int64_t batches() const override { return elements() < 0 ? -1 : elements(); }
  void begin_epoch() override;
  bool next(Batch& batch) override;
  void check() const override;
  Value state() const override;
  void restore(const Value& state, int64_t batches) override;

 protected:
  /// What passes follow from beside their number: a seed that was drawn.
  virtual Value own_state() const { return {}; }
  virtual void set_own_state(const Value& /*state*/) {}

 private:
  friend CRESCENT_API DatasetPtr with_names(const StreamPtr& stream, std::vector<std::string> x,
                                            std::vector<std::string> y);
  bool next(Batch& batch, const std::vector<std::string>& x, const std::vector<std::string>& y);
  void set_state(const Value& state);
  CursorPtr cursor_;  ///< of the epoch that goes on
  uint64_t epoch_ = 0, next_epoch_ = 0;
};

/// A dataset as a stream of its batches; a stream as it is. Data that shuffle themselves can be
/// gone through by one pass at a time.
CRESCENT_API StreamPtr stream_of(const DatasetPtr& data);
/// The stream as a dataset for a model whose inputs and outputs have these names: where a part is a
/// dictionary, its tensors come in their order.
CRESCENT_API DatasetPtr with_names(const StreamPtr& stream, std::vector<std::string> x,
                                   std::vector<std::string> y);

// ---- where elements come from

CRESCENT_API StreamPtr list_stream(std::vector<Element> elements);
/// The rows of arrays (or lists, or dictionaries of them) of the same length.
CRESCENT_API StreamPtr slices(Element arrays);
/// `begin` starts a pass and returns what gives its elements.
struct Generated {
  std::function<std::function<bool(Element&)>(uint64_t epoch)> begin;
  int64_t elements = Stream::kUnknown;
  bool on_own_thread = false;  ///< a function of the script runs there
};
CRESCENT_API StreamPtr generated(Generated source);
/// The paths of the files that match a pattern of the shell ("data/*.csv"), in another order in
/// each pass when `shuffled`. Fails where none does.
CRESCENT_API StreamPtr list_files(const std::string& pattern, bool shuffled = true,
                                  std::optional<int64_t> seed = {});

// ---- what is done with elements, one for one

/// Makes one element of another. global_random() of the calling thread is the element's own
/// meanwhile.
using Mapper = std::function<Element(Element)>;
struct Mapping {
  std::function<Mapper()> make;  ///< called on the thread of each worker; kept for later passes
  int64_t workers = 0;           ///< threads; 0: on that of who asks
  bool on_own_thread = false;    ///< without workers: a function of the script runs there
  std::string name = "map";      ///< in messages
};
/// Calls a layer on the first part of each element, a tensor or a list of them; the other parts
/// stay. What it draws is the element's own.
CRESCENT_API Mapping layer_mapping(const std::shared_ptr<Layer>& layer,
                                   std::optional<bool> training = {});
/// In the order of the elements, whatever the number of workers.
CRESCENT_API StreamPtr map(StreamPtr source, Mapping mapping);
/// Those elements for which the mapping gives true.
CRESCENT_API StreamPtr filter(StreamPtr source, Mapping mapping);
/// `count` elements are made ahead on a thread of its own.
CRESCENT_API StreamPtr prefetch_elements(StreamPtr source, int64_t count);
/// The first whole pass is kept in memory, or in a file that later processes find; all others give
/// the same elements.
CRESCENT_API StreamPtr cache(StreamPtr source, const std::string& path = "");

// ---- how many, and in which order

struct ShuffleOptions {
  int64_t buffer = 1;  ///< elements that wait to be drawn
  std::optional<int64_t> seed;
  bool each_pass = true;  ///< another order in each
};
CRESCENT_API StreamPtr shuffle(StreamPtr source, const ShuffleOptions& options);
/// `count` times, or without end.
CRESCENT_API StreamPtr repeat(StreamPtr source, std::optional<int64_t> count);
CRESCENT_API StreamPtr take(StreamPtr source, int64_t count);
CRESCENT_API StreamPtr skip(StreamPtr source, int64_t count);
CRESCENT_API StreamPtr concatenate(std::vector<StreamPtr> sources);
/// Elements with the parts of one of each source; as many as the shortest has.
CRESCENT_API StreamPtr zip(std::vector<StreamPtr> sources);
/// Puts the number of the element in front.
CRESCENT_API StreamPtr enumerate(StreamPtr source, int64_t first);
/// `make` gives a stream for each element; `cycle` of them are open at once and give `block`
/// elements in turn.
struct Interleaving {
  std::function<StreamPtr(Element)> make;
  int64_t cycle = 4, block = 1;
  bool on_own_thread = false;
};
CRESCENT_API StreamPtr interleave(StreamPtr source, Interleaving interleaving);

// ---- elements as rows of a batch, and back

/// Windows of `size` elements, `stride` apart; each begins `shift` elements after the one before.
struct WindowOptions {
  int64_t size = 1;
  std::optional<int64_t> shift;  ///< size
  int64_t stride = 1;
  bool drop_remainder = false;  ///< no windows with fewer elements
};
CRESCENT_API StreamPtr batch(StreamPtr source, const WindowOptions& options);
/// Batches of `size` elements, the last of those that are left, where the tensors that come first
/// in elements are filled up with zeros, along their first axis, to the longest of the batch.
CRESCENT_API StreamPtr padded_batch(StreamPtr source, int64_t size);
CRESCENT_API StreamPtr unbatch(StreamPtr source);

}  // namespace crescent
