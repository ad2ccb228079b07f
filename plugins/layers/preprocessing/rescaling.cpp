#include "../../numbers.h"
#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

/// Replaces a tensor in the value by nested lists of its numbers.
Value with_numbers(const Value& value, const char* option) {
  const Numbers numbers = numbers_in(value, option);
  if (value.is_number()) return value;
  if (!value.is_list()) return value_of(numbers);
  List items;
  for (const Value& item : value.as_list()) items.push_back(with_numbers(item, option));
  return items;
}

class Rescaling final : public UnaryLayer {
 public:
  static void describe(Schema<Rescaling>& s) {
    s.doc("x * scale + offset; integers are converted to floating point.")
        .field("scale", &Rescaling::scale_, "A number, or one for each feature.")
        .required()
        .field("offset", &Rescaling::offset_, "A number, or one for each feature.");
  }
  void configured() override {
    UnaryLayer::configured();
    scale_ = with_numbers(scale_, "scale");
    offset_ = with_numbers(offset_, "offset");
    set_supports_masking(true);
  }
  Tensor call(const Tensor& x, const Call&) override {
    const Tensor values = ops::cast(x, compute_dtype());
    return ops::add(ops::multiply(values, operand(scale_)), operand(offset_));
  }

 private:
  ops::Operand operand(const Value& value) const {
    if (value.is_number()) return value.as_float();
    return numbers_in(value, "numbers").tensor(compute_dtype());
  }

  Value scale_, offset_ = 0.0;
};

}  // namespace

CRESCENT_REGISTER(rescaling) { registry.add<Rescaling>("Rescaling"); }

}  // namespace crescent
