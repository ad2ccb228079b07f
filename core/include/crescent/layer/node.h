// Symbol and Node: the graph of layers. A Symbol is an edge (dtype, shape, mask and origin, never
// values); calling a layer on symbols makes a Node. A symbol owns its node, and a node its layer
// and input symbols; a layer refers to its nodes by weak pointers, so there are no cycles.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crescent/base/value.h"
#include "crescent/tensor/tensor.h"

namespace crescent {

class Layer;
class Node;
using NodePtr = std::shared_ptr<const Node>;  ///< a node is constant once its call has returned

class CRESCENT_API Symbol {
 public:
  Symbol() = default;
  Symbol(NodePtr node, int tensor_index) : node_(std::move(node)), tensor_index_(tensor_index) {}
  explicit operator bool() const { return node_ != nullptr; }
  const TensorSpec& spec() const;
  const Shape& shape() const { return spec().shape; }
  DType dtype() const { return spec().dtype; }
  // layer(), node_index() and tensor_index() are Keras' history of a symbol: the layer, which of
  // its calls made the symbol, and which output of this call it is. Both indices count from 0.
  const std::shared_ptr<Layer>& layer() const;
  int node_index() const;
  int tensor_index() const { return tensor_index_; }
  const NodePtr& node() const { return node_; }
  std::string name() const;  ///< for messages, such as "dense_1/output_0"
  /// The abstract tensor (with mask) that represents this symbol in shape inference.
  const Tensor& abstract() const;
  bool operator==(const Symbol& other) const {
    return node_ == other.node_ && tensor_index_ == other.tensor_index_;
  }

 private:
  NodePtr node_;
  int tensor_index_ = 0;
};
/// Returns "<Symbol shape=(None, 3) dtype=float32 (created by layer 'dense_1')>".
CRESCENT_API std::string to_text(const Symbol& symbol);

/// A Symbol inside a Value: an argument of a call.
class CRESCENT_API BoxedSymbol final : public Object {
 public:
  explicit BoxedSymbol(Symbol s) : symbol(std::move(s)) {}
  ~BoxedSymbol() override;
  std::string class_name() const override { return "Symbol"; }
  Symbol symbol;
};

/// One call of a layer on symbols.
class CRESCENT_API Node {
 public:
  std::shared_ptr<Layer> outbound_layer;  ///< the layer that was called
  std::vector<Symbol> inputs;    ///< the inputs of the call, then symbols passed as arguments
  size_t argument_inputs = 0;    ///< how many of `inputs` were passed as arguments
  std::vector<Tensor> outputs;   ///< abstract tensors with masks
  std::optional<bool> training;  ///< set if the caller passed `training`
  Dict arguments;                ///< other keyword arguments; symbols are boxed
  Value structure;               ///< how the inputs of the call are nested (structure.h)
  Value output_structure;        ///< how the outputs of the call are nested

  int index() const { return index_; }  ///< position in inbound_nodes() of the layer
  /// The symbols of the outputs; `self` points to this node.
  std::vector<Symbol> output_symbols(const NodePtr& self) const;
  // For each input: its layer(), node_index() and tensor_index().
  std::vector<std::shared_ptr<Layer>> inbound_layers() const;
  std::vector<int> node_indices() const;
  std::vector<int> tensor_indices() const;
  /// The configuration of Keras 2, {"outbound_layer", "inbound_layers", "node_indices",
  /// "tensor_indices"}, which refers to layers by name.
  Dict get_config() const;

 private:
  friend struct LayerAccess;
  mutable int index_ = 0;
};

struct InputOptions {
  std::optional<Shape> shape = {};        ///< without batch axis
  std::optional<Shape> batch_shape = {};  ///< with batch axis
  std::optional<int64_t> batch_size = {};
  std::string name = {};
  DType dtype = DType::float32;
  bool optional = false;  ///< whether the model may be called without this input
};
/// Creates an InputLayer and returns its output, an input of a graph. Fails with the message of
/// Keras if neither shape nor batch_shape is set.
CRESCENT_API Symbol Input(const InputOptions& options);
CRESCENT_API Symbol Input(const Shape& shape, std::string name = "");

}  // namespace crescent
