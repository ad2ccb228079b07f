#include "data/streams.h"

#include <algorithm>

#include "crescent/program/distribution.h"
#include "data/mappers.h"
#include "values/interruption.h"
#include "workers/worker_state.h"

namespace crescent::lua {
namespace {

// ---- iteration

/// The iterator of one pass over a dataset: for x, y in data:elements() do
class ElementIterator final : public Object {
 public:
  explicit ElementIterator(CursorPtr cursor) : cursor_(std::move(cursor)) {}
  std::string class_name() const override { return "iterator"; }
  Element next() {
    Element element;
    if (cursor_ && !cursor_->next(element)) cursor_ = nullptr;
    return cursor_ ? element : Element{};
  }

 private:
  CursorPtr cursor_;
};

std::shared_ptr<ElementIterator> elements(DatasetPtr data) {
  return std::make_shared<ElementIterator>(stream_of(data)->open());
}

int next_element(lua_State* L) {
  auto iterator = object_as<ElementIterator>(L, 1);
  if (!iterator) fail_expected(L, 1, "an iterator");
  const Element element = [&] {
    const Interruptible interruptible;
    return iterator->next();
  }();
  if (element.empty()) return lua_pushnil(L), 1;
  return push_element(L, element);
}

// ---- transformations

StreamPtr map_with(DatasetPtr data, Any function, int64_t worker_count,
                   std::optional<bool> training) {
  return map(stream_of(data), mapping_at(current(), function.index, worker_count, training, "map"));
}

StreamPtr filter_with(DatasetPtr data, Any function, int64_t worker_count) {
  return filter(stream_of(data), mapping_at(current(), function.index, worker_count, {}, "filter"));
}

StreamPtr interleave_with(DatasetPtr data, Any function, int64_t cycle_length,
                          int64_t block_length) {
  lua_State* L = current();
  if (!lua_isfunction(L, function.index)) fail_expected(L, function.index, "a function");
  const Mapping mapping = mapping_at(L, function.index, 0, {}, "interleave");
  Interleaving interleaving{[mapper = mapping.make()](Element element) {
                              const Element result = mapper(std::move(element));
                              const auto data =
                                  result.empty() ? nullptr : result[0].object_as<Dataset>();
                              if (!data)
                                fail(
                                    "interleave: expected the function to give a dataset, such as "
                                    "cr.data.from_tensor_slices(x)");
                              return stream_of(data);
                            },
                            cycle_length, block_length, true};
  return interleave(stream_of(data), std::move(interleaving));
}

// ---- sources

/// The parts of an element. A table {x, y} has several parts; a number, a string, or a table of
/// numbers, strings or named values is a single part.
Element parts_of(Value value) {
  const bool has_parts =
      value.is_list() && !value.as_list().empty() &&
      std::all_of(value.as_list().begin(), value.as_list().end(),
                  [](const Value& v) { return v.is_object() || v.is_dict() || v.is_list(); });
  const bool is_one_array =
      has_parts && std::all_of(value.as_list().begin(), value.as_list().end(), [](const Value& v) {
        return v.is_list() && !v.as_list().empty() && v.as_list().front().is_number();
      });
  return has_parts && !is_one_array ? value.as_list() : Element{std::move(value)};
}

StreamPtr from_tensor_slices(Value arrays) { return slices(parts_of(std::move(arrays))); }

StreamPtr from_list(Value rows) {
  std::vector<Element> elements;
  for (const Value& row : rows.as_list())
    elements.push_back(row.is_list() ? row.as_list() : Element{row});
  return list_stream(std::move(elements));
}

/// A stream made from a Lua function. Each pass calls the function once, with the index of the part
/// of the data that this process must give and the number of parts. The function returns another
/// function, which returns the elements one by one, then nil.
StreamPtr from_generator(Any function, std::optional<int64_t> elements) {
  lua_State* L = current();
  if (!lua_isfunction(L, function.index)) fail_expected(L, function.index, "a function");
  const auto begin_pass = [generator_function =
                               Ref(L, function.index)](uint64_t) -> std::function<bool(Element&)> {
    lua_State* pass_state = current();
    const StackRestorer restorer(pass_state);
    reserve(pass_state, 6);
    generator_function.push(pass_state);
    const DataPart part = data_part();
    lua_pushinteger(pass_state, part.index);
    lua_pushinteger(pass_state, part.count);
    protected_call(pass_state, 2, 1);
    if (!lua_isfunction(pass_state, -1))
      fail(
          "from_generator: expected the function to return a function that gives the elements, "
          "got ",
          describe(pass_state, -1));
    return [next = Ref(pass_state, -1)](Element& element) {
      lua_State* element_state = current();
      const StackRestorer element_restorer(element_state);
      const int first_result = lua_gettop(element_state) + 1;
      next.push(element_state);
      protected_call(element_state, 0, LUA_MULTRET);
      element = element_from(element_state, first_result);
      return !element.empty() && !element[0].is_null();
    };
  };
  return generated({begin_pass, elements.value_or(Stream::kUnknown), true});
}

}  // namespace

void add_iterator_type(ObjectTypes& types, const HandleType& object) {
  add_type<ElementIterator>(types, "iterator", &object)
      .meta("__call", raw("next", next_element, {"iterator"}));
}

void add_stream_methods(HandleType& dataset) {
  dataset
      .method("elements -> an iterator", &elements, {},
              "Iterates over the elements: for x, y in data:elements() do ... end. After batch() "
              "an element is a batch.")
      .method("map -> a dataset", &map_with,
              {"function: a function or a layer", "workers=0", "training=nil"},
              "Applies a function to the parts of each element, or a layer to its first part. With "
              "workers, that many threads run the function, each in a Lua state of its own with "
              "copies of the variables that the function uses.")
      .method("filter -> a dataset", &filter_with, {"function: a function", "workers=0"},
              "Keeps the elements for which the function returns true.")
      .method("interleave -> a dataset", &interleave_with,
              {"function: a function", "cycle_length=4", "block_length=1"},
              "Maps each element to a dataset by the function and takes elements from several of "
              "these in turn.");
}

std::vector<CallablePtr> stream_functions() {
  std::vector<CallablePtr> callables;
  callables.push_back(
      bound("from_tensor_slices -> a dataset", &from_tensor_slices,
            {"arrays: a tensor or a structure of them"},
            "The rows of an array (or list, or table by names), or of several, {x, y}, "
            "as elements."));
  callables.push_back(
      bound("from_list -> a dataset", &from_list, {"rows: a list"},
            "The items of a list as elements; an item that is a list becomes several parts."));
  callables.push_back(bound(
      "from_generator -> a dataset", &from_generator, {"function: a function", "elements=nil"},
      "The elements that a generator function yields: the function is called for "
      "each pass and returns an iterator, which returns nil at the end. Its "
      "arguments are the part of the data to yield, (0, 1) for all, or "
      "(rank, size) where each process gives its own part."));
  callables.push_back(
      bound("list_files -> a dataset", &list_files, {"pattern", "shuffle=true", "seed=nil"},
            "The paths of the files that match a pattern such as \"data/*.csv\", as elements."));
  return callables;
}

}  // namespace crescent::lua
