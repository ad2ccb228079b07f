// Learning rates as functions of the step.
#pragma once
#include <memory>
#include <string>

#include "crescent/registry/registry.h"
#include "crescent/tensor/tensor.h"

namespace crescent {

/// A learning rate as a function of the step number.
class CRESCENT_API Schedule : public Plain {
 public:
  static constexpr const char* kKind = "schedule";
  ~Schedule() override;
  virtual Tensor operator()(
      const Tensor& step) const = 0;  ///< maps an int64 scalar to a float32 scalar
};

/// The option learning_rate: a number or a Schedule.
struct CRESCENT_API LearningRate {
  LearningRate(double rate);
  LearningRate(const LearningRate&);
  LearningRate& operator=(const LearningRate&);
  ~LearningRate();
  double rate;
  std::shared_ptr<Schedule> schedule{};
};
template <>
struct CRESCENT_API Codec<LearningRate> {
  static constexpr const char* kKind = Schedule::kKind;
  static LearningRate decode(const Value& value);
  static Value encode(const LearningRate& member);
  static std::string type();
};

}  // namespace crescent
