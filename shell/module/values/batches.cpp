#include "values/batches.h"

#include "crescent/data/stream.h"
#include "crescent/program/program.h"
#include "lua/handle.h"
#include "values/callable.h"
#include "values/convert.h"
#include "values/structured.h"

namespace crescent::lua {
namespace {

/// Whether the table contains tensors by position, rather than numbers or named tensors.
bool holds_tensors(lua_State* L, int index) {
  lua_rawgeti(L, index, 1);
  const bool tensors = is_tensor_like(L, -1);
  lua_pop(L, 1);
  return tensors;
}

bool has_names(lua_State* L, int index) {
  lua_pushnil(L);
  if (!lua_next(L, index)) return false;
  const bool named = lua_type(L, -2) == LUA_TSTRING;
  lua_pop(L, 2);
  return named;
}

/// Pushes a list of the values in the table at `index`, in the order of the names. Fails for names
/// that are not among the inputs or outputs.
void push_in_order(lua_State* L, int index, const std::vector<std::string>& names,
                   const std::vector<std::string>& wanted) {
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    const std::string name = text_of(L, -2);
    if (names.empty())
      fail("expected data by position, {a, b}, got a table with the name '", name,
           "': names are those of the inputs and outputs of a model made of symbols");
    if (std::find(names.begin(), names.end(), name) == names.end())
      fail("no data is expected for '", name, "'", did_you_mean(name, names), "; expected ",
           join(names));
  }
  lua_createtable(L, static_cast<int>(wanted.size()), 0);
  for (const std::string& name : wanted) {
    lua_pushlstring(L, name.data(), name.size());
    if (lua_rawget(L, index) == LUA_TNIL)
      fail("No data provided for \"", name, "\". Need data for each key in: ", join(wanted));
    lua_rawseti(L, -2, static_cast<lua_Integer>(lua_rawlen(L, -2)) + 1);
  }
}

}  // namespace

std::vector<std::string> DataNames::get() const {
  if (!model_) return {};
  const Structures structures = model_->structures();
  const Value& structure = of_ == &Model::output_names ? structures.outputs : structures.inputs;
  return names_in_data(structure, model_->is_graph() ? (model_->*of_)() : keys_of(structure));
}
namespace {

/// Whether an option of compile (such as loss) has an entry for the output with this name and
/// position.
bool is_about(const Value* option, const std::string& name, size_t output_index) {
  if (!option || option->is_null()) return false;
  if (option->is_list() && output_index < option->as_list().size())
    return !option->as_list()[output_index].is_null();
  if (!option->is_dict() || option->as_dict().contains("class_name")) return true;
  const Value* own = option->as_dict().find(name);
  return own && !own->is_null();
}

}  // namespace

std::vector<std::string> DataNames::needed() const {
  const std::vector<std::string> all = get();
  const Value compiled = of_ == &Model::output_names ? model_->compile_config() : Value();
  if (!compiled.is_dict()) return all;
  std::vector<std::string> needed;
  for (size_t i = 0; i < all.size(); ++i)
    for (const char* option : {"loss", "metrics", "weighted_metrics"})
      if (is_about(compiled.as_dict().find(option), all[i], i)) {
        needed.push_back(all[i]);
        break;
      }
  return needed;
}
DataNames input_names(const Model& model) { return {model, &Model::input_names}; }
DataNames output_names(const Model& model) { return {model, &Model::output_names}; }

namespace {

bool has_all(lua_State* L, int index, const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    push_string(L, name);
    const bool there = lua_rawget(L, index) != LUA_TNIL;
    lua_pop(L, 1);
    return there;
  });
}

/// Whether the table contains one array of numbers per name, as {{1, 2, 3}, {4, 5, 6}}, rather than
/// the rows of a single array.
bool holds_arrays(lua_State* L, int index, const DataNames& names) {
  const size_t count = lua_rawlen(L, index);
  if (count < 2 || names.get().size() != count) return false;
  bool tables = true;
  for (size_t i = 1; i <= count && tables; ++i) {
    lua_rawgeti(L, index, static_cast<lua_Integer>(i));
    tables = is_plain_table(L, -1) || is_tensor_like(L, -1);
    lua_pop(L, 1);
  }
  return tables;
}

}  // namespace

Tensors to_inputs(lua_State* L, int index, Model& model) {
  if (model.is_graph() && lacks_parts(L, index)) {
    const List inputs = inputs_of_graph(model, nested_at(L, index));
    model.set_input_structure(structure_of(inputs));
    return tensors_of(inputs);
  }
  if (model.is_graph()) model.set_input_structure({});
  if (model.is_graph() || !model.takes_structures()) return to_data(L, index, input_names(model));
  if (!is_nested(L, index)) {
    model.set_input_structure({});
    return to_data(L, index, {});
  }
  const Value nested = nested_at(L, index);
  model.set_input_structure(structure_of(nested));
  return tensors_of(nested);
}

List inputs_of_graph(const Model& graph, const Value& nested) {
  const auto is_leaf = [](const Value& part) { return !part.is_list() && !part.is_dict(); };
  const std::vector<std::string> names =
      names_in_data(graph.structures().inputs, graph.input_names());
  if (is_deep(nested, is_leaf)) return leaves_by_name(nested, is_leaf, names);
  if (!nested.is_dict()) return leaves_of(nested);
  const Dict& given = nested.as_dict();
  for (const DictEntry& entry : given)
    if (std::find(names.begin(), names.end(), entry.key) == names.end())
      fail("no data is expected for '", entry.key, "'", did_you_mean(entry.key, names),
           "; expected ", join(names));
  List inputs;
  for (const std::string& name : names) {
    if (!given.contains(name))
      fail("No data provided for \"", name, "\". Need data for each key in: ", join(names));
    inputs.push_back(given.at(name));
  }
  return inputs;
}

Tensors to_targets(lua_State* L, int index, Model& model, const Tensors& x) {
  if (!model.is_graph() && !x.empty() && is_nested(L, index) &&
      model.structures().outputs.is_null()) {
    trace([&](const Tensors& inputs) { return model(inputs), Tensors{}; }, specs_of(x));
  }
  return to_data(L, index, output_names(model));
}

Tensors to_data(lua_State* L, int index, const DataNames& names) {
  index = lua_absindex(L, index);
  reserve(L, 6);
  if (lua_isnoneornil(L, index)) return {};
  if (holds_tables_of_tensors(L, index)) {
    Tensors tensors;
    const auto is_leaf = [](const Value& part) { return !part.is_list() && !part.is_dict(); };
    for (const Value& leaf : leaves_by_name(nested_at(L, index), is_leaf, names.get()))
      tensors.push_back(leaf.is_null() ? Tensor() : leaf.object_as<BoxedTensor>()->tensor);
    return tensors;
  }
  if (!is_plain_table(L, index) || holds_tensors(L, index)) return to_tensors(L, index);
  if (has_names(L, index)) {
    const std::vector<std::string> all = names.get();
    push_in_order(L, index, all, has_all(L, index, all) ? all : names.needed());
    const Tensors tensors = to_tensors(L, -1);
    lua_pop(L, 1);
    return tensors;
  }
  if (holds_arrays(L, index, names)) return to_tensors(L, index);
  return {to_tensor(L, index)};
}

Tensors to_weights(lua_State* L, int index, const DataNames& names) {
  const bool empty = is_options(L, index) && !is_keywords(L, index);
  return empty ? Tensors() : to_data(L, index, names);
}

namespace {

/// Whether the table is {x, y} or {x, y, sample_weight} for a model with one input.
bool is_whole_batch(lua_State* L, int index, const DataNames& inputs) {
  index = lua_absindex(L, index);
  if (!is_plain_table(L, index) || has_names(L, index) || inputs.get().size() != 1) return false;
  const size_t parts = lua_rawlen(L, index);
  return (parts == 2 || parts == 3) && holds_tensors(L, index);
}

/// Replaces the three values on top of the stack by x, y and sample_weight, the items of the table
/// that is the lowest of these values.
void spread_batch(lua_State* L) {
  const int first = lua_gettop(L) - 2;
  for (int i = 3; i >= 1; --i) {
    lua_rawgeti(L, first, i);
    lua_replace(L, first + i - 1);
  }
}

/// Makes the next batch from the three values on top of the stack: x, y and sample_weight. Returns
/// false if x is nil.
bool take_batch(lua_State* L, Batch& batch, const DataNames& inputs, const DataNames& outputs) {
  if (lua_isnil(L, -3)) return false;
  if (lua_isnil(L, -2) && is_whole_batch(L, -3, inputs)) spread_batch(L);
  batch.x = to_data(L, -3, inputs);
  batch.y = to_data(L, -2, outputs);
  batch.sample_weight = to_data(L, -1, outputs);
  return true;
}

/// Raises the error for a coroutine.wrap function that has ended, since Lua code cannot find out
/// that it has ended.
[[noreturn]] void fail_at_end() {
  fail(
      "the coroutine that gives the data has ended, and more was asked of it: data that is read "
      "again, in each epoch and by each fit, needs a function that starts over");
}

bool is_dead_coroutine_error(const Error& error) {
  return std::string_view(error.what()).ends_with("cannot resume dead coroutine");
}

/// A dataset whose batches a coroutine yields until it returns.
DatasetPtr coroutine_dataset(lua_State* L, int index, const DataNames& inputs,
                             const DataNames& outputs, int64_t batches) {
  return generator_dataset(
      [coroutine = Ref(L, index), inputs, outputs](Batch& batch) {
        lua_State* now = current();
        StackRestorer restorer(now);
        reserve(now, 10);
        coroutine.push(now);
        lua_State* other = lua_tothread(now, -1);
        const bool fresh = lua_status(other) == LUA_OK && lua_gettop(other) > 0;
        if (!fresh && lua_status(other) != LUA_YIELD) return false;
        push_global(now, "coroutine");
        push_field(now, -1, "resume");
        coroutine.push(now);
        protected_call(now, 1, 4);
        if (!lua_toboolean(now, -4)) fail(text_of(now, -3));
        return take_batch(now, batch, inputs, outputs);
      },
      batches);
}

}  // namespace

DatasetPtr function_dataset(lua_State* L, int index, const DataNames& inputs,
                            const DataNames& outputs, int64_t batches) {
  return generator_dataset(
      [function = Ref(L, index), inputs, outputs](Batch& batch) {
        lua_State* now = current();
        StackRestorer restorer(now);
        reserve(now, 8);
        function.push(now);
        try {
          protected_call(now, 0, 3);
        } catch (const Error& error) {
          if (is_dead_coroutine_error(error)) fail_at_end();
          throw;
        }
        return take_batch(now, batch, inputs, outputs);
      },
      batches);
}

DatasetPtr dataset_at(lua_State* L, int index, const Model& model, int64_t batches) {
  if (lua_isfunction(L, index))
    return function_dataset(L, index, input_names(model), output_names(model), batches);
  if (lua_isthread(L, index))
    return coroutine_dataset(L, index, input_names(model), output_names(model), batches);
  const DatasetPtr data = object_as<Dataset>(L, index);
  return data ? for_model(data, model, batches) : nullptr;
}

DatasetPtr for_model(const DatasetPtr& data, const Model& model, int64_t batches) {
  const auto stream = std::dynamic_pointer_cast<Stream>(data);
  if (!stream) return data;
  if (stream->elements() == Stream::kInfinite && batches < 0)
    fail(
        "When providing an infinite dataset, you must specify the number of steps to run (if you "
        "did not intend to create an infinite dataset, make sure to not call `repeated()` on the "
        "dataset).");
  const std::vector<std::string> inputs = input_names(model).get(),
                                 outputs = output_names(model).get();
  return inputs.empty() && outputs.empty() ? data : with_names(stream, inputs, outputs);
}

}  // namespace crescent::lua
