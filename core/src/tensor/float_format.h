// How the floating numbers of a tensor are written: all in one way, with as many digits as tell
// each from its neighbours in the dtype, so many behind the point at most (the rules of NumPy).
#pragma once
#include <string>
#include <vector>

#include "crescent/tensor/tensor.h"

namespace crescent {

class FloatFormat {
 public:
  /// For these numbers: very large or small ones, and ones that are far apart, have exponents.
  FloatFormat(DType dtype, const std::vector<double>& numbers, int precision);
  /// "1.5  ": the fraction is filled with spaces, so that points are below each other.
  std::string text(double x) const;

 private:
  int digits_behind(double x) const;

  DType dtype_;
  int precision_;  ///< digits behind the point at most
  bool has_exponents_ = false;
  int digits_ = 0;  ///< behind the point
};

}  // namespace crescent
