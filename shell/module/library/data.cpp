// cr.data: files to tensors.
#include "crescent/data.h"

#include "crescent/format.h"
#include "library/libraries.h"
#include "values/interruption.h"

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

}  // namespace

const std::vector<CallablePtr>& data_functions() {
  static const std::vector<CallablePtr> functions = [] {
    std::vector<CallablePtr> all;
    auto add = [&](CallablePtr f) { all.push_back(std::move(f)); };
    add(bound(
        "read_csv", &read_table, {"path", "separator=,", "header=nil"},
        "Rows as a tensor; second result: names of columns, and the texts behind class numbers."));
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
