#include "data/streams/element_spec.h"

#include <algorithm>

#include "crescent/base/structure.h"
#include "data/array_dataset.h"
#include "data/streams/element.h"

namespace crescent {
namespace {

Value boxed_spec(TensorSpec spec) {
  return Value(std::make_shared<BoxedTensor>(Tensor::abstract(std::move(spec))));
}

/// The part with each tensor replaced by an abstract tensor of the spec f(its spec).
template <class F>
Value with_specs(const Value& part, F f) {
  if (is_tensor_like(part)) return boxed_spec(f(tensor_of(part).spec()));
  if (part.is_list()) {
    List list;
    for (const Value& item : part.as_list()) list.push_back(with_specs(item, f));
    return list;
  }
  if (!part.is_dict()) return part;
  std::vector<DictEntry> entries;
  for (const auto& [name, item] : part.as_dict()) entries.push_back({name, with_specs(item, f)});
  return Dict::from(std::move(entries));
}

template <class F>
Element with_specs(const Element& element, F f) {
  Element result;
  for (const Value& part : element) result.push_back(with_specs(part, f));
  return result;
}

/// The spec that fits both parts, with -1 for sizes that differ; nullopt if structure, dtypes or
/// ranks differ.
std::optional<Value> common_value(const Value& a, const Value& b);

std::optional<Value> common_tensor(const TensorSpec& a, const TensorSpec& b) {
  if (a.dtype != b.dtype || a.shape.rank() != b.shape.rank()) return std::nullopt;
  Shape shape = a.shape;
  for (int i = 0; i < shape.rank(); ++i)
    if (a.shape[i] != b.shape[i]) shape.set(i, -1);
  return boxed_spec({a.dtype, shape});
}

std::optional<List> common_list(const List& a, const List& b) {
  if (a.size() != b.size()) return std::nullopt;
  List list;
  for (size_t i = 0; i < a.size(); ++i) {
    std::optional<Value> common_item = common_value(a[i], b[i]);
    if (!common_item) return std::nullopt;
    list.push_back(std::move(*common_item));
  }
  return list;
}

std::optional<Value> common_dict(const Dict& a, const Dict& b) {
  if (a.size() != b.size()) return std::nullopt;
  std::vector<DictEntry> entries;
  for (const auto& [name, item] : a) {
    const Value* other_value = b.find(name);
    std::optional<Value> common_item =
        other_value ? common_value(item, *other_value) : std::nullopt;
    if (!common_item) return std::nullopt;
    entries.push_back({name, std::move(*common_item)});
  }
  return Value(Dict::from(std::move(entries)));
}

std::optional<Value> common_value(const Value& a, const Value& b) {
  if (is_tensor_like(a) && is_tensor_like(b))
    return common_tensor(tensor_of(a).spec(), tensor_of(b).spec());
  if (is_tensor_like(a) || is_tensor_like(b)) return std::nullopt;
  if (a.is_list() && b.is_list()) return common_list(a.as_list(), b.as_list());
  if (a.is_dict() && b.is_dict()) return common_dict(a.as_dict(), b.as_dict());
  return a.is_null() && b.is_null() ? std::optional(a) : std::nullopt;
}

std::string text_of_part(const Value& part) {
  if (is_tensor_like(part)) {
    const TensorSpec& spec = tensor_of(part).spec();
    return spec.shape.rank() == 0 ? to_text(spec.dtype) : concat(spec);
  }
  if (part.is_null()) return "null";
  std::vector<std::string> items;
  if (part.is_list())
    for (const Value& item : part.as_list()) items.push_back(text_of_part(item));
  if (part.is_dict())
    for (const auto& [name, item] : part.as_dict())
      items.push_back(concat(name, " = ", text_of_part(item)));
  return part.is_object() ? "an object" : concat("{ ", join(items), " }");
}

}  // namespace

Element element_spec(const Dataset& data) {
  const auto* specified_dataset = dynamic_cast<const SpecifiedDataset*>(&data);
  if (specified_dataset) return specified_dataset->element_spec();
  const Batch batch = batch_spec(data);
  return batch.x.empty() ? Element{} : element_of(batch);
}

Element spec_of(const Element& element) {
  return with_specs(element, [](const TensorSpec& spec) { return spec; });
}

Element common_spec(const Element& a, const Element& b) {
  return common_list(a, b).value_or(Element{});
}

Element batch_spec(const Element& row, int64_t size) {
  return with_specs(row, [size](const TensorSpec& spec) {
    return TensorSpec{spec.dtype, Shape{size}.concat(spec.shape)};
  });
}

Element row_spec(const Element& batch) {
  bool has_rows = true;
  const Element rows = with_specs(batch, [&](const TensorSpec& spec) {
    has_rows = has_rows && spec.shape.rank() > 0;
    return TensorSpec{spec.dtype, has_rows ? spec.shape.slice(1, spec.shape.rank()) : spec.shape};
  });
  return has_rows ? rows : Element{};
}

std::string to_text(const Element& spec) {
  std::vector<std::string> parts;
  for (const Value& part : spec) parts.push_back(text_of_part(part));
  return parts.size() == 1 ? parts.front() : concat("(", join(parts), ")");
}

}  // namespace crescent
