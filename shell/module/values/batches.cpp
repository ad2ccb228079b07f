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
  const bool is_tensor = is_tensor_like(L, -1);
  lua_pop(L, 1);
  return is_tensor;
}

bool has_names(lua_State* L, int index) {
  lua_pushnil(L);
  if (!lua_next(L, index)) return false;
  const bool has_name = lua_type(L, -2) == LUA_TSTRING;
  lua_pop(L, 2);
  return has_name;
}

/// The error for data with names that the model does not have.
[[noreturn]] void fail_unexpected(const std::string& name, const std::vector<std::string>& names) {
  fail("no data is expected for '", name, "'", did_you_mean(name, names), "; expected ",
       join(names));
}

/// Warns that data under names that the model does not have are left out.
void warn_of_other_names(const std::vector<std::string>& other_names,
                         const std::vector<std::string>& names) {
  if (!other_names.empty())
    warn("The structure of `inputs` doesn't match the expected structure. Expected: ", join(names),
         "; not read: ", join(other_names));
}

/// Pushes a list of the values in the table at `index`, in the order of the names. Values under
/// other names are an error, but for inputs they are left out with a warning if the table has a
/// value for each of the names.
void push_in_order(lua_State* L, int index, const std::vector<std::string>& names,
                   const std::vector<std::string>& required_names, bool are_inputs) {
  std::vector<std::string> other_names;
  size_t found_count = 0;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    const std::string name = text_of(L, -2);
    if (names.empty())
      fail("expected data by position, {a, b}, got a table with the name '", name,
           "': names are those of the inputs and outputs of a model made of symbols");
    if (std::find(names.begin(), names.end(), name) == names.end())
      other_names.push_back(name);
    else
      ++found_count;
  }
  if (!other_names.empty() && (!are_inputs || found_count < names.size()))
    fail_unexpected(other_names.front(), names);
  warn_of_other_names(other_names, names);
  lua_createtable(L, static_cast<int>(required_names.size()), 0);
  for (const std::string& name : required_names) {
    lua_pushlstring(L, name.data(), name.size());
    if (lua_rawget(L, index) == LUA_TNIL)
      fail("No data provided for \"", name,
           "\". Need data for each key in: ", join(required_names));
    lua_rawseti(L, -2, static_cast<lua_Integer>(lua_rawlen(L, -2)) + 1);
  }
}

}  // namespace

std::vector<std::string> DataNames::get() const {
  if (!model_) return {};
  const Structures structures = model_->structures();
  const Value& structure =
      names_function_ == &Model::output_names ? structures.outputs : structures.inputs;
  return names_in_data(structure,
                       model_->is_graph() ? (model_->*names_function_)() : keys_of(structure));
}

void DataNames::refuse_list(size_t count) const {
  if (!are_inputs() || !model_->is_graph() || count < 2) return;
  const Value structure = model_->structures().inputs;
  if (!structure.is_dict() || structure.as_dict().size() < 2) return;
  std::vector<std::string> names = structure.as_dict().keys();
  std::sort(names.begin(), names.end());
  fail(
      "The structure of `inputs` doesn't match the expected structure. Expected a table with the "
      "names ",
      join(names), "; got a list of ", count, ", whose order says nothing about names");
}

namespace {

/// Whether an option of compile (such as loss) has an entry for the output with this name and
/// position.
bool concerns_output(const Value* option, const std::string& name, size_t output_index) {
  if (!option || option->is_null()) return false;
  if (option->is_list() && output_index < option->as_list().size())
    return !option->as_list()[output_index].is_null();
  if (!option->is_dict() || option->as_dict().contains("class_name")) return true;
  const Value* entry = option->as_dict().find(name);
  return entry && !entry->is_null();
}

}  // namespace

std::vector<std::string> DataNames::required_names() const {
  const std::vector<std::string> names = get();
  const Value compile_options =
      names_function_ == &Model::output_names ? model_->compile_config() : Value();
  if (!compile_options.is_dict()) return names;
  std::vector<std::string> result;
  for (size_t i = 0; i < names.size(); ++i)
    for (const char* option : {"loss", "metrics", "weighted_metrics"})
      if (concerns_output(compile_options.as_dict().find(option), names[i], i)) {
        result.push_back(names[i]);
        break;
      }
  return result;
}
DataNames input_names(const Model& model) { return {model, &Model::input_names}; }
DataNames output_names(const Model& model) { return {model, &Model::output_names}; }

namespace {

bool has_all(lua_State* L, int index, const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    push_string(L, name);
    const bool is_present = lua_rawget(L, index) != LUA_TNIL;
    lua_pop(L, 1);
    return is_present;
  });
}

/// Whether the table contains one array of numbers per name, as {{1, 2, 3}, {4, 5, 6}}, rather than
/// the rows of a single array.
bool holds_arrays(lua_State* L, int index, const DataNames& names) {
  const size_t count = lua_rawlen(L, index);
  if (count < 2 || names.get().size() != count) return false;
  bool are_arrays = true;
  for (size_t i = 1; i <= count && are_arrays; ++i) {
    lua_rawgeti(L, index, static_cast<lua_Integer>(i));
    are_arrays = is_plain_table(L, -1) || is_tensor_like(L, -1);
    lua_pop(L, 1);
  }
  return are_arrays;
}

}  // namespace

Tensors to_inputs(lua_State* L, int index, Model& model) {
  if (model.is_graph() && has_null_tensors(L, index)) {
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
  const auto is_leaf = [](const Value& value) { return !value.is_list() && !value.is_dict(); };
  const std::vector<std::string> names =
      names_in_data(graph.structures().inputs, graph.input_names());
  if (nested.is_list()) input_names(graph).refuse_list(nested.as_list().size());
  if (is_deep(nested, is_leaf)) return leaves_by_name(nested, is_leaf, names);
  if (!nested.is_dict()) return leaves_of(nested);
  const Dict& by_name = nested.as_dict();
  std::vector<std::string> other_names = by_name.keys();
  std::erase_if(other_names, [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  });
  if (!other_names.empty() && by_name.size() - other_names.size() < names.size())
    fail_unexpected(other_names.front(), names);
  warn_of_other_names(other_names, names);
  List inputs;
  for (const std::string& name : names) {
    if (!by_name.contains(name))
      fail("No data provided for \"", name, "\". Need data for each key in: ", join(names));
    inputs.push_back(by_name.at(name));
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
    const auto is_leaf = [](const Value& value) { return !value.is_list() && !value.is_dict(); };
    for (const Value& leaf : leaves_by_name(nested_at(L, index), is_leaf, names.get()))
      tensors.push_back(leaf.is_null() ? Tensor() : leaf.object_as<BoxedTensor>()->tensor);
    return tensors;
  }
  if (!is_plain_table(L, index)) return to_tensors(L, index);
  if (holds_tensors(L, index)) {
    names.refuse_list(lua_rawlen(L, index));
    return to_tensors(L, index);
  }
  if (has_names(L, index)) {
    const std::vector<std::string> all_names = names.get();
    push_in_order(L, index, all_names,
                  has_all(L, index, all_names) ? all_names : names.required_names(),
                  names.are_inputs());
    const Tensors tensors = to_tensors(L, -1);
    lua_pop(L, 1);
    return tensors;
  }
  if (holds_arrays(L, index, names)) {
    names.refuse_list(lua_rawlen(L, index));
    return to_tensors(L, index);
  }
  return {to_tensor(L, index)};
}

Tensors to_weights(lua_State* L, int index, const DataNames& names) {
  const bool is_empty = is_options(L, index) && !is_keywords(L, index);
  return is_empty ? Tensors() : to_data(L, index, names);
}

namespace {

/// Whether the table is {x, y} or {x, y, sample_weight} for a model with one input.
bool is_whole_batch(lua_State* L, int index, const DataNames& inputs) {
  index = lua_absindex(L, index);
  if (!is_plain_table(L, index) || has_names(L, index) || inputs.get().size() != 1) return false;
  const size_t part_count = lua_rawlen(L, index);
  return (part_count == 2 || part_count == 3) && holds_tensors(L, index);
}

/// Replaces the three values on top of the stack by x, y and sample_weight, the items of the table
/// that is the lowest of these values.
void spread_batch(lua_State* L) {
  const int first_index = lua_gettop(L) - 2;
  for (int i = 3; i >= 1; --i) {
    lua_rawgeti(L, first_index, i);
    lua_replace(L, first_index + i - 1);
  }
}

/// Makes the next batch from the three values on top of the stack: x, y and sample_weight. Returns
/// false if x is nil.
bool read_batch(lua_State* L, Batch& batch, const DataNames& inputs, const DataNames& outputs) {
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
                             const DataNames& outputs, int64_t batch_count) {
  return generator_dataset(
      [coroutine = Ref(L, index), inputs, outputs](Batch& batch) {
        lua_State* state = current();
        StackRestorer restorer(state);
        reserve(state, 10);
        coroutine.push(state);
        lua_State* thread = lua_tothread(state, -1);
        const bool is_new = lua_status(thread) == LUA_OK && lua_gettop(thread) > 0;
        if (!is_new && lua_status(thread) != LUA_YIELD) return false;
        push_global(state, "coroutine");
        push_field(state, -1, "resume");
        coroutine.push(state);
        protected_call(state, 1, 4);
        if (!lua_toboolean(state, -4)) fail(text_of(state, -3));
        return read_batch(state, batch, inputs, outputs);
      },
      batch_count);
}

}  // namespace

DatasetPtr function_dataset(lua_State* L, int index, const DataNames& inputs,
                            const DataNames& outputs, int64_t batch_count) {
  return generator_dataset(
      [function = Ref(L, index), inputs, outputs](Batch& batch) {
        lua_State* state = current();
        StackRestorer restorer(state);
        reserve(state, 8);
        function.push(state);
        try {
          protected_call(state, 0, 3);
        } catch (const Error& error) {
          if (is_dead_coroutine_error(error)) fail_at_end();
          throw;
        }
        return read_batch(state, batch, inputs, outputs);
      },
      batch_count);
}

DatasetPtr dataset_at(lua_State* L, int index, const Model& model, int64_t batch_count) {
  if (lua_isfunction(L, index))
    return function_dataset(L, index, input_names(model), output_names(model), batch_count);
  if (lua_isthread(L, index))
    return coroutine_dataset(L, index, input_names(model), output_names(model), batch_count);
  const DatasetPtr data = object_as<Dataset>(L, index);
  return data ? for_model(data, model, batch_count) : nullptr;
}

DatasetPtr for_model(const DatasetPtr& data, const Model& model, int64_t batch_count) {
  const auto stream = std::dynamic_pointer_cast<Stream>(data);
  if (!stream) return data;
  if (stream->elements() == Stream::kInfinite && batch_count < 0)
    fail(
        "When providing an infinite dataset, you must specify the number of steps to run (if you "
        "did not intend to create an infinite dataset, make sure to not call `repeated()` on the "
        "dataset).");
  const std::vector<std::string> inputs = input_names(model).get(),
                                 outputs = output_names(model).get();
  return inputs.empty() && outputs.empty() ? data : with_names(stream, inputs, outputs);
}

}  // namespace crescent::lua
