#include "numbers.h"
#include "preprocessing_layers.h"

namespace crescent {
namespace {

class Rescaling final : public UnaryLayer {
 public:
  static void describe(Schema<Rescaling>& s) {
    s.doc("x * scale + offset, of integers too.")
        .field("scale", &Rescaling::scale_, "A number, or one for each feature.")
        .required()
        .field("offset", &Rescaling::offset_, "A number, or one for each feature.");
  }
  void configured() override {
    UnaryLayer::configured();
    scale_ = value_of(numbers_in(scale_, "scale"));
    offset_ = value_of(numbers_in(offset_, "offset"));
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

void add_rescaling(Registry& registry) { registry.add<Rescaling>("Rescaling"); }

}  // namespace crescent
