// The functions of cr.data, which read and write files of tensors.
#include <algorithm>

#include "crescent/io/format.h"
#include "crescent/ops/ops.h"
#include "data/datasets.h"
#include "data/splits.h"
#include "library/file_options.h"
#include "library/libraries.h"
#include "library/writing_csv.h"
#include "values/interruption.h"

namespace crescent::lua {
namespace {

/// The results of reading a table: a tensor of its values, and {columns = names, classes = texts by
/// column}.
std::tuple<Tensor, Dict> values_and_info(const Table& table) {
  List classes;
  for (const std::vector<std::string>& texts : table.classes) classes.push_back(Value(texts));
  return {table.values, Dict{{"columns", Value(table.columns)}, {"classes", std::move(classes)}}};
}

int push_table(lua_State* L, const std::string& path, ReadsTables& format) {
  const Dict options = options_at(L, 1, format.read_table_options());
  return push_results(L, values_and_info(format.read_table(path, options)));
}

int read_csv(lua_State* L) {
  Interruptible interruptible;
  const std::string path = path_at(L, 1, "read_csv");
  return push_table(L, path, *format_named<ReadsTables>("csv"));
}

/// Pushes the table {column name = array} and the list of names in the order of the file. The
/// options are those of the plugin that reads tables.
int read_table(lua_State* L) {
  Interruptible interruptible;
  const std::string path = path_at(L, 1, "read_table");
  const Value table =
      get<Format>("csv")->call_method("columns", {{"path", path}, {"options", to_dict(L, 2)}});
  push(L, table.as_list()[1]);
  push(L, table.as_list()[0]);
  return 2;
}

/// Implements cr.data.csv_dataset: the dataset of a path or a table of paths.
int csv_dataset(lua_State* L) {
  const Value argument = to_value(L, 1);
  const Value paths = argument.is_string() ? Value(List{argument}) : argument;
  const Value rows =
      get<Format>("csv")->call_method("rows", {{"paths", paths}, {"options", to_dict(L, 2)}});
  push(L, rows);
  return 1;
}

struct ArrayOptions {
  std::string dataset;
  static void describe(Schema<ArrayOptions>& s) {
    s.field("dataset", &ArrayOptions::dataset, "Its place in a file of several.");
  }
};

/// A member function that reads an array: kRead reads it to memory, kOpen opens it so that its
/// values stay in the file.
using ReadFunction = Tensor (ReadsArrays::*)(const std::string& path, const std::string& member);
constexpr ReadFunction kRead = &ReadsArrays::read_array, kOpen = &ReadsArrays::open_array;

/// Whether the format reads tables, according to the abilities that its class declares. The C++
/// type does not tell this, because formats of C plugins are wrapped in a class that has all
/// abilities.
bool holds_tables(const Format& format) {
  const Value* abilities = format.info()->schema.traits.find("abilities");
  if (!abilities) return false;
  const List& names = abilities->as_list();
  return std::find(names.begin(), names.end(), Value(ReadsTables::kAbility)) != names.end();
}

/// Pushes the content of a file: a table if the format reads tables, else the arrays in the file.
/// `read_function` reads or opens an array.
int push_content(lua_State* L, const char* function, ReadFunction read_function) {
  Interruptible interruptible;
  const std::string path = path_at(L, 1, function);
  if (holds_tables(*format_to_read(path)))
    return push_table(L, path, *format_to_read<ReadsTables>(path));
  auto arrays = format_to_read<ReadsArrays>(path);
  const SchemaData& schema = schema_of<ArrayOptions>("an array in a file");
  const auto options = read_options<ArrayOptions>(schema, options_at(L, 1, schema));
  push(L, ((*arrays).*read_function)(path, options.dataset));
  return 1;
}

int read(lua_State* L) { return push_content(L, "read", kRead); }
int open(lua_State* L) { return push_content(L, "open", kOpen); }

/// Reads or opens an array in a file of the format with this name.
Tensor read_or_open_array(const char* format, ReadFunction read_function, const std::string& path,
                          const std::optional<std::string>& dataset = {}) {
  Interruptible interruptible;
  return ((*format_named<ReadsArrays>(format)).*read_function)(path, dataset.value_or(""));
}

/// The tensors in a table {name = tensor}.
NamedTensors named_tensors(lua_State* L, int index) {
  if (!is_plain_table(L, index)) fail_expected(L, index, "a table {name = tensor}");
  NamedTensors tensors;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) fail_expected(L, -2, "the name of an array");
    tensors.emplace_back(text_of(L, -2), to_tensor(L, -1));
  }
  std::sort(tensors.begin(), tensors.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return tensors;
}

void write_hdf5(const std::string& path, Any arrays) {
  format_named<WritesArrays>("hdf5")->write_arrays(path, named_tensors(current(), arrays.index));
}

void write_npy(const std::string& path, const Tensor& tensor) {
  format_named<WritesArrays>("npy")->write_arrays(path, {{"", tensor}});
}

void write_npz(const std::string& path, Any arrays) {
  format_named<WritesArrays>("npz")->write_arrays(path, named_tensors(current(), arrays.index));
}

OnStack read_npz(const std::string& path) {
  Interruptible interruptible;
  lua_State* L = current();
  lua_newtable(L);
  for (const auto& [name, tensor] : format_named<ReadsArrays>("npz")->read_arrays(path)) {
    push(L, name);
    push(L, tensor);
    lua_rawset(L, -3);
  }
  return {};
}

void write_csv(const std::string& path, Any values,
               const std::optional<std::vector<std::string>>& names, const std::string& separator) {
  lua_State* L = current();
  const std::vector<std::string> columns = names.value_or(std::vector<std::string>());
  if (is_keywords(L, values.index))
    write_table(path, named_tensors(L, values.index), columns, separator);
  else
    write_matrix(path, to_tensor(L, values.index), columns, separator);
}

std::tuple<Tensor, int64_t> read_wav(const std::string& path) {
  const auto rate =
      static_cast<int64_t>(read_or_open_array("wav", kRead, path, "sampling_rate").item());
  return {read_or_open_array("wav", kRead, path), rate};
}

void write_wav(const std::string& path, const Tensor& audio, int64_t sampling_rate, int64_t bits,
               bool as_float) {
  const auto scalar = [](int64_t n) {
    return Tensor::scalar(static_cast<double>(n), DType::int64);
  };
  format_named<WritesArrays>("wav")->write_arrays(
      path, {{"audio", audio.rank() == 1 ? ops::expand_dims(audio, 1) : audio},
             {"sampling_rate", scalar(sampling_rate)},
             {"bits", scalar(bits)},
             {"float", scalar(as_float ? 1 : 0)}});
}

Tensor read_idx(const std::string& path) { return read_or_open_array("idx", kRead, path); }
Tensor open_idx(const std::string& path) { return read_or_open_array("idx", kOpen, path); }
Tensor read_npy(const std::string& path) { return read_or_open_array("npy", kRead, path); }
Tensor open_npy(const std::string& path) { return read_or_open_array("npy", kOpen, path); }
Tensor read_hdf5(const std::string& path, std::optional<std::string> dataset) {
  return read_or_open_array("hdf5", kRead, path, dataset);
}
Tensor open_hdf5(const std::string& path, std::optional<std::string> dataset) {
  return read_or_open_array("hdf5", kOpen, path, dataset);
}

}  // namespace

const std::vector<CallablePtr>& data_functions() {
  static const std::vector<CallablePtr> functions = [] {
    std::vector<CallablePtr> callables = dataset_functions();
    for (CallablePtr& f : split_functions()) callables.push_back(std::move(f));
    auto add = [&](CallablePtr f) { callables.push_back(std::move(f)); };
    constexpr const char* kOpenDoc =
        "Opens an array, whose values stay in the file: fit, evaluate and predict read them as "
        "they go; clone() of it or of a slice loads them.";
    add(raw("open -> a tensor in a file", open, {"path: a path", "dataset: a string=nil"},
            "Opens a file of any known format: an array stays in the file (fit, evaluate and "
            "predict read it as they go), a table is read as by read_csv."));
    add(raw("read -> a tensor", read, {"path: a path", "dataset: a string=nil"},
            "Reads a file of any known format into memory."));
    add(raw("read_csv -> a table of columns", read_csv,
            {"path: a path", "separator: a string=','", "header: true or false=nil"},
            "Reads a CSV file as a tensor of rows; the second result has the names of the columns "
            "and the texts behind class numbers."));
    add(raw("read_table -> a table of columns", read_table,
            {"path: a path", "options: a table with names=nil"},
            "Reads the columns of a CSV file by name, each with a type: {age = numbers, city = "
            "strings}; the second result is the list of names. Options: separator, header, names, "
            "columns, types, defaults, na_values, label, quote."));
    add(raw("csv_dataset -> a dataset", csv_dataset,
            {"paths: a path or a list of them", "options: a table with names=nil"},
            "The rows of CSV files as elements {age = number, city = text}, read as needed; with "
            "label = name that column is the second part. Options are those of read_table; types "
            "are determined from the first 1000 rows."));
    add(bound("write_csv", &write_csv,
              {"path", "values: a tensor or a table of columns", "columns=nil", "separator=','"},
              "Writes the rows of a tensor, or columns by name, {age = numbers, city = strings}, "
              "as a CSV file; the first line has the names in `columns`, in this order: "
              "cr.data.write_csv(\"points.csv\", points, {\"x\", \"y\"})."));
    add(bound("read_idx", &read_idx, {"path"},
              "Reads a file in the format of MNIST, gzipped or not."));
    add(bound("read_npy", &read_npy, {"path"}, "Reads an array from a .npy file of NumPy."));
    add(bound("write_npy", &write_npy, {"path", "tensor"},
              "Writes an array as a .npy file of NumPy."));
    add(bound("read_npz -> a table of tensors by name", &read_npz, {"path"},
              "Reads all arrays of a .npz archive of NumPy, by name."));
    add(bound("write_npz", &write_npz, {"path", "arrays: a table of tensors by name"},
              "Writes tensors by name into a file."));
    add(bound("read_wav", &read_wav, {"path"},
              "Reads a sound (samples, channels) as float32 from -1 to 1; the second result is the "
              "sampling rate in Hz."));
    add(bound("write_wav", &write_wav, {"path", "audio", "sampling_rate", "bits=16", "float=false"},
              "Writes a sound (samples, channels) or (samples) from -1 to 1 as integers of 8, 16, "
              "24 or 32 bits or, with bits = 32, as floating point."));
    add(bound("read_hdf5", &read_hdf5, {"path", "dataset=nil"},
              "Reads one dataset of an HDF5 file."));
    add(bound("write_hdf5 -> nothing", &write_hdf5, {"path", "arrays: a table of tensors by name"},
              "Writes tensors by name into a file."));
    add(bound("open_idx", &open_idx, {"path"}, kOpenDoc));
    add(bound("open_npy", &open_npy, {"path"}, kOpenDoc));
    add(bound("open_hdf5", &open_hdf5, {"path", "dataset=nil"}, kOpenDoc));
    return callables;
  }();
  return functions;
}

}  // namespace crescent::lua
