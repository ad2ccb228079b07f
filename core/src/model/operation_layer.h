// OperationLayer: the layer that represents a call of a function of cr.ops on symbols in a graph.
#pragma once
#include "crescent/layer/layer.h"
#include "crescent/layer/operation.h"

namespace crescent {

/// The layer stores the arguments of the call; {"input": i} stands for the input i of the layer.
class OperationLayer final : public Layer {
 public:
  static void describe(Schema<OperationLayer>& s);
  /// Makes the layer for a call; the boxed symbols in `arguments` become its inputs.
  static std::shared_ptr<Layer> make(const Operation& operation, const Dict& arguments,
                                     std::vector<Symbol>& inputs);
  OperationLayer();
  void configured() override;
  InputCount input_count() const override { return {input_count_, input_count_}; }
  const Operation& operation() const { return *operation_; }
  /// The layer accepts masks but gives none to its outputs, as in Keras.
  bool supports_masking() const override { return true; }
  Tensors compute_mask(const Tensors&, const Tensors&, const Tensors&) override { return {}; }
  bool computes_with_sizes() const override { return true; }
  Tensors call(const Tensors& inputs, const Call&) override;

 private:
  std::string name_of_operation_;
  Dict arguments_;
  Dict prepared_arguments_;  ///< arguments_ with constants as tensors
  std::shared_ptr<Operation> operation_;
  size_t input_count_ = 0;
};

}  // namespace crescent
