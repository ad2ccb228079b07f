// A call of an operation on symbols: the layer that a graph has for it.
#pragma once
#include "crescent/layer/layer.h"
#include "crescent/layer/operation.h"

namespace crescent {

/// Its arguments are as given, with {"input": i} where input i of the call stands.
class OperationLayer final : public Layer {
 public:
  static void describe(Schema<OperationLayer>& s);
  /// For a call whose arguments hold boxed symbols, which become the inputs.
  static std::shared_ptr<Layer> make(const Operation& operation, const Dict& arguments,
                                     std::vector<Symbol>& inputs);
  OperationLayer();
  void configured() override;
  InputCount input_count() const override { return {inputs_, inputs_}; }
  const Operation& operation() const { return *operation_; }
  /// Masks end here, as in Keras.
  bool supports_masking() const override { return true; }
  Tensors compute_mask(const Tensors&, const Tensors&, const Tensors&) override { return {}; }
  Tensors call(const Tensors& inputs, const Call&) override;

 private:
  std::string name_of_operation_;
  Dict arguments_;
  Dict prepared_;  ///< the arguments with constants as tensors
  std::shared_ptr<Operation> operation_;
  size_t inputs_ = 0;
};

}  // namespace crescent
