// FloatFormat: how the floating-point numbers of a tensor are printed, by the rules of NumPy. All
// numbers have the same format. It has enough digits to distinguish each number from its neighbours
// in the dtype, but at most `precision` digits.
#pragma once
#include <string>
#include <vector>

#include "crescent/tensor/tensor.h"

namespace crescent {

class FloatFormat {
 public:
  /// Chooses the format for these numbers; it has exponents if numbers are very large, very small
  /// or of very different magnitude.
  FloatFormat(DType dtype, const std::vector<double>& numbers, int precision);
  /// Returns the text of a number, such as "1.5  ": the fraction is padded with spaces, so that
  /// decimal points are aligned.
  std::string text(double x) const;

 private:
  int digits_after_point(double x) const;

  DType dtype_;
  int precision_;  ///< maximum number of digits after the point
  bool has_exponents_ = false;
  int digits_ = 0;  ///< digits after the point
};

}  // namespace crescent
