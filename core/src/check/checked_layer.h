// CheckedLayer: a layer that is being checked. It makes the layer and inputs for it, and repeats
// calls with equal states.
#pragma once
#include "check/results.h"

namespace crescent::check {

class CheckedLayer {
 public:
  CheckedLayer(std::string class_name, Dict options, LayerCheckOptions checks);

  const std::string& class_name() const { return class_name_; }
  const Dict& options() const { return options_; }
  const LayerCheckOptions& checks() const { return checks_; }

  LayerPtr make() const;
  /// Makes the layer, and its sublayers, with this dtype policy; skips the check if the layer
  /// refuses the policy.
  LayerPtr make(const char* dtype) const;
  /// Makes the layer and calls it on inputs(), which builds it.
  LayerPtr make_built() const;
  LayerPtr make_built(const char* dtype) const;

  /// The batch size of inputs().
  int64_t batch() const { return checks_.batch_size > 0 ? checks_.batch_size : 3; }
  bool takes_any_batch() const { return checks_.batch_size == 0; }
  /// The same layer with samples whose leading axes are longer.
  CheckedLayer with_larger_samples() const;
  Tensors inputs() const { return inputs(batch()); }
  Tensors inputs(int64_t batch) const;
  /// Symbols that stand for inputs().
  std::vector<Symbol> symbols() const;
  bool has_floating_input() const;

 private:
  DType dtype_of(size_t input) const;

  std::string class_name_;
  Dict options_;
  LayerCheckOptions checks_;
};

/// The weights that the class LayerCaller resets before each call of the layer.
enum class RestoredWeights { all, non_trainable };

/// Calls a layer in training or inference mode. Before each call, random generators and weights are
/// set to the values that they had before the first call; a stateful layer begins anew.
class LayerCaller {
 public:
  LayerCaller(Layer& layer, bool training, RestoredWeights restored_weights = RestoredWeights::all);
  ~LayerCaller() { restore(); }
  LayerCaller(const LayerCaller&) = delete;
  Tensors operator()(const Tensors& inputs, const Tensors& masks = {}) const;

 private:
  void restore() const;

  Layer& layer_;
  CallOptions options_;
  Variables states_;
  Tensors initial_values_;
};

/// A layer, and inputs of the size for which it is built.
struct SizedLayer {
  LayerPtr layer;
  Tensors inputs;
};

/// Returns the layer with the usual inputs and, if it accepts them, with 257 samples and with
/// samples of larger shapes. Sizes with larger results than are_small() allows are left out.
std::vector<SizedLayer> sized_layers(const CheckedLayer& checked);

/// Results with more elements, such as those of outer products of images, are not checked.
constexpr int64_t kMaxElements = 2000000;
bool are_small(const Tensors& tensors);

std::vector<Shape> shapes_of(const Tensors& tensors);
std::string specs_text(const Tensors& tensors);
Tensors with_float_dtype(const Tensors& tensors, DType dtype);

/// Fails unless the tensors have the same specs and, relative to the largest value of each, nearly
/// the same values. NaN equals NaN.
void expect_near(const Tensors& actual, const Tensors& expected, double tolerance,
                 std::string_view what);
/// Whether the layer is a model, whose layers are built by its first call and have dtype policies
/// of their own.
bool is_model(const Layer& layer);
bool have_same_bits(const Tensors& a, const Tensors& b);
void expect_same_bits(const Tensors& actual, const Tensors& expected, std::string_view what);
bool is_finite(const Tensors& tensors);
void expect_finite(const Tensors& tensors, std::string_view what);

/// A unique temporary path; the destructor removes the file.
class TemporaryFile {
 public:
  explicit TemporaryFile(const char* ending);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// ---- the checks; each returns a description of its result

std::string check_call(const CheckedLayer& layer);
std::string check_shapes(const CheckedLayer& layer);
std::string check_weights(const CheckedLayer& layer);
std::string check_repeats(const CheckedLayer& layer);
std::string check_threads(const CheckedLayer& layer);
std::string check_compiled(const CheckedLayer& layer);
std::string check_batch_of_one(const CheckedLayer& layer);
std::string check_empty_batch(const CheckedLayer& layer);
std::string check_large_batch(const CheckedLayer& layer);
std::string check_samples_apart(const CheckedLayer& layer);
std::string check_larger_sizes(const CheckedLayer& layer);
std::string check_zeros(const CheckedLayer& layer);
std::string check_masks(const CheckedLayer& layer);
std::string check_mixed_float16(const CheckedLayer& layer);
std::string check_mixed_bfloat16(const CheckedLayer& layer);
std::string check_float64(const CheckedLayer& layer);
std::string check_options(const CheckedLayer& layer);
std::string check_keras_file(const CheckedLayer& layer);
std::string check_h5_file(const CheckedLayer& layer);
std::string check_weights_file(const CheckedLayer& layer);
std::string check_training(const CheckedLayer& layer);
std::string check_wrong_inputs(const CheckedLayer& layer);
/// Runs only the first check of a layer, whether it can be called.
CheckReport first_check(const std::string& class_name, const Dict& options,
                        const LayerCheckOptions& checks);
/// Adds a result for the gradient with respect to each weight and each input.
void add_gradient_rows(CheckReport& report, const CheckedLayer& layer);

}  // namespace crescent::check
