// InputLayer: the layer with which a graph begins. It is the only layer class that core defines.
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
  /// Returns the output symbol. Later calls of this function return the same symbol as long as a
  /// copy of it exists.
  Symbol symbol() const;
  /// Whether a model may be called without this input.
  bool optional() const { return optional_; }

 protected:
  std::vector<Symbol> graph_inputs() const override { return {symbol()}; }
  std::vector<Symbol> graph_outputs() const override { return {symbol()}; }

 private:
  std::optional<bool> sparse_, ragged_;  ///< options of Keras; other values than false are refused
  bool optional_ = false;
  Value input_tensor_;  ///< option of Keras; other values than null are refused
};

}  // namespace crescent
