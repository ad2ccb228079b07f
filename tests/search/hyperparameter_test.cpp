// Hyperparameters: the values that are drawn at random, their grids, and invalid definitions.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "crescent/search/oracle.h"

namespace {

using namespace crescent;

double uniform(std::mt19937_64& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

Hyperparameter random_hyperparameter(std::mt19937_64& random) {
  const auto sampling = static_cast<Sampling>(random() % 3);
  const bool is_log = sampling != Sampling::linear, has_step = random() % 2;
  switch (random() % 5) {
    case 0:
      return Hyperparameter::boolean("p", random() % 2);
    case 1:
      return Hyperparameter::choice("p", {"a", 1, 2.5, true});
    case 2: {
      const int64_t low = is_log ? 1 + random() % 9 : static_cast<int64_t>(random() % 100) - 50;
      const double step = has_step ? static_cast<double>(2 + random() % 3) : 0;
      return Hyperparameter::integer("p", low, low + random() % 200, {step, sampling, {}});
    }
    default: {
      const double low = is_log ? uniform(random, 1e-5, 1) : uniform(random, -5, 5);
      const double step = !has_step ? 0
                          : is_log  ? uniform(random, 1.1, 9)
                                    : uniform(random, 0.1, 3);
      return Hyperparameter::real("p", low, low + uniform(random, 0, 20), {step, sampling, {}});
    }
  }
}

}  // namespace

TEST_CASE("Values of hyperparameters are their own, wherever they are drawn") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const Hyperparameter p = random_hyperparameter(random);
    INFO(p.text() << " " << to_json(p.to_dict()));
    CHECK(p.has(p.default_value));
    CHECK(Hyperparameter::from_dict(parse_json(to_json(p.to_dict())).as_dict()) == p);
    for (int j = 0; j < 20; ++j) {
      const double u = uniform(random, 0, 1);
      const Value value = p.at(u);
      INFO("at " << u << ": " << to_text(value));
      CHECK(p.has(value));
      const double position = p.position(value);
      CHECK((position >= 0 && position <= 1));
      if (p.count()) {
        CHECK(p.at(position) == value);
      } else {
        CHECK(std::abs(position - u) < 1e-6);
      }
    }
    CHECK(p.has(p.at(0)));
    CHECK(p.has(p.at(1 - 0x1p-53)));
  }
}

TEST_CASE("Greater positions have values that are no less") {
  std::mt19937_64 random(2);
  for (int i = 0; i < 500; ++i) {
    const Hyperparameter p = random_hyperparameter(random);
    if (p.kind != Hyperparameter::Kind::integer && p.kind != Hyperparameter::Kind::real) continue;
    INFO(p.text());
    double last_value = -INFINITY;
    for (double u = 0; u < 1; u += 0.01) {
      CHECK(p.at(u).as_float() >= last_value);
      last_value = p.at(u).as_float();
    }
  }
}

TEST_CASE("All values are drawn equally often, and a grid has each of them once") {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200; ++i) {
    const Hyperparameter p = random_hyperparameter(random);
    INFO(p.text());
    for (int64_t g = 0; g < p.grid_size(); ++g) {
      CHECK(p.has(p.grid_value(g)));
      CHECK(p.grid_index(p.grid_value(g)) == g);
    }
    const bool is_floored = p.kind == Hyperparameter::Kind::integer && p.step == 0;
    if (!p.count() || is_floored) continue;
    CHECK(p.grid_size() == *p.count());
    for (int64_t v = 0; v < *p.count(); ++v) {
      const double middle = (static_cast<double>(v) + 0.5) / static_cast<double>(*p.count());
      CHECK(p.at(middle) == p.grid_value(v));
    }
  }
  const Hyperparameter units =
      Hyperparameter::integer("units", 32, 100, {32, Sampling::linear, {}});
  CHECK(units.grid_size() == 3);
  CHECK(units.grid_value(2) == Value(96));
  const Hyperparameter rates = Hyperparameter::real("rate", 1e-4, 1e-1, {10, Sampling::log, {}});
  CHECK(rates.grid_size() == 4);
}

TEST_CASE("Definitions without values are refused by name") {
  using H = Hyperparameter;
  using Catch::Contains;
  const auto sampling_options = [](double step, Sampling sampling, Value fallback = {}) {
    return H::Spread{step, sampling, std::move(fallback)};
  };
  CHECK_THROWS_WITH(H::integer("n", 3, 2), Contains("n: expected min_value <= max_value, got 3"));
  CHECK_THROWS_WITH(H::real("r", 0, 1, sampling_options(0, Sampling::log)),
                    Contains("needs min_value > 0"));
  CHECK_THROWS_WITH(H::real("r", 1, 2, sampling_options(1, Sampling::log)),
                    Contains("the step is a factor"));
  CHECK_THROWS_WITH(H::real("r", 0, 1, sampling_options(-1, Sampling::linear)),
                    Contains("positive step"));
  CHECK_THROWS_WITH(H::real("r", 0, NAN), Contains("finite bounds"));
  CHECK_THROWS_WITH(H::choice("c", {}), Contains("at least one value"));
  CHECK_THROWS_WITH(H::choice("c", {"a", "a"}), Contains("stands twice"));
  CHECK_THROWS_WITH(H::choice("c", {"a"}, {}, "b"), Contains("none of its values"));
  CHECK_THROWS_WITH(H::integer("n", 1, 9, sampling_options(2, Sampling::linear, 2)),
                    Contains("default 2"));
  CHECK_THROWS_WITH(sampling_named("logarithmic"), Contains("expected one of linear, log"));
}

TEST_CASE("Draws are even, and follow from seed, trial and name") {
  double sum = 0;
  for (int64_t i = 1; i <= 10000; ++i) sum += draw(1, i, "x");
  CHECK(std::abs(sum / 10000 - 0.5) < 0.01);
  CHECK(draw(1, 2, "x") == draw(1, 2, "x"));
  CHECK(draw(1, 2, "x") != draw(1, 2, "y"));
  CHECK(draw(1, 2, "x") != draw(1, 3, "x"));
  CHECK(draw(1, 2, "x") != draw(2, 2, "x"));
}
