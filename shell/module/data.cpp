// cr.data: files to tensors.
#include "crescent/data.h"

#include "batches.h"
#include "crescent/format.h"
#include "interruption.h"
#include "libraries.h"
#include "object_types.h"

namespace crescent::lua {
namespace {

/// The values, and {columns = names, classes = texts by column}.
std::tuple<Tensor, Dict> read_table(const std::string& path, const std::string& separator,
                                    std::optional<bool> header) {
  if (separator.size() != 1)
    fail("read_csv: expected one character as separator, got '", separator, "'");
  CsvOptions options;
  options.separator = separator[0];
  options.header = header;
  const CsvTable table = read_csv(path, options);
  List classes;
  for (const std::vector<std::string>& texts : table.classes) classes.push_back(Value(texts));
  return {table.values, Dict{{"columns", Value(table.columns)}, {"classes", std::move(classes)}}};
}

/// {name = tensor}
void write_hdf5(const std::string& path, Any arrays) {
  lua_State* L = current();
  if (!is_plain_table(L, arrays.index)) fail_expected(L, arrays.index, "a table {name = tensor}");
  std::vector<std::pair<std::string, Tensor>> named;
  for (lua_pushnil(L); lua_next(L, arrays.index); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) fail_expected(L, -2, "the name of an array");
    named.emplace_back(text_of(L, -2), to_tensor(L, -1));
  }
  std::sort(named.begin(), named.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  write_arrays(path, named);
}

Tensor read_hdf5(const std::string& path, std::optional<std::string> dataset) {
  Interruptible interruptible;
  return read_array(path, dataset.value_or(""));
}

Tensor open_hdf5(const std::string& path, std::optional<std::string> dataset) {
  Interruptible interruptible;
  return open_array(path, dataset.value_or(""));
}

/// x, y and sample_weight: a tensor or a table of them each.
DatasetPtr arrays_dataset(Any x, Any y, Any sample_weight, int64_t batch_size, bool shuffle,
                          std::optional<int64_t> seed) {
  lua_State* L = current();
  const SeedGenerator order(seed);
  return array_dataset(to_data(L, x.index, {}), to_data(L, y.index, {}),
                       to_data(L, sample_weight.index, {}),
                       {.batch_size = batch_size, .shuffle = shuffle, .order = &order});
}

DatasetPtr generator(Any function, std::optional<int64_t> batches) {
  lua_State* L = current();
  if (!lua_isfunction(L, function.index)) fail_expected(L, function.index, "a function");
  return function_dataset(L, function.index, {}, {}, batches.value_or(-1));
}

/// Parts count from 1 here.
DatasetPtr shard_of(DatasetPtr data, int64_t index, int64_t count) {
  if (index < 1) fail("shard: parts count from 1, got ", index);
  return shard(data, index - 1, count);
}

std::optional<int64_t> known(int64_t count) {
  return count < 0 ? std::nullopt : std::optional(count);
}

}  // namespace

void add_dataset_type(ObjectTypes& types, const Type& object) {
  add_type<Dataset>(types, "dataset", &object)
      .property("samples", [](Dataset& data) { return known(data.samples()); })
      .property("batches", [](Dataset& data) { return known(data.batches()); })
      .method("shard", &shard_of, {"index", "count"},
              "Part `index`, from 1, of `count`, each with the same number of batches: of arrays a "
              "part of every batch, of a function every count-th batch.");
}

const std::vector<CallablePtr>& data_functions() {
  static const std::vector<CallablePtr> functions = [] {
    std::vector<CallablePtr> all;
    auto add = [&](CallablePtr f) { all.push_back(std::move(f)); };
    add(bound(
        "read_csv", &read_table, {"path", "separator=,", "header=nil"},
        "Rows as a tensor; second result: names of columns, and the texts behind class numbers."));
    add(bound("dataset", &arrays_dataset,
              {"x", "y=nil", "sample_weight=nil", "batch_size=32", "shuffle=false", "seed=nil"},
              "Batches of arrays, in memory or in files, for fit, evaluate and predict."));
    add(bound("generator", &generator, {"f", "batches=nil"},
              "Batches that a function makes: it returns x, y, sample_weight of the next one, or "
              "nil at the end of an epoch."));
    add(bound("read_idx", &read_idx, {"path"}, "MNIST's format, gzipped too."));
    add(bound("read_npy", &read_npy, {"path"}, "An array of NumPy."));
    add(bound("write_npy", &write_npy, {"path", "tensor"}));
    add(bound("read_hdf5", &read_hdf5, {"path", "dataset=nil"},
              "One data set by its place in the file."));
    add(bound("write_hdf5", &write_hdf5, {"path", "arrays"}, "Tensors by name."));
    constexpr const char* kStays =
        "Stays in the file: fit, evaluate and predict read it as they go, clone() of it or of a "
        "slice loads it.";
    add(bound("open_idx", &open_idx, {"path"}, kStays));
    add(bound("open_npy", &open_npy, {"path"}, kStays));
    add(bound("open_hdf5", &open_hdf5, {"path", "dataset=nil"}, kStays));
    return all;
  }();
  return functions;
}

}  // namespace crescent::lua
