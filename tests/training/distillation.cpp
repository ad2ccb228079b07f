// Distillation from C++: a Distiller of the plugin, with its losses and one of the user, compared
// with the formulas on plain numbers.
#include <catch2/catch.hpp>
#include <cmath>

#include "crescent/crescent.h"

using namespace crescent;
using Catch::Contains;

namespace {

Value boxed_output(const Tensor& tensor) { return Codec<Tensor>::encode(tensor); }

Tensor normal_tensor(const Shape& shape, int64_t seed) {
  SeedGenerator generator(seed);
  return generator.normal(shape);
}

using Reals = std::vector<double>;

double mean_over(const Reals& a, const Reals& b, double (*f)(double a, double b)) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += f(a[i], b[i]);
  return sum / double(a.size());
}
double squared(double a, double b) { return (a - b) * (a - b); }
double absolute(double a, double b) { return std::fabs(a - b); }

Reals softmax_of(const Reals& logits, size_t first, size_t width, double temperature) {
  Reals result(width);
  double sum = 0;
  for (size_t i = 0; i < width; ++i) sum += result[i] = std::exp(logits[first + i] / temperature);
  for (double& p : result) p /= sum;
  return result;
}

/// A loss of the user.
class AbsoluteDistance final : public DistillationLoss {
 public:
  static void describe(Schema<AbsoluteDistance>&) {}
  Tensor compute_loss(const Value& teacher_outputs, const Value& student_outputs) const override {
    return ops::mean(
        ops::abs(Codec<Tensor>::decode(teacher_outputs) - Codec<Tensor>::decode(student_outputs)));
  }
};

ModelPtr dense_net(int64_t units, const char* name) {
  return Sequential::make(
      {make<Layer>("Dense", {{"units", units}, {"name", "h"}, {"input_shape", List{4}}}),
       make<Layer>("Dense", {{"units", 3}, {"name", "o"}})},
      name);
}

}  // namespace

TEST_CASE("LogitsDistillation compares softened probabilities for an object KLDivergence") {
  const double temperature = 2.5;
  const size_t width = 5;
  const Tensor teacher = normal_tensor({6, 5}, 1), student = normal_tensor({6, 5}, 2);
  const Reals t = teacher.to_vector(), s = student.to_vector();
  double expected = 0;
  for (size_t first = 0; first < t.size(); first += width) {
    const Reals p = softmax_of(t, first, width, temperature),
                q = softmax_of(s, first, width, temperature);
    for (size_t i = 0; i < width; ++i) expected += p[i] * std::log(p[i] / q[i]);
  }
  const auto loss = make<DistillationLoss>(
      "LogitsDistillation",
      {{"temperature", temperature}, {"loss", Value(make<Loss>("KLDivergence"))}});
  CHECK(loss->compute_loss(boxed_output(teacher), boxed_output(student)).item() ==
        Approx(expected / 6 * temperature * temperature).epsilon(1e-4));
  const auto by_name =
      make<DistillationLoss>("LogitsDistillation", {{"temperature", 2.0}, {"loss", "mse"}});
  CHECK(by_name->compute_loss(boxed_output(teacher), boxed_output(student)).item() ==
        Approx(mean_over(t, s, squared) / 4).epsilon(1e-5));
}

TEST_CASE("a Distiller adds the losses of compile and of teachers") {
  if (!registry().find(DistillationLoss::kKind, "AbsoluteDistance"))
    registry().add<AbsoluteDistance>("AbsoluteDistance");
  const ModelPtr teacher = dense_net(8, "teacher"), student = dense_net(4, "student");
  const double weight = 0.25;
  const auto distiller = std::dynamic_pointer_cast<Model>(make<Layer>(
      "Distiller",
      {{"teacher", Value(teacher)},
       {"student", Value(student)},
       {"distillation_losses",
        List{"AbsoluteDistance",
             Value(make<DistillationLoss>("FeatureDistillation", {{"teacher_layer_name", "o"},
                                                                  {"student_layer_name", "o"}}))}},
       {"distillation_loss_weights", List{2.0, 0.5}},
       {"student_loss_weight", weight}}));
  CHECK_THROWS_WITH(distiller->compile({{"optimizer", "sgd"}}), Contains("'loss' cannot be"));
  distiller->compile({{"loss", "mse"}});
  CHECK(distiller->optimizer()->class_name() == "Adam");

  const Tensor x = normal_tensor({7, 4}, 3), y = normal_tensor({7, 3}, 4);
  const Reals t = teacher->predict({x}).front().to_vector(),
              s = student->predict({x}).front().to_vector();
  const double student_loss = mean_over(y.to_vector(), s, squared),
               distillation_loss = 2 * mean_over(t, s, absolute) + 0.5 * mean_over(t, s, squared);
  const Tensors teacher_before = teacher->get_weights();
  const NamedValues logs = distiller->evaluate({x}, {y}, {{"batch_size", 7}, {"verbose", 0}});
  const NamedValues expected = {
      {"loss", weight * student_loss + (1 - weight) * distillation_loss},
      {"student_loss", student_loss},
      {"distillation_loss", distillation_loss},
      {"total_loss", weight * student_loss + (1 - weight) * distillation_loss}};
  REQUIRE(logs.size() == expected.size());
  for (size_t i = 0; i < logs.size(); ++i) {
    CHECK(logs[i].first == expected[i].first);
    CHECK(logs[i].second == Approx(expected[i].second).epsilon(1e-5));
  }

  const auto history = distiller->fit({x}, {y}, {{"epochs", 20}, {"verbose", 0}});
  CHECK(history->at("loss").back() < history->at("loss").front());
  const Tensors teacher_after = teacher->get_weights();
  for (size_t i = 0; i < teacher_before.size(); ++i)
    CHECK(teacher_before[i].to_vector() == teacher_after[i].to_vector());
  CHECK(distiller->predict({x}).front().to_vector() == student->predict({x}).front().to_vector());
}
