#include <algorithm>

#include "crescent/tensor/tensor.h"

namespace crescent {

Shape::Shape(std::span<const int64_t> dims) {
  if (dims.size() > kMaxRank) fail("a shape has at most ", kMaxRank, " axes, got ", dims.size());
  for (int64_t dim : dims) append(dim);
}

int64_t Shape::operator[](int i) const { return dims_[axis(i)]; }

void Shape::set(int i, int64_t dim) {
  if (dim < -1) fail("a dimension cannot be ", dim);
  dims_[axis(i)] = dim;
}

bool Shape::is_known() const {
  return std::none_of(begin(), end(), [](int64_t dim) { return dim < 0; });
}

int64_t Shape::size() const {
  int64_t size = 1;
  for (int64_t dim : *this) {
    if (dim < 0) fail("the size of shape ", *this, " is not known");
    if (__builtin_mul_overflow(size, dim, &size)) fail("shape ", *this, " has too many elements");
  }
  return size;
}

int Shape::axis(int i) const {
  const int axis = i < 0 ? i + rank_ : i;
  if (axis < 0 || axis >= rank_) fail("axis ", i, " is out of range for shape ", *this);
  return axis;
}

void Shape::append(int64_t dim) {
  if (rank_ == kMaxRank)
    fail("a shape has at most ", kMaxRank, " axes, got one more after ", *this);
  if (dim < -1) fail("a dimension cannot be ", dim);
  dims_[rank_++] = dim;
}

Shape Shape::slice(int first, int last) const {
  auto position = [&](int i) { return std::clamp(i < 0 ? i + rank_ : i, 0, rank_); };
  const int begin_axis = position(first), end_axis = std::max(begin_axis, position(last));
  return Shape(std::span<const int64_t>(begin() + begin_axis, begin() + end_axis));
}

Shape Shape::concat(const Shape& other) const {
  Shape result = *this;
  for (int64_t dim : other) result.append(dim);
  return result;
}

bool Shape::operator==(const Shape& other) const {
  return std::equal(begin(), end(), other.begin(), other.end());
}

bool Shape::compatible(const Shape& other) const {
  return std::equal(begin(), end(), other.begin(), other.end(),
                    [](int64_t a, int64_t b) { return a == b || a < 0 || b < 0; });
}

std::string to_text(const Shape& shape) {
  std::string text = "(";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) text += ", ";
    text += shape[i] < 0 ? "None" : std::to_string(shape[i]);
  }
  return text + (shape.rank() == 1 ? ",)" : ")");
}

int64_t TensorSpec::bytes() const {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(shape.size(), size_of(dtype), &bytes))
    fail("shape ", shape, " has too many elements");
  return bytes;
}

std::string to_text(const TensorSpec& spec) { return name_of(spec.dtype) + to_text(spec.shape); }

Shape broadcast_shapes(const Shape& a, const Shape& b, std::string_view what) {
  const int rank = std::max(a.rank(), b.rank());
  auto dim_of = [&](const Shape& s, int i) {
    return i < rank - s.rank() ? 1 : s.begin()[i - (rank - s.rank())];
  };
  Shape result;
  for (int i = 0; i < rank; ++i) {
    const int64_t x = dim_of(a, i), y = dim_of(b, i);
    if (x == y || y == 1) {
      result.append(x);
    } else if (x == 1) {
      result.append(y);
    } else if (x < 0 || y < 0) {
      result.append(std::max(x, y));
    } else {
      fail(what, ": shapes ", a, " and ", b, " cannot be broadcast: ", x, " and ", y,
           " differ and neither is 1");
    }
  }
  return result;
}

Shape Codec<Shape>::decode(const Value& value) {
  if (value.is_number()) return Shape{value.as_int()};
  if (!value.is_list()) fail("expected ", type(), ", got ", value);
  Shape shape;
  for (const Value& dim : value.as_list()) shape.append(dim.is_null() ? -1 : dim.as_int());
  return shape;
}

Value Codec<Shape>::encode(const Shape& member) {
  List list;
  for (int64_t dim : member) list.push_back(dim < 0 ? Value() : Value(dim));
  return list;
}

std::string Codec<Shape>::type() { return "a list of dimensions"; }

}  // namespace crescent
