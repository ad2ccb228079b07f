// Decodes numbers, strings and nested lists of them as tensors.
#include "crescent/tensor/strings.h"

namespace crescent {
namespace {

/// The shape of nested lists, determined by the first item of each list.
Shape shape_of(const Value& value) {
  Shape shape;
  for (const Value* item = &value; item->is_list(); item = &item->as_list().front()) {
    if (shape.rank() == Shape::kMaxRank)
      fail("expected lists nested at most ", Shape::kMaxRank, " deep");
    shape.append(static_cast<int64_t>(item->as_list().size()));
    if (item->as_list().empty()) break;
  }
  return shape;
}

/// Collects the numbers or strings in nested lists of this shape in `items`.
void collect_items(const Value& value, const Shape& shape, int axis,
                   std::vector<const Value*>& items) {
  if (axis == shape.rank()) return items.push_back(&value);
  if (!value.is_list())
    fail("expected a list of ", shape[axis], " at depth ", axis + 1, ", got ", value);
  const auto length = static_cast<int64_t>(value.as_list().size());
  if (length != shape[axis])
    fail("rows differ in length: expected ", shape[axis], ", got ", length);
  for (const Value& item : value.as_list()) collect_items(item, shape, axis + 1, items);
}

Tensor tensor_of_strings(std::span<const Value* const> items, const Shape& shape) {
  std::vector<std::string> texts;
  for (const Value* item : items) texts.push_back(item->as_string());
  return string_tensor(texts, shape);
}

Tensor tensor_of_numbers(std::span<const Value* const> items, const Shape& shape) {
  std::vector<float> values;
  bool all_boolean = !items.empty();
  for (const Value* item : items) {
    if (!item->is_bool() && !item->is_number()) fail("expected a number, got ", *item);
    all_boolean = all_boolean && item->is_bool();
    values.push_back(item->is_bool() ? item->as_bool() : static_cast<float>(item->as_float()));
  }
  if (!all_boolean) return Tensor::from(values, shape);
  const std::vector<uint8_t> bytes(values.begin(), values.end());
  return Tensor::from_bytes(bytes.data(), bytes.size(), {DType::boolean, shape});
}

}  // namespace

Tensor Codec<Tensor>::decode(const Value& value) {
  if (value.is_null()) return {};
  if (auto boxed = value.object_as<BoxedTensor>()) return boxed->tensor;
  if (!value.is_number() && !value.is_bool() && !value.is_list())
    fail("expected ", type(), ", got ", value);
  const Shape shape = shape_of(value);
  std::vector<const Value*> items;
  collect_items(value, shape, 0, items);
  const bool has_texts = !items.empty() && items.front()->is_string();
  return has_texts ? tensor_of_strings(items, shape) : tensor_of_numbers(items, shape);
}

Value Codec<Tensor>::encode(const Tensor& member) {
  return member ? Value(std::make_shared<BoxedTensor>(member)) : Value();
}

std::string Codec<Tensor>::type() { return "a tensor"; }

}  // namespace crescent
