// Numbers and lists of them as tensors.
#include "crescent/tensor.h"

namespace crescent {
namespace {

/// The shape of nested lists: what their first items have.
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

struct Numbers {
  std::vector<double> values;
  bool all_boolean = true;

  void read(const Value& value, const Shape& shape, int axis) {
    if (axis == shape.rank()) return read_number(value);
    if (!value.is_list())
      fail("expected a list of ", shape[axis], " at depth ", axis + 1, ", got ", value);
    const auto length = static_cast<int64_t>(value.as_list().size());
    if (length != shape[axis])
      fail("rows differ in length: expected ", shape[axis], ", got ", length);
    for (const Value& item : value.as_list()) read(item, shape, axis + 1);
  }
  void read_number(const Value& value) {
    if (!value.is_bool() && !value.is_number()) fail("expected a number, got ", value);
    all_boolean = all_boolean && value.is_bool();
    values.push_back(value.is_bool() ? value.as_bool() : value.as_float());
  }
  Tensor tensor(const Shape& shape) const {
    if (all_boolean && !values.empty()) {
      const std::vector<uint8_t> bytes(values.begin(), values.end());
      return Tensor::from_bytes(bytes.data(), bytes.size(), {DType::boolean, shape});
    }
    return Tensor::from(std::vector<float>(values.begin(), values.end()), shape);
  }
};

}  // namespace

Tensor Codec<Tensor>::decode(const Value& value) {
  if (value.is_null()) return {};
  if (auto boxed = value.object_as<BoxedTensor>()) return boxed->tensor;
  if (!value.is_number() && !value.is_bool() && !value.is_list())
    fail("expected ", type(), ", got ", value);
  const Shape shape = shape_of(value);
  Numbers numbers;
  numbers.read(value, shape, 0);
  return numbers.tensor(shape);
}

Value Codec<Tensor>::encode(const Tensor& member) {
  return member ? Value(std::make_shared<BoxedTensor>(member)) : Value();
}

std::string Codec<Tensor>::type() { return "a tensor"; }

}  // namespace crescent
