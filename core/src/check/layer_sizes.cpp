// Checks of a layer with many samples, and with samples that are larger than usual.
#include "check/applied_ops.h"
#include "check/checked_layer.h"
#include "crescent/model/model.h"
#include "crescent/program/program.h"

namespace crescent::check {

constexpr int64_t kManySamples = 257;

bool is_model(const Layer& layer) { return dynamic_cast<const Model*>(&layer); }

std::vector<SizedLayer> sized_layers(const CheckedLayer& checked) {
  std::vector<SizedLayer> sized{{checked.make_built(), checked.inputs()}};
  const auto add = [&](SizedLayer larger) {
    if (are_small((*larger.layer)(larger.inputs))) sized.push_back(std::move(larger));
  };
  if (checked.takes_any_batch()) add({checked.make_built(), checked.inputs(kManySamples)});
  const CheckedLayer larger = checked.with_larger_samples();
  try {
    add({larger.make_built(), larger.inputs()});
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {  // the options may fix the shape of samples
  }
  return sized;
}

std::string check_samples_apart(const CheckedLayer& checked) {
  if (!checked.takes_any_batch()) skip("the layer takes batches of ", checked.batch(), " only");
  const LayerPtr layer = checked.make_built(), other_layer = checked.make();
  const Tensors inputs = checked.inputs(kManySamples);
  (*other_layer)(inputs);
  const Variables weights = layer->weights(), other_weights = other_layer->weights();
  expect(weights.size() == other_weights.size(), "the layer has ", weights.size(),
         " weights if it is built for ", checked.batch(), " samples, ", other_weights.size(),
         " for ", kManySamples);
  for (size_t i = 0; i < weights.size(); ++i)
    expect(weights[i].shape() == other_weights[i].shape(), "weight '", weights[i].path(),
           "' has shape ", weights[i].shape(), " if the layer is built for ", checked.batch(),
           " samples, ", other_weights[i].shape(), " for ", kManySamples);
  const LayerCaller call_layer(*layer, false);
  const Tensors batch_outputs = call_layer(inputs);
  for (const int64_t first : {int64_t{0}, kManySamples / 2, kManySamples - 3}) {
    const auto three_rows = [&](const Tensors& tensors) {
      Tensors rows;
      for (const Tensor& t : tensors) rows.push_back(t.view_rows(first, 3));
      return rows;
    };
    for (const Tensor& y : batch_outputs)
      if (y.rank() == 0 || y.dim(0) != kManySamples)
        skip("an output has no row for each sample, but shape ", y.shape());
    expect_near(three_rows(batch_outputs), call_layer(three_rows(inputs)), 1e-4,
                concat("samples ", first + 1, " to ", first + 3, " of ", kManySamples,
                       ", beside the same samples alone"));
  }
  return "what it gives for a sample does not depend on the others of the batch";
}

namespace {

/// Expects that the layer gives nearly the same outputs, and gradients with respect to inputs and
/// weights, as the same layer in float64.
void expect_as_in_float64(const CheckedLayer& checked, const SizedLayer& sized) {
  const LayerPtr float64_layer = checked.make("float64");
  const Tensors inputs64 = with_float_dtype(sized.inputs, DType::float64);
  (*float64_layer)(inputs64);
  float64_layer->set_weights(sized.layer->get_weights());
  const LayerCaller call_layer(*sized.layer, false), call_exact_layer(*float64_layer, false);
  const auto gradient_function = [](const LayerCaller& f, const Layer& layer) {
    return with_gradients([&f](const Tensors& x) { return f(x); }, layer.trainable_weights());
  };
  const TensorFunction f = gradient_function(call_layer, *sized.layer);
  const std::string inputs_text = "of " + specs_text(sized.inputs);
  expect_near(call_layer(sized.inputs), call_exact_layer(inputs64), 1e-4,
              inputs_text + ", float32 beside float64");
  const Tensors actual = f(sized.inputs);
  expect_near(actual, gradient_function(call_exact_layer, *float64_layer)(inputs64), 1e-3,
              inputs_text + ", with gradients, float32 beside float64");
  expect_near(Function(f)(sized.inputs), actual, 1e-3,
              inputs_text + ", with gradients, compiled beside op by op");
}

}  // namespace

std::string check_larger_sizes(const CheckedLayer& checked) {
  if (is_model(*checked.make())) skip("the layers of a model have dtypes of their own");
  std::vector<std::string> texts;
  for (const SizedLayer& sized : sized_layers(checked)) {
    expect_as_in_float64(checked, sized);
    texts.push_back(specs_text(sized.inputs));
  }
  return join(texts, "; ") + " give what they give in float64";
}

}  // namespace crescent::check
