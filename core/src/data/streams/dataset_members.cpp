// The methods and properties of every dataset in Lua: its size, and transformations into other
// datasets.
#include "crescent/data/stream.h"
#include "crescent/registry/registry.h"
#include "data/streams/element_spec.h"

namespace crescent {
namespace {

StreamPtr stream_of_dataset(Dataset& data) {
  return stream_of(std::static_pointer_cast<Dataset>(data.shared_from_this()));
}

std::optional<int64_t> count_or_null(int64_t count) {
  return count < 0 ? std::nullopt : std::optional(count);
}
std::optional<int64_t> sample_count_or_null(const Dataset& data) {
  return count_or_null(data.samples());
}
std::optional<int64_t> batch_count_or_null(const Dataset& data) {
  return count_or_null(data.batches());
}
std::optional<std::string> spec_text_or_null(const Dataset& data) {
  const Element spec = element_spec(data);
  return spec.empty() ? std::nullopt : std::optional(to_text(spec));
}

/// Returns the stream of `data`, followed by the streams of `others`.
std::vector<StreamPtr> streams_of(Dataset& data, const std::vector<DatasetPtr>& others) {
  std::vector<StreamPtr> streams{stream_of_dataset(data)};
  for (const DatasetPtr& other : others) streams.push_back(stream_of(other));
  return streams;
}

StreamPtr batch_stream(Dataset& data, int64_t size, bool drop_remainder) {
  return batch(stream_of_dataset(data), {size, {}, 1, drop_remainder});
}
StreamPtr window_stream(Dataset& data, int64_t size, std::optional<int64_t> shift, int64_t stride,
                        bool drop_remainder) {
  return batch(stream_of_dataset(data), {size, shift, stride, drop_remainder});
}
StreamPtr unbatch_stream(Dataset& data) { return unbatch(stream_of_dataset(data)); }
StreamPtr shuffle_stream(Dataset& data, int64_t buffer, std::optional<int64_t> seed,
                         bool each_pass) {
  return shuffle(stream_of_dataset(data), {buffer, seed, each_pass});
}
StreamPtr prefetch_stream(Dataset& data, int64_t count) {
  return prefetch_elements(stream_of_dataset(data), count);
}
StreamPtr cache_stream(Dataset& data, const std::optional<std::string>& path) {
  return cache(stream_of_dataset(data), path.value_or(""));
}
StreamPtr repeat_stream(Dataset& data, std::optional<int64_t> count) {
  return repeat(stream_of_dataset(data), count);
}
StreamPtr take_stream(Dataset& data, int64_t count) { return take(stream_of_dataset(data), count); }
StreamPtr skip_stream(Dataset& data, int64_t count) { return skip(stream_of_dataset(data), count); }
StreamPtr concatenate_streams(Dataset& data, const std::vector<DatasetPtr>& others) {
  return concatenate(streams_of(data, others));
}
StreamPtr zip_streams(Dataset& data, const std::vector<DatasetPtr>& others) {
  return zip(streams_of(data, others));
}
StreamPtr enumerate_stream(Dataset& data, int64_t start) {
  return enumerate(stream_of_dataset(data), start);
}

void describe_sizes(Schema<Dataset>& s) {
  s.property("samples", sample_count_or_null, "Number of rows, if known.")
      .property("batches", batch_count_or_null, "Number of batches per epoch, if known.")
      .property("element_spec", spec_text_or_null,
                "Dtypes and shapes of the parts of an element, if known without making one: "
                "\"(float32(None, 3), uint8)\".");
}

void describe_batches(Schema<Dataset>& s) {
  s.method("batch", batch_stream, "Combines consecutive elements into batches.")
      .arg("batch_size", "Elements per batch.")
      .arg("drop_remainder", "Drop the last batch if it has fewer elements.", false)
      .method("window", window_stream,
              "Groups elements into windows: batches of elements `stride` apart, whose starts are "
              "`shift` elements apart (by default the size).")
      .arg("size", "Elements per batch.")
      .arg("shift", "Distance between the starts of consecutive windows.", Value())
      .arg("stride", "Distance between the elements of a window.", 1)
      .arg("drop_remainder", "Drop the last batch if it has fewer elements.", false)
      .method("unbatch", unbatch_stream, "Splits batches into their elements.")
      .method("shuffle", shuffle_stream,
              "Shuffles the elements by drawing from a buffer of this many.")
      .arg("buffer_size", "Number of elements in the buffer.")
      .arg("seed", "Seed of the order; by default it is drawn from the global generator.", Value())
      .arg("reshuffle_each_iteration", "Draw a new order for each pass.", true)
      .method("prefetch", prefetch_stream,
              "Prepares elements ahead of time in a thread of its own; elements that a function of "
              "the script makes without workers are prepared when they are requested.")
      .arg("buffer_size", "Number of elements to prepare ahead.", 2)
      .method("cache", cache_stream,
              "Stores the elements of the first complete pass, in memory or in a file, and reads "
              "all later passes from there.")
      .arg("path", "Path of the file; memory when not given.", Value());
}

void describe_order(Schema<Dataset>& s) {
  s.method("repeated", repeat_stream, "Repeats the elements a number of times, or without end.")
      .arg("count", "Number of repetitions; endless when not given.", Value())
      .method("take", take_stream, "Keeps the first elements only.")
      .arg("count", "Number of elements to keep.")
      .method("skip", skip_stream, "Leaves out the first elements.")
      .arg("count", "Number of elements to leave out.")
      .method("concatenate", concatenate_streams,
              "Appends the elements of another dataset, or of a list of datasets.")
      .arg("others", "A dataset or a list of datasets.")
      .method("zip", zip_streams, "Combines the elements of several datasets into one element.")
      .arg("others", "A dataset or a list of datasets.")
      .method("enumerate", enumerate_stream, "Pairs each element with its number.")
      .arg("start", "The first number.", 1);
}

}  // namespace

void Dataset::describe_members(Schema<Dataset>& s) {
  describe_sizes(s);
  describe_batches(s);
  describe_order(s);
}

}  // namespace crescent
