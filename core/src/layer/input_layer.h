// InputLayer: the layer that a graph begins with, the only layer class in core.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

class InputLayer final : public Layer {
 public:
  static void describe(Schema<InputLayer>& s);
  InputLayer();
  void configured() override;
  Tensors call(const Tensors& inputs, const Call&) override { return inputs; }
  bool supports_masking() const override { return true; }
  DType dtype() const { return policy_.compute; }
  Dict get_config() const override;
  /// The output symbol; calls return the same one as long as some copy of it lives.
  Symbol symbol() const;
  /// Whether a model may be called without this input.
  bool optional() const { return optional_; }

 protected:
  std::vector<Symbol> graph_inputs() const override { return {symbol()}; }
  std::vector<Symbol> graph_outputs() const override { return {symbol()}; }

 private:
  std::optional<bool> sparse_, ragged_;  ///< only false is supported
  bool optional_ = false;
  Value input_tensor_;  ///< only null is supported
};

}  // namespace crescent
