// The functions of cr.config, cr.utils and cr.plugins.
#include <unistd.h>

#include <chrono>

#include "crescent/data/encoding.h"
#include "crescent/layer/layer.h"
#include "crescent/ops/random.h"
#include "crescent/program/communicator.h"
#include "crescent/program/device.h"
#include "crescent/program/program.h"
#include "crescent/registry/loader.h"
#include "crescent/system/file.h"
#include "crescent/tensor/strings.h"
#include "host/lua_plugins.h"
#include "library/libraries.h"
#include "lua/state_lock.h"

namespace crescent::lua {
namespace {

// ---- the device, which stays the same while a step in the background computes

void use_device(const std::string& name, const NamedValueTable& options) {
  StateLock::instance().await_batch_end();
  set_device(name, options.dict);
}

void set_option(std::string_view name, Value value) {
  StateLock::instance().await_batch_end();
  set_device(device().class_name(), {{std::string(name), std::move(value)}});
}

/// The known devices. If the library of a device cannot be loaded, its entry contains the reason.
List devices() {
  List rows;
  for (const std::string& name : registry().names(Device::kKind)) {
    Dict row{{"name", name}, {"in_use", name == device().class_name()}};
    try {
      const auto info = registry().get(Device::kKind, name);
      row.set("doc", info->schema.description);
      row.set("options", Value(info->schema.names()));
    } catch (const Error& error) {
      row.set("refused", error.what());
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// ---- other processes

void set_named_communicator(const std::string& name, const NamedValueTable& options) {
  StateLock::instance().await_batch_end();
  use_communicator(name, options.dict);
}

Dict communicator_in_use() {
  const std::shared_ptr<Communicator> world = communicator();
  return {{"name", world->class_name()}, {"rank", world->rank()}, {"size", world->size()}};
}

// ---- memory

void set_program_cache(int64_t bytes) {
  if (bytes < 0) fail("set_program_cache: expected a number of bytes >= 0, got ", bytes);
  crescent::set_program_cache(bytes);
}

Dict memory() {
  const ProgramCache programs = program_cache();
  return {{"tensors", allocated_bytes()},
          {"programs", static_cast<int64_t>(programs.programs)},
          {"program_bytes", static_cast<int64_t>(programs.bytes)},
          {"program_cache", static_cast<int64_t>(programs.budget)}};
}

// ---- utils

double clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Reads a table of sequences, each a tensor or a table of numbers, of texts or of samples.
Tensors sequences_at(lua_State* L, int index) {
  if (!is_plain_table(L, index)) fail_expected(L, index, "a table of sequences");
  Tensors sequences;
  for (lua_Integer i = 1; i <= static_cast<lua_Integer>(lua_rawlen(L, index)); ++i) {
    lua_rawgeti(L, index, i);
    if (!is_plain_table(L, -1) && !is_tensor_like(L, -1))
      fail("`sequences` must be a list of iterables. Found non-iterable: ", describe(L, -1));
    sequences.push_back(to_tensor(L, lua_gettop(L)));
    if (sequences.back().rank() == 0)
      fail("`sequences` must be a list of iterables. Found non-iterable: ", describe(L, -1));
    lua_pop(L, 1);
  }
  return sequences;
}

/// The shape of a sample of the sequences; fails for sequences whose samples differ in shape.
Shape sample_shape(const Tensors& sequences) {
  std::optional<Shape> common_shape;
  for (size_t i = 0; i < sequences.size(); ++i) {
    if (sequences[i].size() == 0) continue;
    const Shape shape = sequences[i].shape().slice(1, sequences[i].rank());
    if (!common_shape) common_shape = shape;
    if (!(shape == *common_shape))
      fail("pad_sequences: the samples of sequence ", i + 1, " have the shape ", shape,
           ", those before it ", *common_shape);
  }
  return common_shape.value_or(Shape{});
}

/// A tensor of this shape in which each element is the number or the text at `index`. In a tensor
/// of texts, the number 0, the default, stands for the empty text.
Tensor filled_tensor(lua_State* L, int index, const Shape& shape, DType dtype) {
  const bool is_text = lua_type(L, index) == LUA_TSTRING;
  if (dtype == DType::string) {
    const std::string text = is_text ? text_of(L, index) : "";
    return string_tensor(std::vector<std::string>(static_cast<size_t>(shape.size()), text), shape);
  }
  if (is_text)
    fail("pad_sequences: argument 'value': expected a number for the dtype ", dtype,
         ", got a text: for texts, give dtype = \"string\"");
  return Tensor::full(shape, to_number(L, index), dtype);
}

Tensor pad_table(Any table, std::optional<int64_t> maxlen, DType dtype, const std::string& padding,
                 const std::string& truncating, Any value) {
  lua_State* L = current();
  const Tensors sequences = sequences_at(L, table.index);
  const Shape shape_of_sample = sample_shape(sequences);
  // All steps of all sequences; step 0 is the value with which sequences are padded.
  Tensors steps{filled_tensor(L, value.index, Shape{1}.concat(shape_of_sample), dtype)};
  std::vector<std::vector<double>> step_numbers(sequences.size());
  double next_number = 1;
  for (size_t i = 0; i < sequences.size(); ++i) {
    if (sequences[i].size() == 0) continue;
    steps.push_back(ops::cast(sequences[i], dtype));
    for (int64_t step = 0; step < sequences[i].dim(0); ++step)
      step_numbers[i].push_back(next_number++);
  }
  const Tensor padded = pad_sequences(step_numbers, maxlen, DType::int64, padding, truncating, 0);
  return ops::gather(ops::concatenate(steps, 0), padded, 0);
}

// ---- plugins

Value description_of(const PluginRecord& record) {
  Dict dict{{"name", record.name},
            {"version", record.version},
            {"path", record.path},
            {"loaded", record.loaded}};
  if (!record.refused.empty()) dict.set("refused", record.refused);
  if (const std::string doc = doc_of_lua_plugin(record.path); !doc.empty()) dict.set("doc", doc);
  List classes;
  for (const auto& [kind, name] : record.classes)
    classes.push_back(Dict{{"kind", kind}, {"name", name}});
  dict.set("classes", std::move(classes));
  return dict;
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Loads a plugin by its name, a plugin library by its path, a Lua file that defines classes, or a
/// folder that contains init.lua.
OnStack load(const std::string& name) {
  lua_State* L = current();
  const bool is_path = name.find('/') != std::string::npos || ends_with(name, ".so");
  const std::string init_file = name + "/init.lua";
  const bool is_folder = is_path && access(system_path(init_file), F_OK) == 0;
  if (is_folder || ends_with(name, ".lua")) {
    push_global(L, "dofile");
    push(L, system_path(is_folder ? init_file : name));
    protected_call(L, 1, 1);
    return {};
  }
  push(L, description_of(is_path ? load_plugin(name) : load_plugin_by_name(name)));
  return {};
}

List plugin_rows() {
  List rows;
  for (const PluginRecord& record : list_plugins()) rows.push_back(description_of(record));
  return rows;
}

}  // namespace

const std::vector<CallablePtr>& config_functions() {
  static const std::vector<CallablePtr> functions = [] {
    std::vector<CallablePtr> callables;
    auto add = [&](CallablePtr f) { callables.push_back(std::move(f)); };
    add(bound("set_device", &use_device, {"name: the name of a device", "options=nil"},
              "Computes on this device from now on: set_device(\"cpu\", {threads = 2}). Compiled "
              "steps are compiled again; variables and data move when they are used."));
    add(bound(
        "device", []() { return device().class_name(); }, {}, "The name of the device in use."));
    add(bound("devices", &devices, {}, "The available devices with their options."));
    add(bound("set_communicator", &set_named_communicator, {"name", "options=nil"},
              "Sets how this process communicates with others that train with it; set_communicator "
              "\"single\" makes it train alone. The environment variable CRESCENT_COMMUNICATOR "
              "sets the initial one."));
    add(bound("communicator", &communicator_in_use, {},
              "The communicator in use: its name, the rank of this process (from 0) and the number "
              "of processes."));
    add(bound(
        "enable_op_determinism", [](bool on) { set_option("deterministic", on); }, {"on=true"},
        "Makes whole runs give the same bits for any number of threads and of processes that train "
        "together: fit computes each batch in parts of 8 rows or more, at most 8, and adds their "
        "results in one order. CRESCENT_DETERMINISTIC=1 in the environment does the same."));
    add(bound("is_op_determinism_enabled", &is_deterministic, {},
              "Whether enable_op_determinism was called."));
    add(bound(
        "set_threads", [](int64_t count) { set_option("threads", count); }, {"count"},
        "Sets the number of threads that compute; 0: one per core."));
    add(bound(
        "threads -> an integer", []() { return device().information().at("threads"); }, {},
        "The number of threads that compute."));
    add(bound(
        "dtype_policy", []() { return default_policy().name; }, {},
        "The name of the dtype policy of new layers."));
    add(bound(
        "set_dtype_policy",
        [](const Value& policy) { set_default_policy(Codec<DTypePolicy>::decode(policy).name); },
        {"policy: a name or a policy"},
        "Sets the dtype policy of new layers: 'float32', 'mixed_bfloat16', ..."));
    add(bound(
        "floatx", &floatx, {},
        "The dtype of new weights, inputs, random numbers and tensors unless another is given."));
    add(bound(
        "set_floatx", &set_floatx, {"dtype"},
        "Sets the dtype of new weights, inputs, random numbers and tensors: 'float16', 'bfloat16', "
        "'float32' or 'float64'. A policy that set_dtype_policy set keeps its dtypes."));
    add(bound(
        "epsilon", []() { return 1e-7; }, {}, "The small constant that Keras adds to divisors."));
    add(bound(
        "backend", []() { return std::string("crescent"); }, {},
        "The name of the implementation: 'crescent'."));
    add(bound(
        "image_data_format", []() { return std::string("channels_last"); }, {},
        "The position of the channels in images: 'channels_last'."));
    add(bound("set_program_cache", &set_program_cache, {"bytes"},
              "Limits the memory of compiled steps: beyond the limit those unused for longest are "
              "dropped and compiled again when needed. The environment variable "
              "CRESCENT_PROGRAM_CACHE sets the initial limit."));
    add(bound("memory", &memory, {},
              "Memory in use in bytes: of tensors (including arenas and packed weights) and, "
              "approximately, of compiled programs; also the number of programs and their limit."));
    add(bound(
        "information", []() { return device().information(); }, {},
        "Facts about the device in use."));
    return callables;
  }();
  return functions;
}

const std::vector<CallablePtr>& utils_functions() {
  static const std::vector<CallablePtr> functions = [] {
    std::vector<CallablePtr> callables;
    auto add = [&](CallablePtr f) { callables.push_back(std::move(f)); };
    add(bound("to_categorical", &to_categorical, {"y", "num_classes=nil"},
              "Converts class numbers to one-hot vectors."));
    add(bound("normalize", &normalize, {"x", "axis=-1", "order=2"},
              "x divided by its norm along an axis."));
    add(bound("pad_sequences", &pad_table,
              {"sequences: a list of lists of numbers, texts or samples", "maxlen=nil",
               "dtype=int32", "padding=pre", "truncating=pre", "value: a number or a text=0"},
              "Pads or truncates sequences of different lengths into one tensor."));
    add(bound(
        "set_random_seed", &set_random_seed, {"seed"},
        "Seeds the global generator; models built afterwards get the same weights every time."));
    add(bound("clock", &clock, {},
              "A time in seconds from a fixed, arbitrary moment; differences measure durations."));
    return callables;
  }();
  return functions;
}

const std::vector<CallablePtr>& plugins_functions() {
  static const std::vector<CallablePtr> functions = [] {
    std::vector<CallablePtr> callables;
    auto add = [&](CallablePtr f) { callables.push_back(std::move(f)); };
    add(bound("load -> a table with names", &load, {"name"},
              "Loads a plugin: one by name, a shared library by path, or a Lua file (or a folder "
              "with init.lua) that defines classes."));
    add(bound("list", &plugin_rows, {},
              "Loaded, known and refused plugins, including those written in Lua."));
    add(bound("path", &plugin_search_path, {}, "The folders in which plugins are searched."));
    return callables;
  }();
  return functions;
}

}  // namespace crescent::lua
