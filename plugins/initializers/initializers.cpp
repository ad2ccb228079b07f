// Initializers of weights. As in Keras 3 an initializer with a seed always gives the same values;
// an initializer without a seed draws from the random generator of the process.
#include <cmath>

#include "crescent/layer/weight_rules.h"
#include "crescent/registry/registration.h"

#include "../numbers.h"

namespace crescent {
namespace {

class Zeros final : public Initializer {
 public:
  static void describe(Schema<Zeros>& s) { s.doc("Zeros."); }
  Tensor operator()(const Shape& shape, DType dtype) const override {
    return ops::zeros(shape, dtype);
  }
};

class Ones final : public Initializer {
 public:
  static void describe(Schema<Ones>& s) { s.doc("Ones."); }
  Tensor operator()(const Shape& shape, DType dtype) const override {
    return ops::ones(shape, dtype);
  }
};

class Constant final : public Initializer {
 public:
  static void describe(Schema<Constant>& s) {
    s.doc("A constant value, or an array that is broadcast to the shape of the weight.")
        .field("value", &Constant::value_, "A number, an array of numbers or a tensor.");
  }
  void configured() override { value_ = value_of(numbers_in(value_, "option 'value'")); }
  Tensor operator()(const Shape& shape, DType dtype) const override {
    const Numbers numbers = numbers_in(value_, "option 'value'");
    if (!broadcasts(numbers.shape, shape))
      fail("Constant: a value of shape ", numbers.shape,
           " cannot be broadcast to a weight of shape ", shape);
    return ops::full(shape, numbers.tensor(dtype), dtype);
  }

 private:
  Value value_ = 0.0;
};

class Identity final : public Initializer {
 public:
  static void describe(Schema<Identity>& s) {
    s.doc("The identity matrix, for weights of two axes.")
        .field("gain", &Identity::gain_, "Factor.");
  }
  Tensor operator()(const Shape& shape, DType dtype) const override {
    if (shape.rank() != 2) fail("Identity: expected a weight of 2 axes, got shape ", shape);
    return ops::eye(shape[0], shape[1], dtype) * gain_;
  }

 private:
  double gain_ = 1;
};

/// The base of initializers with a seed.
class RandomInitializer : public Initializer {
 public:
  SeedGenerator generator() const {
    return seed_ ? SeedGenerator::repeating(*seed_) : global_random();
  }

 protected:
  template <class T>
  static void describe_seed(Schema<T>& s) {
    s.field("seed", &RandomInitializer::seed_, "Seed of the values.");
  }
  std::optional<int64_t> seed_;
};

class RandomNormal final : public RandomInitializer {
 public:
  static void describe(Schema<RandomNormal>& s) {
    s.doc("Normal distribution.")
        .field("mean", &RandomNormal::mean_, "Mean of the distribution.")
        .field("stddev", &RandomNormal::stddev_, "Standard deviation.");
    describe_seed(s);
  }
  Tensor operator()(const Shape& shape, DType dtype) const override {
    return generator().normal(shape, mean_, stddev_, dtype);
  }

 private:
  double mean_ = 0, stddev_ = 0.05;
};

class TruncatedNormal final : public RandomInitializer {
 public:
  static void describe(Schema<TruncatedNormal>& s) {
    s.doc("Normal distribution, redrawn beyond two standard deviations.")
        .field("mean", &TruncatedNormal::mean_, "Mean of the distribution.")
        .field("stddev", &TruncatedNormal::stddev_, "Standard deviation before the truncation.");
    describe_seed(s);
  }
  Tensor operator()(const Shape& shape, DType dtype) const override {
    return generator().truncated_normal(shape, mean_, stddev_, dtype);
  }

 private:
  double mean_ = 0, stddev_ = 0.05;
};

class RandomUniform final : public RandomInitializer {
 public:
  static void describe(Schema<RandomUniform>& s) {
    s.doc("Uniform distribution.")
        .field("minval", &RandomUniform::low_, "Lower limit.")
        .field("maxval", &RandomUniform::high_, "Upper limit, excluded.");
    describe_seed(s);
  }
  Tensor operator()(const Shape& shape, DType dtype) const override {
    return generator().uniform(shape, low_, high_, dtype);
  }

 private:
  double low_ = -0.05, high_ = 0.05;
};

/// The axes whose sizes are multiplied to give a fan, which is the number of inputs or of outputs
/// of a unit; nullopt means the axes that follow from the rank of the weight.
using AxisChoice = std::optional<std::vector<int64_t>>;

struct Fans {
  double in, out;
};

/// The numbers of inputs and outputs of a unit (fans) by the rank of its weight, as in Keras: for
/// scalars, vectors, matrices, and kernels (spatial..., in, out).
Fans fans_of(const Shape& shape) {
  if (shape.rank() == 0) return {1, 1};
  if (shape.rank() == 1) return {double(shape[0]), double(shape[0])};
  double receptive_field_size = 1;
  for (int i = 0; i < shape.rank() - 2; ++i) receptive_field_size *= double(shape[i]);
  return {double(shape[-2]) * receptive_field_size, double(shape[-1]) * receptive_field_size};
}

/// The fans as products of the sizes of the chosen axes, or by the rank of the weight if no axes
/// are chosen.
Fans fans_of(const Shape& shape, const AxisChoice& inputs, const AxisChoice& outputs) {
  if (!inputs && !outputs) return fans_of(shape);
  if (!inputs || !outputs) fail("expected both input_axes and output_axes, or none of them");
  auto fan_of = [&](const std::vector<int64_t>& axes) {
    double axis_product = 1;
    for (const int64_t axis : axes) axis_product *= double(shape[shape.axis(int(axis))]);
    return axis_product;
  };
  return {fan_of(*inputs), fan_of(*outputs)};
}

/// The base of initializers that depend on fans.
class FanInitializer : public RandomInitializer {
 protected:
  template <class T>
  static void describe_fans(Schema<T>& s) {
    describe_seed(s);
    s.field("input_axes", &FanInitializer::input_axes_,
            "Axes of inputs, if the weight is no ordinary kernel.")
        .field("output_axes", &FanInitializer::output_axes_, "Axes of outputs.");
  }
  /// Draws values whose variance is proportional to scale / fan.
  Tensor draw(const Shape& shape, DType dtype, double scale, const std::string& mode,
              const std::string& distribution) const;

 private:
  AxisChoice input_axes_, output_axes_;
};

Tensor FanInitializer::draw(const Shape& shape, DType dtype, double scale, const std::string& mode,
                            const std::string& distribution) const {
  const SeedGenerator random = generator();
  const Fans fans = fans_of(shape, input_axes_, output_axes_);
  const double fan = mode == "fan_in"    ? fans.in
                     : mode == "fan_out" ? fans.out
                                         : (fans.in + fans.out) / 2;
  const double variance = scale / std::max(1.0, fan);
  if (distribution == "uniform") {
    const double limit = std::sqrt(3 * variance);
    return random.uniform(shape, -limit, limit, dtype);
  }
  if (distribution == "untruncated_normal")
    return random.normal(shape, 0, std::sqrt(variance), dtype);
  // standard deviation of the standard normal distribution truncated to [-2, 2]
  constexpr double kTruncation = 0.87962566103423978;
  return random.truncated_normal(shape, 0, std::sqrt(variance) / kTruncation, dtype);
}

class VarianceScaling final : public FanInitializer {
 public:
  static void describe(Schema<VarianceScaling>& s) {
    s.doc("A distribution with variance scale / fan.")
        .field("scale", &VarianceScaling::scale_, "Factor.")
        .min(0)
        .field("mode", &VarianceScaling::mode_,
               "Which fan: \"fan_in\", \"fan_out\" or \"fan_avg\".")
        .choices({"fan_in", "fan_out", "fan_avg"})
        .field("distribution", &VarianceScaling::distribution_, "The distribution.")
        .choices({"truncated_normal", "untruncated_normal", "uniform", "normal"});
    describe_fans(s);
  }
  Tensor operator()(const Shape& shape, DType dtype) const override {
    return draw(shape, dtype, scale_, mode_, distribution_);
  }

 private:
  double scale_ = 1;
  std::string mode_ = "fan_in", distribution_ = "truncated_normal";
};

struct ScaledInitializerRow {
  const char *name, *alias, *doc;
  double scale;
  const char *mode, *distribution;
};
constexpr ScaledInitializerRow kScaledInitializers[] = {
    {"GlorotUniform", "glorot_uniform",
     "Uniform distribution with variance 2 / (fan_in + fan_out) (Glorot and Bengio 2010).", 1,
     "fan_avg", "uniform"},
    {"GlorotNormal", "glorot_normal",
     "Truncated normal distribution with variance 2 / (fan_in + fan_out) (Glorot and Bengio 2010).",
     1, "fan_avg", "truncated_normal"},
    {"HeUniform", "he_uniform", "Uniform distribution with variance 2 / fan_in (He et al. 2015).",
     2, "fan_in", "uniform"},
    {"HeNormal", "he_normal",
     "Truncated normal distribution with variance 2 / fan_in (He et al. 2015).", 2, "fan_in",
     "truncated_normal"},
    {"LecunUniform", "lecun_uniform", "Uniform distribution with variance 1 / fan_in.", 1, "fan_in",
     "uniform"},
    {"LecunNormal", "lecun_normal", "Truncated normal distribution with variance 1 / fan_in.", 1,
     "fan_in", "truncated_normal"},
};

/// The initializer that entry `Row` of the table kScaledInitializers describes.
template <int Row>
class ScaledInitializer final : public FanInitializer {
 public:
  static void describe(Schema<ScaledInitializer>& s) {
    s.doc(kScaledInitializers[Row].doc);
    FanInitializer::describe_fans(s);
  }
  Tensor operator()(const Shape& shape, DType dtype) const override {
    const ScaledInitializerRow& row = kScaledInitializers[Row];
    return draw(shape, dtype, row.scale, row.mode, row.distribution);
  }
};

class Orthogonal final : public RandomInitializer {
 public:
  static void describe(Schema<Orthogonal>& s) {
    s.doc(
         "An orthogonal matrix: Q of the QR factorization of a normal matrix, with signs fixed by "
         "the diagonal of R.")
        .field("gain", &Orthogonal::gain_, "Factor.");
    describe_seed(s);
  }
  Tensor operator()(const Shape& shape, DType dtype) const override {
    if (shape.rank() < 2)
      fail("Orthogonal: expected a weight of at least 2 axes, got shape ", shape);
    const int64_t rows = shape.slice(0, shape.rank() - 1).size(), columns = shape[-1];
    const int64_t longer_side = std::max(rows, columns), shorter_side = std::min(rows, columns);
    const ops::QrResult qr = ops::qr(generator().normal({longer_side, shorter_side}));
    const Tensor diagonal = ops::sum(qr.r * ops::eye(shorter_side, shorter_side), {0});
    const Tensor signs = ops::where(ops::less(diagonal, 0), -1.0, ops::ones_like(diagonal));
    Tensor q = qr.q * signs;
    if (rows < columns) q = ops::transpose(q);
    return ops::cast(ops::reshape(q * gain_, shape), dtype);
  }

 private:
  double gain_ = 1;
};

template <int... Rows>
void add_scaled(Registry& registry, std::integer_sequence<int, Rows...>) {
  (registry.add<ScaledInitializer<Rows>>(kScaledInitializers[Rows].name,
                                         {kScaledInitializers[Rows].alias}),
   ...);
}

}  // namespace

CRESCENT_REGISTER(initializers) {
  registry.add<Zeros>("Zeros", {"zeros", "zero"});
  registry.add<Ones>("Ones", {"ones", "one"});
  registry.add<Constant>("Constant", {"constant"});
  registry.add<Identity>("Identity", {"identity", "IdentityInitializer"});
  registry.add<RandomNormal>("RandomNormal", {"random_normal", "normal"});
  registry.add<RandomUniform>("RandomUniform", {"random_uniform", "uniform"});
  registry.add<TruncatedNormal>("TruncatedNormal", {"truncated_normal"});
  registry.add<VarianceScaling>("VarianceScaling", {"variance_scaling"});
  registry.add<Orthogonal>("Orthogonal", {"orthogonal", "OrthogonalInitializer"});
  add_scaled(registry, std::make_integer_sequence<int, std::size(kScaledInitializers)>{});
}

}  // namespace crescent
