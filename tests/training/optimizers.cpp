// Every optimizer compared with its update rule on plain numbers: four steps of a matrix and a
// vector.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "crescent/crescent.h"

using namespace crescent;

namespace {

using Numbers = std::vector<double>;

/// The slots of one weight by name; they are zeros at first.
struct SlotValues {
  std::map<std::string, Numbers> slots;
  Numbers& operator[](const std::string& name) { return slots[name]; }
  Numbers& get(const std::string& name, size_t size, double initial = 0) {
    return slots.try_emplace(name, Numbers(size, initial)).first->second;
  }
};

/// The rule of one update: the weight w, its gradient g, its slots, the number of the step (from
/// 1), and the number of columns (0 for a vector).
using Rule = void (*)(Numbers& w, const Numbers& g, SlotValues& state, double step, size_t columns);

double size_of(const Numbers& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return std::sqrt(sum);
}
double rms(const Numbers& x) { return size_of(x) / std::sqrt(double(x.size())); }

void adam(Numbers& w, const Numbers& g, SlotValues& s, double t, double rate, double b1,
          double b2) {
  Numbers &m = s.get("m", w.size()), &v = s.get("v", w.size());
  for (size_t i = 0; i < w.size(); ++i) {
    m[i] = b1 * m[i] + (1 - b1) * g[i];
    v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
    w[i] -= rate * std::sqrt(1 - std::pow(b2, t)) / (1 - std::pow(b1, t)) * m[i] /
            (std::sqrt(v[i]) + 1e-7);
  }
}

/// Muon's Newton-Schulz iteration: replaces each singular value x by a x + b x^3 + c x^5, five
/// times. There must not be more rows than columns.
Numbers orthogonal(Numbers x, size_t rows, size_t columns) {
  const double length = size_of(x) + 1e-7;
  for (double& v : x) v /= length;
  for (int round = 0; round < 5; ++round) {
    Numbers a(rows * rows), b(rows * rows), y(rows * columns);
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < rows; ++j)
        for (size_t k = 0; k < columns; ++k)
          a[i * rows + j] += x[i * columns + k] * x[j * columns + k];
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < rows; ++j) {
        b[i * rows + j] = -4.775 * a[i * rows + j];
        for (size_t k = 0; k < rows; ++k)
          b[i * rows + j] += 2.0315 * a[i * rows + k] * a[k * rows + j];
      }
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < columns; ++j) {
        y[i * columns + j] = 3.4445 * x[i * columns + j];
        for (size_t k = 0; k < rows; ++k)
          y[i * columns + j] += b[i * rows + k] * x[k * columns + j];
      }
    x = y;
  }
  return x;
}

struct OptimizerRow {
  const char* name;
  Dict options;
  Rule rule;
};

const OptimizerRow kOptimizers[] = {
    {"SGD",
     {{"learning_rate", 0.1}, {"momentum", 0.9}, {"nesterov", true}},
     [](Numbers& w, const Numbers& g, SlotValues& s, double, size_t) {
       Numbers& v = s.get("v", w.size());
       for (size_t i = 0; i < w.size(); ++i) {
         v[i] = 0.9 * v[i] - 0.1 * g[i];
         w[i] += 0.9 * v[i] - 0.1 * g[i];
       }
     }},
    {"Adam",
     {{"learning_rate", 0.1}, {"beta_1", 0.8}},
     [](Numbers& w, const Numbers& g, SlotValues& s, double t, size_t) {
       adam(w, g, s, t, 0.1, 0.8, 0.999);
     }},
    {"AdamW",
     {{"learning_rate", 0.1}, {"weight_decay", 0.05}},
     [](Numbers& w, const Numbers& g, SlotValues& s, double t, size_t) {
       for (double& x : w) x -= x * 0.05 * 0.1;
       adam(w, g, s, t, 0.1, 0.9, 0.999);
     }},
    {"RMSprop",
     {{"learning_rate", 0.1}, {"centered", true}, {"momentum", 0.5}},
     [](Numbers& w, const Numbers& g, SlotValues& s, double, size_t) {
       Numbers &v = s.get("v", w.size()), &a = s.get("a", w.size()), &m = s.get("m", w.size());
       for (size_t i = 0; i < w.size(); ++i) {
         v[i] = 0.9 * v[i] + 0.1 * g[i] * g[i];
         a[i] = 0.9 * a[i] + 0.1 * g[i];
         m[i] = 0.5 * m[i] + 0.1 * g[i] / std::sqrt(v[i] - a[i] * a[i] + 1e-7);
         w[i] -= m[i];
       }
     }},
    {"RMSprop",
     {{"learning_rate", 0.1}, {"momentum", 0.5}, {"epsilon", 0.1}},
     [](Numbers& w, const Numbers& g, SlotValues& s, double, size_t) {
       Numbers &v = s.get("v", w.size()), &m = s.get("m", w.size());
       for (size_t i = 0; i < w.size(); ++i) {
         v[i] = 0.9 * v[i] + 0.1 * g[i] * g[i];
         m[i] = 0.5 * m[i] + 0.1 * g[i] / std::sqrt(v[i] + 0.1);
         w[i] -= m[i];
       }
     }},
    {"RMSprop",
     {{"learning_rate", 0.1}, {"centered", true}, {"epsilon", 0.1}, {"epsilon_outside", true}},
     [](Numbers& w, const Numbers& g, SlotValues& s, double, size_t) {
       Numbers &v = s.get("v", w.size()), &a = s.get("a", w.size());
       for (size_t i = 0; i < w.size(); ++i) {
         v[i] = 0.9 * v[i] + 0.1 * g[i] * g[i];
         a[i] = 0.9 * a[i] + 0.1 * g[i];
         w[i] -= 0.1 * g[i] / (std::sqrt(v[i] - a[i] * a[i]) + 0.1);
       }
     }},
    {"Adagrad",
     {{"learning_rate", 0.1}},
     [](Numbers& w, const Numbers& g, SlotValues& s, double, size_t) {
       Numbers& a = s.get("a", w.size(), 0.1);
       for (size_t i = 0; i < w.size(); ++i) {
         a[i] += g[i] * g[i];
         w[i] -= 0.1 * g[i] / std::sqrt(a[i] + 1e-7);
       }
     }},
    {"Adadelta",
     {{"learning_rate", 0.5}},
     [](Numbers& w, const Numbers& g, SlotValues& s, double, size_t) {
       Numbers &a = s.get("a", w.size()), &d = s.get("d", w.size());
       for (size_t i = 0; i < w.size(); ++i) {
         a[i] = 0.95 * a[i] + 0.05 * g[i] * g[i];
         const double step = g[i] * std::sqrt(d[i] + 1e-7) / std::sqrt(a[i] + 1e-7);
         d[i] = 0.95 * d[i] + 0.05 * step * step;
         w[i] -= 0.5 * step;
       }
     }},
    {"Adamax",
     {{"learning_rate", 0.1}},
     [](Numbers& w, const Numbers& g, SlotValues& s, double t, size_t) {
       Numbers &m = s.get("m", w.size()), &u = s.get("u", w.size());
       for (size_t i = 0; i < w.size(); ++i) {
         m[i] = 0.9 * m[i] + 0.1 * g[i];
         u[i] = std::max(0.999 * u[i], std::abs(g[i]));
         w[i] -= 0.1 * m[i] / ((1 - std::pow(0.9, t)) * (u[i] + 1e-7));
       }
     }},
    {"Nadam",
     {{"learning_rate", 0.1}},
     [](Numbers& w, const Numbers& g, SlotValues& s, double t, size_t) {
       Numbers &m = s.get("m", w.size()), &v = s.get("v", w.size()), &product = s.get("p", 1, 1);
       const double momentum = 0.9 * (1 - 0.5 * std::pow(0.96, t)),
                    next = 0.9 * (1 - 0.5 * std::pow(0.96, t + 1));
       product[0] *= momentum;
       for (size_t i = 0; i < w.size(); ++i) {
         m[i] = 0.9 * m[i] + 0.1 * g[i];
         v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
         const double mean =
             next * m[i] / (1 - product[0] * next) + (1 - momentum) * g[i] / (1 - product[0]);
         w[i] -= 0.1 * mean / (std::sqrt(v[i] / (1 - std::pow(0.999, t))) + 1e-7);
       }
     }},
    {"Lion",
     {{"learning_rate", 0.1}},
     [](Numbers& w, const Numbers& g, SlotValues& s, double, size_t) {
       Numbers& m = s.get("m", w.size());
       for (size_t i = 0; i < w.size(); ++i) {
         const double direction = 0.9 * m[i] + 0.1 * g[i];
         w[i] -= 0.1 * ((direction > 0) - (direction < 0));
         m[i] = 0.99 * m[i] + 0.01 * g[i];
       }
     }},
    {"Ftrl",
     {{"learning_rate", 0.2},
      {"l1_regularization_strength", 0.1},
      {"l2_regularization_strength", 0.2},
      {"l2_shrinkage_regularization_strength", 0.3},
      {"beta", 0.4}},
     [](Numbers& w, const Numbers& g, SlotValues& s, double, size_t) {
       Numbers &n = s.get("n", w.size(), 0.1), &z = s.get("z", w.size());
       for (size_t i = 0; i < w.size(); ++i) {
         const double new_sum = n[i] + g[i] * g[i];
         z[i] += g[i] + 2 * 0.3 * w[i] - (std::sqrt(new_sum) - std::sqrt(n[i])) / 0.2 * w[i];
         n[i] = new_sum;
         const double quadratic = std::sqrt(new_sum) / 0.2 + 2 * (0.2 + 0.4 / (2 * 0.2));
         const double clipped = std::min(std::max(z[i], -0.1), 0.1);
         w[i] = (clipped - z[i]) / quadratic;
       }
     }},
    {"Adafactor",
     {{"learning_rate", 0.1}},
     [](Numbers& w, const Numbers& g, SlotValues& s, double t, size_t columns) {
       const double rate = std::min(0.1, 1 / std::sqrt(t)), decay = 1 - std::pow(t, -0.8);
       Numbers v(w.size());
       if (columns == 0) {
         Numbers& average = s.get("v", w.size());
         for (size_t i = 0; i < w.size(); ++i)
           v[i] = average[i] = decay * average[i] + (1 - decay) * (g[i] * g[i] + 1e-30);
       } else {
         const size_t rows = w.size() / columns;
         Numbers &r = s.get("r", rows), &c = s.get("c", columns);
         Numbers by_row(rows), by_column(columns);
         for (size_t i = 0; i < w.size(); ++i) {
           by_row[i / columns] += (g[i] * g[i] + 1e-30) / double(columns);
           by_column[i % columns] += (g[i] * g[i] + 1e-30) / double(rows);
         }
         double mean = 0;
         for (size_t i = 0; i < rows; ++i) {
           r[i] = decay * r[i] + (1 - decay) * by_row[i];
           mean += r[i] / double(rows);
         }
         for (size_t i = 0; i < columns; ++i) c[i] = decay * c[i] + (1 - decay) * by_column[i];
         for (size_t i = 0; i < w.size(); ++i) v[i] = r[i / columns] / mean * c[i % columns];
       }
       Numbers u(w.size());
       for (size_t i = 0; i < w.size(); ++i) u[i] = g[i] / std::sqrt(v[i]);
       const double size = std::max(1e-3, rms(w)) * rate, excess = std::max(1.0, rms(u));
       for (size_t i = 0; i < w.size(); ++i) w[i] -= size * u[i] / excess;
     }},
    {"Lamb",
     {{"learning_rate", 0.1}},
     [](Numbers& w, const Numbers& g, SlotValues& s, double t, size_t) {
       Numbers &m = s.get("m", w.size()), &v = s.get("v", w.size());
       Numbers u(w.size());
       for (size_t i = 0; i < w.size(); ++i) {
         m[i] = 0.9 * m[i] + 0.1 * g[i];
         v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
         u[i] = m[i] / (1 - std::pow(0.9, t)) / (std::sqrt(v[i] / (1 - std::pow(0.999, t))) + 1e-7);
       }
       const double ratio = size_of(w) / size_of(u);
       for (size_t i = 0; i < w.size(); ++i) w[i] -= ratio * 0.1 * u[i];
     }},
    {"Muon",
     {{"learning_rate", 0.1}, {"adam_lr_ratio", 0.5}},
     [](Numbers& w, const Numbers& g, SlotValues& s, double t, size_t columns) {
       for (double& x : w) x -= x * 0.004 * 0.1;
       if (columns == 0) return adam(w, g, s, t, 0.05, 0.9, 0.999);
       Numbers& m = s.get("m", w.size());
       Numbers lookahead(w.size());
       for (size_t i = 0; i < w.size(); ++i) {
         m[i] = 0.95 * m[i] + g[i];
         lookahead[i] = g[i] + 0.95 * m[i];
       }
       const Numbers step = orthogonal(lookahead, w.size() / columns, columns);
       for (size_t i = 0; i < w.size(); ++i)
         w[i] -= 0.1 * 0.2 * std::sqrt(double(columns)) * step[i];
     }},
    {"ScheduleFreeAdamW",
     {{"learning_rate", 0.1}, {"warmup_steps", 2}, {"weight_decay", 0.5}},
     [](Numbers& w, const Numbers& g, SlotValues& s, double t, size_t) {
       Numbers& v = s.get("v", w.size());
       Numbers& z = s.slots.try_emplace("z", w).first->second;
       for (double& x : w) x -= x * 0.5 * 0.1;
       const double rate = 0.1 * std::min(t / 2, 1.0);
       for (size_t i = 0; i < w.size(); ++i) {
         v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
         z[i] -= rate * g[i] / (std::sqrt(v[i] / (1 - std::pow(0.999, t))) + 1e-8);
         const double mean = (w[i] - 0.1 * z[i]) / 0.9;
         w[i] = 0.1 * z[i] + 0.9 * ((1 - 1 / t) * mean + z[i] / t);
       }
     }},
};

Variable weight(const Tensor& initial, const char* path) {
  Variable variable(initial);
  variable.set_path(path);
  return variable;
}

}  // namespace

TEST_CASE("optimizers follow their rules, eager and compiled") {
  for (const OptimizerRow& row : kOptimizers)
    for (const bool compiled : {false, true}) {
      INFO(row.name << (compiled ? " compiled" : ""));
      const auto optimizer = make<Optimizer>(row.name, row.options);
      const SeedGenerator random(3);
      const Variables weights{weight(random.normal({2, 3}), "dense/kernel"),
                              weight(random.normal({3}), "dense/bias")};
      optimizer->build(weights);
      const Function apply([&](const Tensors& gradients) {
        optimizer->apply(gradients, weights);
        return Tensors{};
      });
      Numbers want[] = {weights[0].value().to_vector(), weights[1].value().to_vector()};
      SlotValues states[2];
      for (int step = 1; step <= 4; ++step) {
        const Tensors gradients{random.normal({2, 3}), random.normal({3})};
        compiled ? void(apply(gradients)) : optimizer->apply(gradients, weights);
        for (size_t i : {0, 1}) {
          row.rule(want[i], gradients[i].to_vector(), states[i], step, i == 0 ? 3 : 0);
          const std::vector<double> got = weights[i].value().to_vector();
          for (size_t k = 0; k < got.size(); ++k)
            CHECK(got[k] == Approx(want[i][k]).epsilon(1e-4).margin(1e-5));
        }
      }
    }
}

TEST_CASE("accumulated gradients make the steps of their means, with every rule and option") {
  const std::pair<const char*, Dict> options[] = {
      {"nothing else", {}},
      {"averages", {{"use_ema", true}, {"ema_momentum", 0.5}, {"ema_overwrite_frequency", 2}}},
      {"clipped", {{"clipnorm", 0.5}}},
      {"clipped together", {{"global_clipnorm", 0.5}}},
      {"decay", {{"weight_decay", 0.1}}},
      {"scaled", {{"loss_scale_factor", 4}}}};
  for (const OptimizerRow& row : kOptimizers)
    for (const auto& [description, more_options] : options) {
      INFO(row.name << ", " << description);
      Dict plain_options = row.options;
      for (const DictEntry& entry : more_options) plain_options.set(entry.key, entry.value);
      Dict accumulating_options = plain_options;
      accumulating_options.set("gradient_accumulation_steps", 3);
      const SeedGenerator random(4);
      const Tensor initial[] = {random.normal({2, 3}), random.normal({3})};
      auto weights = [&] {
        return Variables{weight(initial[0].clone(), "dense/kernel"),
                         weight(initial[1].clone(), "dense/bias")};
      };
      const Variables weights_of_means = weights(), accumulated_weights = weights();
      const auto optimizer_of_means = make<Optimizer>(row.name, plain_options),
                 by_parts = make<Optimizer>(row.name, accumulating_options);
      for (int step = 0; step < 3; ++step) {
        Tensors means{ops::zeros({2, 3}), ops::zeros({3})};
        for (int batch = 0; batch < 3; ++batch) {
          const Tensors gradients{random.normal({2, 3}), random.normal({3})};
          for (size_t i : {0, 1}) means[i] = means[i] + gradients[i] / 3.0;
          by_parts->apply(gradients, accumulated_weights);
        }
        optimizer_of_means->apply(means, weights_of_means);
        for (size_t i : {0, 1}) {
          const auto got = accumulated_weights[i].value().to_vector(),
                     want = weights_of_means[i].value().to_vector();
          for (size_t k = 0; k < got.size(); ++k)
            CHECK(got[k] == Approx(want[k]).epsilon(1e-4).margin(1e-5));
        }
      }
    }
}

TEST_CASE("every optimizer has a rule here") {
  std::vector<std::string> tested{"LossScaleOptimizer", "MultiOptimizer",
                                  "OptimizerMap"};  // classes without an update rule of their own
  for (const OptimizerRow& row : kOptimizers) tested.push_back(row.name);
  for (const std::string& name : registry().names("optimizer"))
    CHECK(std::count(tested.begin(), tested.end(), name) >= 1);
}

TEST_CASE("schedules follow their formulas") {
  struct ScheduleRow {
    const char* name;
    Dict options;
    double (*rate)(double step);
  };
  const ScheduleRow rows[] = {
      {"ExponentialDecay",
       {{"initial_learning_rate", 0.2},
        {"decay_steps", 4},
        {"decay_rate", 0.5},
        {"staircase", true}},
       [](double s) { return 0.2 * std::pow(0.5, std::floor(s / 4)); }},
      {"InverseTimeDecay",
       {{"initial_learning_rate", 0.2}, {"decay_steps", 4}, {"decay_rate", 0.5}},
       [](double s) { return 0.2 / (1 + 0.5 * s / 4); }},
      {"PiecewiseConstantDecay",
       {{"boundaries", List{3, 6}}, {"values", List{0.3, 0.2, 0.1}}},
       [](double s) { return s <= 3   ? 0.3
                             : s <= 6 ? 0.2
                                      : 0.1; }},
      {"PolynomialDecay",
       {{"initial_learning_rate", 0.2}, {"decay_steps", 5}, {"power", 2}, {"cycle", true}},
       [](double s) {
         const double last = 5 * std::max(std::ceil(s / 5), 1.0);
         return (0.2 - 1e-4) * std::pow(1 - s / last, 2) + 1e-4;
       }},
      {"CosineDecay",
       {{"initial_learning_rate", 0.1},
        {"decay_steps", 6},
        {"alpha", 0.2},
        {"warmup_target", 0.3},
        {"warmup_steps", 3}},
       [](double s) {
         if (s < 3) return 0.1 + 0.2 * s / 3;
         return 0.3 * (0.8 * 0.5 * (1 + std::cos(M_PI * std::min(s - 3, 6.0) / 6)) + 0.2);
       }},
      {"CosineDecayRestarts",
       {{"initial_learning_rate", 0.1}, {"first_decay_steps", 3}, {"m_mul", 0.5}, {"alpha", 0.1}},
       [](double s) {
         double length = 3, height = 1;
         for (; s >= length; s -= length, length *= 2) height *= 0.5;
         if (s + 1e-9 >= length) s = 0;
         return 0.1 * (0.9 * 0.5 * height * (1 + std::cos(M_PI * s / length)) + 0.1);
       }},
      {"CosineDecayRestarts",
       {{"initial_learning_rate", 0.1},
        {"first_decay_steps", 3},
        {"t_mul", 1},
        {"m_mul", 0.5},
        {"alpha", 0.1}},
       [](double s) {
         const double restarts = std::floor(s / 3), fraction = s / 3 - restarts;
         return 0.1 * (0.9 * 0.5 * std::pow(0.5, restarts) * (1 + std::cos(M_PI * fraction)) + 0.1);
       }},
  };
  for (const ScheduleRow& row : rows) {
    const auto schedule = make<Schedule>(row.name, row.options);
    for (const int step : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) {
      INFO(row.name << " " << step);
      CHECK((*schedule)(Tensor::scalar(step, DType::int64)).item() ==
            Approx(row.rate(step)).epsilon(1e-4));
    }
  }
  for (const std::string& name : registry().names("schedule"))
    CHECK(std::any_of(std::begin(rows), std::end(rows),
                      [&](const ScheduleRow& row) { return name == row.name; }));
}

TEST_CASE("a schedule counts steps, whether they update or are accumulated") {
  const Value halving = Dict{
      {"class_name", "ExponentialDecay"},
      {"config", Dict{{"initial_learning_rate", 0.8}, {"decay_steps", 1}, {"decay_rate", 0.5}}}};
  const auto sgd =
      make<Optimizer>("SGD", {{"learning_rate", halving}, {"gradient_accumulation_steps", 2}});
  Variables weights{Variable(Tensor::full({1}, 0))};
  sgd->build(weights);
  std::vector<double> seen_rates;
  for (int step = 0; step < 4; ++step) {
    sgd->apply(Tensors{Tensor::full({1}, 1)}, weights);
    seen_rates.push_back(weights[0].value().to_vector()[0]);
  }
  CHECK(seen_rates[0] == 0);
  CHECK(seen_rates[1] == Approx(-0.4));
  CHECK(seen_rates[3] == Approx(-0.4 - 0.1));
}

TEST_CASE("options that rule each other out or mean nothing are refused") {
  const auto build = [](const Dict& options) {
    make<Optimizer>("SGD", options)->build({Variable(Tensor::full({1}, 0))});
  };
  CHECK_THROWS_WITH(build({{"clipnorm", 1}, {"clipvalue", 1}}), Catch::Contains("only one of"));
  CHECK_THROWS_WITH(build({{"gradient_accumulation_steps", 1}}),
                    "SGD: `gradient_accumulation_steps` must be an integer >= 2. Received: 1");
  CHECK_THROWS_WITH(build({{"ema_overwrite_frequency", 0}}), Catch::Contains("integer >= 1"));
}

TEST_CASE("initializers, regularizers: what is new") {
  const Tensor real_part = (*make<Initializer>("STFT"))({8, 1, 5}, DType::float32);
  const Tensor imaginary_part = (*make<Initializer>(
      "STFT", {{"side", "imag"}, {"window", Value()}}))({8, 1, 5}, DType::float32);
  double squares = 0;
  auto hann = [](double n) { return 0.5 - 0.5 * std::cos(2 * M_PI * n / 7); };
  for (int n = 0; n < 8; ++n) squares += hann(n) * hann(n);
  for (size_t n = 0; n < 8; ++n)
    for (size_t k = 0; k < 5; ++k) {
      const double angle = -2 * M_PI * double(n * k) / 8;
      CHECK(real_part.to_vector()[n * 5 + k] ==
            Approx(std::cos(angle) * hann(double(n)) / std::sqrt(squares)).margin(1e-6));
      CHECK(imaginary_part.to_vector()[n * 5 + k] == Approx(std::sin(angle)).margin(1e-6));
    }
  const Dict scaling_options{{"input_axes", List{0}},
                             {"output_axes", List{1, 2}},
                             {"seed", 1},
                             {"mode", "fan_out"},
                             {"distribution", "uniform"}};
  const Tensor drawn_values =
      (*make<Initializer>("VarianceScaling", scaling_options))({3, 40, 50}, DType::float32);
  CHECK(ops::max(ops::abs(drawn_values)).item() ==
        Approx(std::sqrt(3.0 / (40 * 50))).epsilon(0.01));
  CHECK_THROWS_WITH(
      (*make<Initializer>("GlorotUniform", {{"input_axes", List{0}}}))({2, 2}, DType::float32),
      Catch::Contains("both input_axes and output_axes"));

  const Tensor x = Tensor::from(std::vector<float>{1, 0, 3, 4, 0, 2}, {3, 2});
  const double pairs = 3.0 / 5 + 0 + 4.0 / 5;  // the sum of the cosines between the rows
  CHECK((*make<Regularizer>("OrthogonalRegularizer", {{"factor", 0.6}}))(x).item() ==
        Approx(0.6 * pairs / 3));
  const double columns = 12 / std::sqrt(10.0 * 20);
  CHECK((*make<Regularizer>("OrthogonalRegularizer", {{"mode", "columns"}}))(x).item() ==
        Approx(0.01 * columns));
}
