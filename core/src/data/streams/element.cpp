#include "data/streams/element.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "crescent/base/structure.h"
#include "crescent/tensor/strings.h"
#include "data/arrays.h"
#include "data/streams/interruption_check.h"

namespace crescent {
namespace {

Value boxed_tensor(Tensor tensor) {
  return Value(std::make_shared<BoxedTensor>(std::move(tensor)));
}

bool is_number_like(const Value& part) { return part.is_number() || part.is_bool(); }
bool is_text(const Value& part) { return part.is_string(); }

/// Whether the part is a value of this kind, or a list of such parts.
bool consists_of(const Value& part, bool (*is_of_kind)(const Value&)) {
  if (!part.is_list()) return is_of_kind(part);
  const List& list = part.as_list();
  return !list.empty() && std::all_of(list.begin(), list.end(), [&](const Value& item) {
    return consists_of(item, is_of_kind);
  });
}

/// The shape of nested lists, whose texts are appended to `texts`.
Shape collect_texts(const Value& part, std::vector<std::string>& texts) {
  if (part.is_string()) return texts.push_back(part.as_string()), Shape{};
  Shape shape;
  for (const Value& item : part.as_list()) shape = collect_texts(item, texts);
  return Shape{static_cast<int64_t>(part.as_list().size())}.concat(shape);
}

Tensor scalar_of(const Value& part) {
  if (part.is_bool()) return Tensor::scalar(part.as_bool(), DType::boolean);
  if (part.is_float()) return Tensor::scalar(part.as_float());
  const int64_t n = part.as_int();
  if (std::in_range<int32_t>(n)) return Tensor::scalar(static_cast<double>(n), DType::int32);
  return Tensor::from(std::vector<int64_t>{n}, {});
}

Value part_of(const Tensors& tensors) {
  if (tensors.empty()) return {};
  List parts;
  for (const Tensor& t : tensors) parts.push_back(t ? boxed_tensor(t) : Value());
  return parts.size() == 1 ? parts.front() : Value(parts);
}

const char* kind_of(const Value& part) {
  if (is_tensor_like(part)) return "a tensor";
  if (part.is_list()) return "a list";
  if (part.is_dict()) return "a table with names";
  return part.is_null() ? "nothing" : "an object";
}

/// Stacks tensors, in the memory of the host or of a device, along a new first axis.
Value stacked_tensors(const std::vector<Value>& parts, int64_t first_number) {
  const Tensor first_tensor = tensor_of(parts.front());
  TensorSpec spec{first_tensor.dtype(),
                  Shape{static_cast<int64_t>(parts.size())}.concat(first_tensor.shape())};
  Tensor batch = Tensor::uninitialized(spec);
  auto* target_bytes = static_cast<std::byte*>(batch.mutable_raw());
  const size_t bytes = first_tensor.bytes();
  for (size_t i = 0; i < parts.size(); ++i) {
    const Tensor row = i == 0 ? first_tensor : tensor_of(parts[i]);
    if (row.spec() != first_tensor.spec())
      fail("batch: element ", first_number + static_cast<int64_t>(i), " is ", row.spec(),
           ", those before it are ", first_tensor.spec(),
           "; tensors of one batch have the same shape and dtype");
    row.storage()->read(row.offset(), bytes, target_bytes + i * bytes);
  }
  return boxed_tensor(std::move(batch));
}

Value stacked_lists(const std::vector<Value>& parts, int64_t first_number) {
  const size_t count = parts.front().as_list().size();
  List lists;
  for (size_t index = 0; index < count; ++index) {
    std::vector<Value> column;
    for (size_t i = 0; i < parts.size(); ++i) {
      const List& list = parts[i].as_list();
      if (list.size() != count)
        fail("batch: element ", first_number + static_cast<int64_t>(i), " has a list of ",
             list.size(), ", those before it lists of ", count);
      column.push_back(list[index]);
    }
    lists.push_back(stacked(column, first_number));
  }
  return lists;
}

Value stacked_dicts(const std::vector<Value>& parts, int64_t first_number) {
  const std::vector<std::string> names = parts.front().as_dict().keys();
  std::vector<DictEntry> entries;
  for (const std::string& name : names) {
    std::vector<Value> column;
    for (size_t i = 0; i < parts.size(); ++i) {
      const Dict& dict = parts[i].as_dict();
      if (dict.size() != names.size() || !dict.contains(name))
        fail("batch: element ", first_number + static_cast<int64_t>(i), " has ", join(dict.keys()),
             ", those before it ", join(names));
      column.push_back(dict.at(name));
    }
    entries.push_back({name, stacked(column, first_number)});
  }
  return Dict::from(std::move(entries));
}

/// A row of the part. Rows of tensors in files are read into memory, as functions that receive
/// elements expect.
Value row_of(const Value& part, int64_t row) {
  if (is_tensor_like(part)) {
    const Tensor tensor = tensor_of(part);
    const TensorSpec spec{tensor.dtype(), tensor.shape().slice(1, tensor.rank())};
    const auto offset = static_cast<size_t>(row * spec.bytes());
    const Tensor view = Tensor::on(tensor.storage(), tensor.offset() + offset, spec);
    return boxed_tensor(view.in_memory() ? view : view.clone());
  }
  if (part.is_list()) return part.as_list()[row];
  std::vector<DictEntry> entries;
  for (const DictEntry& entry : part.as_dict())
    entries.push_back({entry.key, row_of(entry.value, row)});
  return Dict::from(std::move(entries));
}

}  // namespace

bool is_tensor_like(const Value& part) {
  return consists_of(part, is_number_like) || consists_of(part, is_text) ||
         part.object_as<BoxedTensor>() || part.object_as<BoxedVariable>();
}

Tensor tensor_of(const Value& part) {
  if (is_number_like(part)) return scalar_of(part);
  if (consists_of(part, is_text)) {
    std::vector<std::string> texts;
    const Shape shape = collect_texts(part, texts);
    return string_tensor(texts, shape);
  }
  if (auto variable = part.object_as<BoxedVariable>()) return variable->variable.value();
  return Codec<Tensor>::decode(part);
}

Element element_of(const Batch& batch) {
  Element element{part_of(batch.x), part_of(batch.y), part_of(batch.sample_weight)};
  while (element.size() > 1 && element.back().is_null()) element.pop_back();
  return element;
}

Value stacked(const std::vector<Value>& parts, int64_t first_number) {
  const Value& first_part = parts.front();
  for (size_t i = 1; i < parts.size(); ++i)
    if (std::string_view(kind_of(parts[i])) != kind_of(first_part))
      fail("batch: element ", first_number + static_cast<int64_t>(i), " has ", kind_of(parts[i]),
           " where those before it have ", kind_of(first_part));
  if (first_part.is_null()) return {};
  if (is_tensor_like(first_part)) return stacked_tensors(parts, first_number);
  if (first_part.is_list()) return stacked_lists(parts, first_number);
  if (first_part.is_dict()) return stacked_dicts(parts, first_number);
  return List(parts.begin(), parts.end());
}

Element stacked(const std::vector<Element>& elements, int64_t first_number) {
  std::vector<Value> part_values(elements.begin(), elements.end());
  return stacked_lists(part_values, first_number).as_list();
}

int64_t rows_of(const Value& part) {
  if (is_tensor_like(part)) {
    const Tensor tensor = tensor_of(part);
    if (tensor.rank() == 0) fail("a single number has no first axis to go along; expected arrays");
    return tensor.dim(0);
  }
  if (part.is_list()) return static_cast<int64_t>(part.as_list().size());
  if (!part.is_dict() || part.as_dict().empty())
    fail("expected arrays or lists, got ", kind_of(part));
  const DictEntry& first_entry = *part.as_dict().begin();
  const int64_t rows = rows_of(first_entry.value);
  for (const DictEntry& entry : part.as_dict())
    if (rows_of(entry.value) != rows)
      fail("expected parts of the same length, got ", rows, " rows of '", first_entry.key, "' and ",
           rows_of(entry.value), " of '", entry.key, "'");
  return rows;
}

int64_t rows_of(const Element& parts) {
  const int64_t rows = rows_of(parts.at(0));
  for (const Value& part : parts)
    if (!part.is_null() && rows_of(part) != rows)
      fail("expected parts of the same length, got ", rows, " and ", rows_of(part), " rows");
  return rows;
}

Element row_of(const Element& parts, int64_t row) {
  Element element;
  for (const Value& part : parts) element.push_back(part.is_null() ? Value() : row_of(part, row));
  return element;
}

namespace {

Tensor rows_at(const Tensor& array, std::span<const int64_t> row_indices,
               const RowRange& rows_to_read) {
  TensorSpec spec = array.spec();
  spec.shape.set(0, static_cast<int64_t>(row_indices.size()));
  Tensor result(spec);
  const size_t row_size = row_bytes(array),
               end = static_cast<size_t>(rows_to_read.first + rows_to_read.count);
  auto* target_bytes = static_cast<std::byte*>(result.mutable_raw());
  for (size_t run_begin = static_cast<size_t>(rows_to_read.first); run_begin < end;) {
    check_element_interruption();
    size_t run_end = run_begin + 1;
    while (run_end < end && row_indices[run_end] == row_indices[run_end - 1] + 1) ++run_end;
    array.storage()->read(array.offset() + static_cast<size_t>(row_indices[run_begin]) * row_size,
                          (run_end - run_begin) * row_size, target_bytes + run_begin * row_size);
    run_begin = run_end;
  }
  return result;
}

}  // namespace

Value rows_at(const Value& part, std::span<const int64_t> row_indices,
              const RowRange& rows_to_read) {
  if (part.is_null()) return {};
  if (is_tensor_like(part)) {
    const Tensor array = tensor_of(part);
    if (array.dtype() != DType::string)
      return boxed_tensor(rows_at(array, row_indices, rows_to_read));
  } else if (part.is_dict()) {
    std::vector<DictEntry> entries;
    for (const DictEntry& entry : part.as_dict())
      entries.push_back({entry.key, rows_at(entry.value, row_indices, rows_to_read)});
    return Dict::from(std::move(entries));
  }
  std::vector<Value> row_values;
  for (const int64_t row : row_indices) row_values.push_back(row_of(part, row));
  return stacked(row_values, 1);
}

Tensors tensors_of(const Value& part, const std::vector<std::string>& names) {
  if (part.is_null()) return {};
  if (is_tensor_like(part)) return {tensor_of(part)};
  Tensors tensors;
  if (is_deep(part, is_tensor_like)) {
    for (const Value& leaf : leaves_by_name(part, is_tensor_like, names))
      tensors.push_back(tensor_of(leaf));
    return tensors;
  }
  if (part.is_dict()) {
    const Dict& dict = part.as_dict();
    for (const std::string& name : names) {
      if (!dict.contains(name))
        fail("No data provided for \"", name, "\". Need data for each key in: ", join(names));
      tensors.push_back(tensor_of(dict.at(name)));
    }
    for (const DictEntry& entry : dict) {
      if (names.empty()) tensors.push_back(tensor_of(entry.value));
      const bool is_expected = std::find(names.begin(), names.end(), entry.key) != names.end();
      if (!names.empty() && !is_expected)
        fail("no data is expected for '", entry.key, "'", did_you_mean(entry.key, names),
             "; expected ", join(names));
    }
    return tensors;
  }
  if (!part.is_list()) fail("expected tensors for a model, got ", kind_of(part));
  for (const Value& item : part.as_list()) {
    if (!is_tensor_like(item))
      fail("expected tensors for a model, got a list with ", kind_of(item));
    tensors.push_back(tensor_of(item));
  }
  return tensors;
}

namespace {

/// Whether this is the first call of the process with this text.
bool is_first(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> texts;
  const std::lock_guard lock(mutex);
  return texts.insert(text).second;
}

}  // namespace

Value expected_inputs(const Value& part, const std::vector<std::string>& names) {
  // This test comes first because most batches have no other entries.
  if (!part.is_dict() || part.as_dict().size() <= names.size()) return part;
  if (is_deep(part, is_tensor_like) || names.empty()) return part;
  Dict inputs;
  for (const std::string& name : names) {
    const Value* input = part.as_dict().find(name);
    if (!input) return part;
    inputs.set(name, *input);
  }
  for (const std::string& name : part.as_dict().keys())
    if (!inputs.contains(name) && is_first(concat(name, " ", join(names))))
      warn("The structure of `inputs` doesn't match the expected structure. Expected: ",
           join(names), "; not read: ", name);
  return inputs;
}

}  // namespace crescent
