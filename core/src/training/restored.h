// Restores the values of variables.
#pragma once
#include "crescent/tensor/variable.h"

namespace crescent {

/// The destructor gives the variables the values that they had at construction.
class Restored {
 public:
  explicit Restored(Variables variables) : variables_(std::move(variables)) {
    for (const Variable& variable : variables_) values_.push_back(variable.value());
  }
  ~Restored() {
    for (size_t i = 0; i < variables_.size(); ++i) variables_[i].assign(values_[i]);
  }
  Restored(const Restored&) = delete;

 private:
  Variables variables_;
  Tensors values_;
};

}  // namespace crescent
