// find_learning_rate: the range test of Smith (2017), "Cyclical Learning Rates for Training Neural
// Networks": the learning rate grows from batch to batch until the loss diverges.
#include <algorithm>
#include <cmath>
#include <limits>

#include "data/array_dataset.h"
#include "system/operation.h"
#include "training/metrics_scope.h"
#include "training/pass.h"
#include "training/watch/statistics.h"

namespace crescent {
namespace {

/// Stores the learning rate of the optimizer and restores it in the destructor. The constructor
/// fails for an optimizer with a learning rate schedule.
class RateScope {
 public:
  explicit RateScope(Optimizer& optimizer)
      : optimizer_(optimizer), original_rate_(optimizer.learning_rate().value().item()) {
    const Dict config = optimizer.get_config();
    const Value* rate = config.find("learning_rate");
    if (rate && rate->is_number()) original_rate_ = rate->as_float();
    optimizer_.set_learning_rate(original_rate_);
  }
  ~RateScope() { optimizer_.set_learning_rate(original_rate_); }
  RateScope(const RateScope&) = delete;

 private:
  Optimizer& optimizer_;
  double original_rate_;
};

/// Iterates over the batches of the data again and again.
class EndlessBatches {
 public:
  explicit EndlessBatches(DatasetPtr data) : data_(std::move(data)) { data_->begin_epoch(); }
  const Batch& next() {
    if (data_->next(batch_)) return batch_;
    data_->begin_epoch();
    data_->next(batch_);
    return batch_;
  }

 private:
  DatasetPtr data_;
  Batch batch_;
};

/// The exponential moving average of the losses: the average so far has the weight `smoothing`, a
/// new loss the weight 1 - smoothing. The bias of the initial value 0 is corrected.
class LossAverage {
 public:
  explicit LossAverage(double smoothing) : smoothing_(smoothing) {}
  double add(double loss) {
    sum_ = smoothing_ * sum_ + (1 - smoothing_) * loss;
    start_weight_ *= smoothing_;
    return sum_ / (1 - start_weight_);
  }

 private:
  double smoothing_, sum_ = 0, start_weight_ = 1;
};

double loss_in(const NamedValues& results) {
  for (const auto& [name, value] : results)
    if (name == "loss") return value;
  fail("find_learning_rate: the model's train_step gives no 'loss'");
}

/// The learning rate at which the averaged loss falls fastest as a function of log(rate), by
/// central differences; NaN when it never falls. Rates after the smallest average are ignored.
double steepest_rate_of(const LearningRateCurve& curve) {
  const auto lowest_average = std::min_element(curve.averages.begin(), curve.averages.end());
  double steepest_rate = std::numeric_limits<double>::quiet_NaN(), steepest_fall = 0;
  for (auto point = curve.averages.begin() + 1; point < lowest_average; ++point) {
    const double slope = point[1] - point[-1];
    if (slope >= steepest_fall) continue;
    steepest_fall = slope;
    steepest_rate = curve.rates[static_cast<size_t>(point - curve.averages.begin())];
  }
  return steepest_rate;
}

std::string summary_of(const LearningRateCurve& curve) {
  const auto lowest_average = std::min_element(curve.averages.begin(), curve.averages.end());
  const double lowest_loss_rate =
      curve.rates[static_cast<size_t>(lowest_average - curve.averages.begin())];
  const std::string rates_text =
      concat(curve.rates.size(), " learning rates from ", short_number(curve.rates.front()), " to ",
             short_number(curve.rates.back()), "; the smallest loss ",
             short_number(*lowest_average), " at ", short_number(lowest_loss_rate));
  if (std::isnan(curve.suggestion)) return rates_text + "; the loss never falls";
  return concat(rates_text, "; the loss falls fastest at ", short_number(curve.suggestion));
}

void check_range(const LearningRateOptions& options) {
  if (options.to <= options.from || options.from <= 0)
    fail("find_learning_rate: expected 0 < from < to, got from ", options.from, " to ", options.to);
  if (options.smoothing >= 1)
    fail("find_learning_rate: smoothing must be less than 1, got ", options.smoothing);
}

/// The learning rate of a step; the rates of all steps form a geometric sequence.
double rate_of_step(const LearningRateOptions& options, int64_t step) {
  const double fraction = static_cast<double>(step) / static_cast<double>(options.steps - 1);
  return options.from * std::pow(options.to / options.from, fraction);
}

/// Appends the rate and the loss of a batch to the curve; returns false when the loss has diverged.
bool add_point(LearningRateCurve& curve, double rate, double loss, double average,
               double divergence_factor) {
  if (!std::isfinite(average)) return false;
  curve.rates.push_back(rate);
  curve.losses.push_back(loss);
  curve.averages.push_back(average);
  const double smallest_average = *std::min_element(curve.averages.begin(), curve.averages.end());
  return smallest_average <= 0 || average <= divergence_factor * smallest_average;
}

}  // namespace

LearningRateCurve Model::find_learning_rate(const Tensors& x, const Tensors& y,
                                            const Dict& option_values) {
  const LongOperation operation;
  const MetricsScope metrics_scope(*this, "find_learning_rate");
  const StepLock lock(*this);
  const auto options = parse<LearningRateOptions>("find_learning_rate", option_values);
  check_compiled(*this);
  check_range(options);
  const Arrays arrays{x, y, {}};
  check_arrays(*this, arrays);
  Stepper stepper(*this);
  stepper.prepare(rows(arrays, 0, 1).x);
  Optimizer& optimizer = *training_->spec.optimizer;
  const Transaction transaction;  // the destructor restores the variables
  const RateScope rate_scope(optimizer);
  EndlessBatches batches(make_array_dataset(arrays, options.batch_size.value_or(kDefaultBatchSize),
                                            Shuffle::samples, &training_->runs.shuffle_order));
  LossAverage average(options.smoothing);
  LearningRateCurve curve;
  bool continues = true;
  for (int64_t step = 0; continues && step < options.steps; ++step) {
    heed_interruption("learning rates were tried");
    const double rate = rate_of_step(options, step);
    optimizer.set_learning_rate(rate);
    reset_metrics();
    stepper.train(batches.next());
    const double loss = loss_in(stepper.results());
    continues = add_point(curve, rate, loss, average.add(loss), options.diverged);
  }
  if (curve.rates.empty()) fail("find_learning_rate: the loss of the first batch is not finite");
  curve.suggestion = steepest_rate_of(curve);
  curve.lines = {summary_of(curve)};
  return curve;
}

}  // namespace crescent
