// Makes datasets from arrays and from functions, and shards (parts) of datasets.
#include "data/datasets.h"

#include "crescent/data/directory.h"
#include "crescent/data/stream.h"
#include "data/streams.h"
#include "values/batches.h"

namespace crescent::lua {
namespace {

/// A dataset of x, y and sample_weight, each a tensor or a table of tensors.
DatasetPtr arrays_dataset(Any x, Any y, Any sample_weight, int64_t batch_size, bool shuffle,
                          std::optional<int64_t> seed) {
  lua_State* L = current();
  const SeedGenerator order_generator(seed);
  return array_dataset(to_data(L, x.index, {}), to_data(L, y.index, {}),
                       to_weights(L, sample_weight.index, {}),
                       {.batch_size = batch_size, .shuffle = shuffle, .order = &order_generator});
}

DatasetPtr generator(Any function, std::optional<int64_t> batches) {
  lua_State* L = current();
  if (!lua_isfunction(L, function.index)) fail_expected(L, function.index, "a function");
  return function_dataset(L, function.index, {}, {}, batches.value_or(-1));
}

void add_directory_type(ObjectTypes& types, const HandleType& dataset) {
  add_type<DirectoryDataset>(types, "dataset of files", &dataset)
      .property(
          "class_names", [](DirectoryDataset& data) { return data.class_names; },
          "The names of the subfolders, in the order of their labels.")
      .property(
          "file_paths", [](DirectoryDataset& data) { return data.file_paths; },
          "The paths of the files, in the order of the elements.");
}

/// Returns a shard of a dataset; shards count from 1 in Lua.
DatasetPtr shard_of(DatasetPtr data, int64_t index, int64_t count) {
  if (count < 1) fail("shard: expected at least 1 part, got ", count);
  if (index < 1 || index > count) fail("shard: parts count from 1 to ", count, ", got ", index);
  return shard(data, index - 1, count);
}

/// The length of a dataset as text: "4 batches, 100 samples", "100 elements", "without end"; "" if
/// it is unknown.
std::string length_text(const Dataset& data) {
  std::string text;
  const auto add = [&](int64_t count, const char* unit) {
    if (count >= 0) text += concat(text.empty() ? "" : ", ", count, " ", unit);
  };
  const auto* stream = dynamic_cast<const Stream*>(&data);
  if (!stream) return add(data.batches(), "batches"), add(data.samples(), "samples"), text;
  const int64_t element_count = stream->elements();
  if (element_count == Stream::kInfinite) return "without end";
  return add(element_count, "elements"), text;
}

/// The length as text, or "of unknown length" if len() of a Lua class fails; used where objects are
/// printed.
std::string length_text_or_none(const Dataset& data) {
  try {
    return length_text(data);
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {
    return "of unknown length";
  }
}

/// The text of a dataset: "<Dataset of (float32(28, 28), uint8), 100 elements>", "<Dataset: 4
/// batches, 100 samples>".
std::string dataset_text(Dataset& data) {
  std::string text = "<" + data.class_name(), separator = ": ";
  lua_getfield(current(), 1, "element_spec");
  if (!lua_isnil(current(), -1)) text += " of " + text_of(current(), -1), separator = ", ";
  const std::string length = length_text_or_none(data);
  return text + (length.empty() ? "" : separator + length) + ">";
}

/// Fails for the loop `for x, y in data do` with a hint how to iterate.
int refuse_call(lua_State*) {
  fail(
      "a dataset is no function; its elements are gone through by: for x, y in data:elements() do");
}

}  // namespace

void add_dataset_type(ObjectTypes& types, const HandleType& object) {
  HandleType& dataset = add_type<Dataset>(types, "dataset", &object);
  add_iterator_type(types, object);
  add_stream_methods(dataset);
  add_directory_type(types, dataset);
  dataset.meta("__call", raw("call", refuse_call));
  dataset.meta("__tostring", bound("tostring", &dataset_text, {"dataset"}));
  dataset.method("shard -> a dataset", &shard_of, {"index", "count"},
                 "The share `index` (from 1) of `count` shares, each with the same number of "
                 "batches: of arrays a part of every batch, of a generator every count-th batch.");
}

std::vector<CallablePtr> dataset_functions() {
  std::vector<CallablePtr> callables = stream_functions();
  callables.push_back(bound(
      "dataset -> a dataset", &arrays_dataset,
      {"x: a tensor, a structure of them, or a dataset", "y: a tensor or a structure of them=nil",
       "sample_weight: a tensor or a structure of them=nil", "batch_size=32", "shuffle=false",
       "seed=nil"},
      "Batches of arrays, in memory or in files, for fit, evaluate and predict."));
  callables.push_back(
      bound("generator -> a dataset", &generator, {"f: a function", "batches=nil"},
            "Batches that a function makes: it returns x, y, sample_weight of the next "
            "batch, or nil at the end of an epoch."));
  return callables;
}

}  // namespace crescent::lua
