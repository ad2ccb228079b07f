// Layers that change a random selection of images.
#pragma once
#include "augmentation.h"
#include "ranges.h"

namespace crescent {

/// The base of layers that change each image with a probability, which is drawn from the range
/// `factor`.
class ChanceAugmentation : public ImageAugmentation {
 public:
  void configured() override {
    ImageAugmentation::configured();
    chance_range_ = range_of("factor", factor_, {0, 1});
  }

 protected:
  template <class T>
  static void describe_chance(Schema<T>& s) {
    s.field("factor", &ChanceAugmentation::factor_,
            "Limits between which the probability of changing an image is drawn: two numbers, or "
            "one number f for 0 to f.");
  }
  bool never_changes() const { return chance_range_.high == 0; }
  /// Whether each image is changed: (batch, 1, 1, 1).
  Tensor draw_choice(const TensorSpec& images, const SeedGenerator& random) const {
    const Shape shape{images.shape[0], 1, 1, 1};
    const Tensor chance = chance_range_.draw(random, shape, DType::float32);
    return ops::less(random.uniform(shape), chance);
  }

 private:
  Value factor_ = 1.0;
  Range chance_range_;
};

}  // namespace crescent
