// Complex tensors: construction, real and imaginary parts, conversion.
#include "crescent/ops/elementwise.h"

#include "crescent/registry/registration.h"
#include "shared/shared.h"

namespace crescent::operations {

CRESCENT_REGISTER(complex) {
  Operations(registry, "keras.src.ops.numpy")
      .add("Real", "real(x)", &ops::real, "The real part of complex numbers.")
      .add("Imag", "imag(x)", &ops::imag, "The imaginary part of complex numbers.")
      .add("Conj", "conj(x)", &ops::conj, "The complex conjugate.")
      .add("Conjugate", "conjugate(x)", &ops::conjugate, "The same as conj.")
      .add("Angle", "angle(x)", &ops::angle,
           "The angle of complex numbers in radians; of real numbers 0, or pi for negative ones.")
      .add("Isreal", "isreal(x)", &ops::isreal,
           "Whether the imaginary part is 0, element by element.");
  Operations(registry, "keras.src.ops.math")
      .add("ViewAsComplex", "view_as_complex(x)", &ops::view_as_complex,
           "Pairs along the last axis as complex numbers.")
      .add("ViewAsReal", "view_as_real(x)", &ops::view_as_real,
           "Complex numbers as pairs {real, imaginary} along a new last axis.");
  Operations(registry, "keras.src.ops.nn")
      .add("Polar", "polar(abs_, angle)", &ops::polar,
           "Complex numbers with these absolute values and angles.");
}

}  // namespace crescent::operations
