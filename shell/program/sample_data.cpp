#include "sample_data.h"

#include <algorithm>
#include <cmath>

#include "crescent/ops/ops.h"

namespace crescent::program {
namespace {

constexpr int64_t kRows = 8;

/// The number of rows of the Embedding layer that reads this input; 0 if no Embedding layer reads
/// it.
int64_t vocabulary_size_of(const Model& model, const Symbol& input) {
  for (const LayerPtr& layer : model.operations()) {
    const Dict config = layer->get_config();
    const Value* rows = config.find("input_dim");
    if (layer->class_name() != "Embedding" || !rows) continue;
    for (const NodePtr& node : layer->inbound_nodes())
      for (const Symbol& source : node->inputs)
        if (source == input) return rows->as_int();
  }
  return 0;
}

/// Pseudo-random numbers of this dtype: integers from 0 to `upper_limit` - 1, or numbers from -1 to
/// 1 if `upper_limit` is 0. An unknown batch size becomes kRows, other unknown dimensions become 7.
Tensor numbers_for(const Shape& shape, DType dtype, int64_t upper_limit) {
  std::vector<int64_t> dims(shape.begin(), shape.end());
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] < 0) dims[i] = i == 0 ? kRows : 7;
  const Shape full_shape(dims);
  std::vector<double> values(full_shape.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const double fraction = std::fmod(static_cast<double>(i + 1) * 0.6180339887498949, 1.0);
    values[i] = upper_limit > 0 ? std::floor(fraction * static_cast<double>(upper_limit))
                                : 2 * fraction - 1;
  }
  return ops::cast(Tensor::from(values, full_shape), dtype);
}

Tensor target_for(const Tensor& output, bool is_class_number) {
  return is_class_number ? numbers_for(output.shape().slice(0, -1), DType::int32, output.dim(-1))
                         : ops::abs(output) * 0.5;
}

}  // namespace

Tensors inputs_for(const Model& model) {
  Tensors inputs;
  for (const Symbol& input : model.inputs()) {
    const int64_t vocabulary_size = vocabulary_size_of(model, input);
    const bool is_integer = input.dtype() == DType::int32 || input.dtype() == DType::int64 ||
                            input.dtype() == DType::uint8;
    inputs.push_back(numbers_for(input.shape(), input.dtype(),
                                 vocabulary_size > 0 ? vocabulary_size
                                 : is_integer        ? 2
                                                     : 0));
  }
  return inputs;
}

Tensors targets_for(Model& model, const Tensors& x) {
  const Tensors outputs = model.predict(x);
  const size_t choice_count = size_t{1} << std::min<size_t>(outputs.size(), 6);
  Tensors targets(outputs.size());
  // The bits of `choice` choose the kind of target for each output.
  for (size_t choice = 0; choice < choice_count; ++choice) {
    for (size_t i = 0; i < outputs.size(); ++i)
      targets[i] = target_for(outputs[i], choice >> std::min<size_t>(i, 5) & 1);
    try {
      model.test_on_batch(x, targets);
      break;
    } catch (const Error&) {
      // The losses do not accept these targets. If they accept no targets, the first training step
      // reports the error.
    }
  }
  return targets;
}

}  // namespace crescent::program
