// The methods and properties of every dataset in Lua: its size, and transformations into other
// datasets.
#include "crescent/data/stream.h"
#include "crescent/registry/registry.h"
#include "data/streams/element_spec.h"

namespace crescent {
namespace {

StreamPtr own_stream(Dataset& data) {
  return stream_of(std::static_pointer_cast<Dataset>(data.shared_from_this()));
}

std::optional<int64_t> known(int64_t count) {
  return count < 0 ? std::nullopt : std::optional(count);
}
std::optional<int64_t> known_samples(const Dataset& data) { return known(data.samples()); }
std::optional<int64_t> known_batches(const Dataset& data) { return known(data.batches()); }
std::optional<std::string> known_spec(const Dataset& data) {
  const Element spec = element_spec(data);
  return spec.empty() ? std::nullopt : std::optional(to_text(spec));
}

/// The streams of the dataset and of the others.
std::vector<StreamPtr> together_with(Dataset& data, const std::vector<DatasetPtr>& others) {
  std::vector<StreamPtr> all{own_stream(data)};
  for (const DatasetPtr& other : others) all.push_back(stream_of(other));
  return all;
}

StreamPtr batched(Dataset& data, int64_t size, bool drop_remainder) {
  return batch(own_stream(data), {size, {}, 1, drop_remainder});
}
StreamPtr windowed(Dataset& data, int64_t size, std::optional<int64_t> shift, int64_t stride,
                   bool drop_remainder) {
  return batch(own_stream(data), {size, shift, stride, drop_remainder});
}
StreamPtr unbatched(Dataset& data) { return unbatch(own_stream(data)); }
StreamPtr shuffled(Dataset& data, int64_t buffer, std::optional<int64_t> seed, bool each_pass) {
  return shuffle(own_stream(data), {buffer, seed, each_pass});
}
StreamPtr prefetched(Dataset& data, int64_t count) {
  return prefetch_elements(own_stream(data), count);
}
StreamPtr cached(Dataset& data, const std::optional<std::string>& path) {
  return cache(own_stream(data), path.value_or(""));
}
StreamPtr repeated(Dataset& data, std::optional<int64_t> count) {
  return repeat(own_stream(data), count);
}
StreamPtr taken(Dataset& data, int64_t count) { return take(own_stream(data), count); }
StreamPtr skipped(Dataset& data, int64_t count) { return skip(own_stream(data), count); }
StreamPtr concatenated(Dataset& data, const std::vector<DatasetPtr>& others) {
  return concatenate(together_with(data, others));
}
StreamPtr zipped(Dataset& data, const std::vector<DatasetPtr>& others) {
  return zip(together_with(data, others));
}
StreamPtr enumerated(Dataset& data, int64_t start) { return enumerate(own_stream(data), start); }

void describe_sizes(Schema<Dataset>& s) {
  s.property("samples", known_samples, "How many rows there are, where that is known.")
      .property("batches", known_batches, "How many batches an epoch has, where that is known.")
      .property("element_spec", known_spec,
                "Dtypes and shapes of the parts of an element, where they are known without making "
                "one: \"(float32(None, 3), uint8)\".");
}

void describe_batches(Schema<Dataset>& s) {
  s.method("batch", batched, "Elements as rows of batches.")
      .arg("batch_size", "Rows of a batch.")
      .arg("drop_remainder", "Whether a last batch with less rows is left out.", false)
      .method("window", windowed,
              "Batches of elements `stride` apart, each `shift` (size) elements after the last.")
      .arg("size", "Rows of a batch.")
      .arg("shift", "From the first element of a batch to that of the next.", Value())
      .arg("stride", "From an element of a batch to the next.", 1)
      .arg("drop_remainder", "Whether a last batch with less rows is left out.", false)
      .method("unbatch", unbatched, "Rows of batches as elements.")
      .method("shuffle", shuffled, "Elements drawn from a buffer of so many.")
      .arg("buffer_size", "Elements that wait to be drawn.")
      .arg("seed", "Of the order; none: drawn from the process' generator.", Value())
      .arg("reshuffle_each_iteration", "Whether each pass has another order.", true)
      .method("prefetch", prefetched,
              "So many elements are made ahead, on a thread of its own; where a function of the "
              "script makes them without workers, when they are asked for.")
      .arg("buffer_size", "Elements that are made ahead.", 2)
      .method("cache", cached,
              "Keeps what the first whole pass gives, in memory or in a file, for all later ones.")
      .arg("path", "The file.", Value());
}

void describe_order(Schema<Dataset>& s) {
  s.method("repeated", repeated, "So many times, or without end.")
      .arg("count", "How many times.", Value())
      .method("take", taken, "The first elements.")
      .arg("count", "How many.")
      .method("skip", skipped, "All but the first elements.")
      .arg("count", "How many are left out.")
      .method("concatenate", concatenated,
              "Then the elements of another dataset, or of a table of them.")
      .arg("others", "The dataset or datasets.")
      .method("zip", zipped, "The parts of one element of each dataset as one element.")
      .arg("others", "The dataset or datasets.")
      .method("enumerate", enumerated, "Puts the number of each element in front.")
      .arg("start", "The number of the first.", 1);
}

}  // namespace

void Dataset::describe_members(Schema<Dataset>& s) {
  describe_sizes(s);
  describe_batches(s);
  describe_order(s);
}

}  // namespace crescent
