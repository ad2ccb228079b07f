// What the layers of this plugin share, and its files; each adds its classes.
#pragma once
#include "crescent/layer.h"

namespace crescent {

/// A layer whose weights Keras can store with fewer bits.
class QuantizedByKeras : public UnaryLayer {
 public:
  void configured() override {
    UnaryLayer::configured();
    if (!quantization_.is_null())
      fail(
          "quantization_config: weights of fewer bits are not supported; dtype \"mixed_bfloat16\" "
          "computes with 16");
  }

 protected:
  template <class T>
  static void describe_quantization(Schema<T>& s) {
    s.field("quantization_config", &QuantizedByKeras::quantization_,
            "null: weights of fewer bits are not supported.")
        .not_stored();
  }

 private:
  Value quantization_;
};

void add_dense(Registry& registry);
void add_embedding(Registry& registry);
void add_einsum_dense(Registry& registry);
void add_reversible_embedding(Registry& registry);
void add_simple_layers(Registry& registry);
}  // namespace crescent
