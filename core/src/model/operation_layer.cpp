#include "model/operation_layer.h"

#include "base/text.h"
#include "crescent/base/mapped.h"
#include "crescent/tensor/variable.h"
#include "model/constants.h"

namespace crescent {
namespace {

constexpr const char* kInput = "input";

/// Returns i if the value is {"input": i}, which stands for an input of the layer, else nullopt.
std::optional<size_t> input_index_in(const Value& value) {
  if (!value.is_dict() || value.as_dict().size() != 1) return std::nullopt;
  const Value* index_value = value.as_dict().find(kInput);
  if (!index_value || !index_value->is_int() || index_value->as_int() < 0) return std::nullopt;
  return static_cast<size_t>(index_value->as_int());
}

void add_tensors(const Value& value, Tensors& tensors) {
  if (value.is_list())
    for (const Value& item : value.as_list()) add_tensors(item, tensors);
  else if (auto boxed = value.object_as<BoxedTensor>())
    tensors.push_back(boxed->tensor);
}

}  // namespace

void OperationLayer::describe(Schema<OperationLayer>& s) {
  s.doc(
       "A function of cr.ops as a layer of a graph, which calling the function on symbols creates.")
      .field("operation", &OperationLayer::name_of_operation_, "Name of the function.")
      .required()
      .field("arguments", &OperationLayer::arguments_,
             "Arguments by name; {input = 0} stands for the first input.");
}

OperationLayer::OperationLayer() { autocast_ = false; }

std::shared_ptr<Layer> OperationLayer::make(const Operation& operation, const Dict& arguments,
                                            std::vector<Symbol>& inputs) {
  const Value stored_arguments = mapped(arguments, [&](const Value& value) -> std::optional<Value> {
    if (auto boxed = value.object_as<BoxedSymbol>()) {
      inputs.push_back(boxed->symbol);
      return Dict{{kInput, inputs.size() - 1}};
    }
    if (value.object_as<BoxedVariable>())
      fail(operation.name(),
           ": a variable beside symbols would not be trained or saved: make a layer that has it");
    if (auto boxed = value.object_as<BoxedTensor>()) return encode_constant(boxed->tensor);
    return std::nullopt;
  });
  return crescent::make<Layer>("OperationLayer",
                               {{"operation", operation.name()}, {"arguments", stored_arguments}});
}

void OperationLayer::configured() {
  operation_ = get<Operation>(Value(name_of_operation_));
  if (name_.empty()) name_ = unique_name(snake_case(operation_->schema().keras_class));
  input_count_ = 0;
  prepared_arguments_ = mapped(arguments_, [&](const Value& value) {
                          if (auto index = input_index_in(value))
                            input_count_ = std::max(input_count_, *index + 1);
                          return decode_constant(value);
                        }).as_dict();
  Layer::configured();
}

Tensors OperationLayer::call(const Tensors& inputs, const Call&) {
  const Value arguments =
      mapped(prepared_arguments_, [&](const Value& value) -> std::optional<Value> {
        if (auto index = input_index_in(value)) return Codec<Tensor>::encode(inputs.at(*index));
        return std::nullopt;
      });
  Tensors outputs;
  add_tensors((*operation_)(arguments.as_dict()), outputs);
  return outputs;
}

}  // namespace crescent
