// Complex tensors: construction, real and imaginary parts, conversion.
#include "crescent/ops/elementwise.h"

#include "crescent/registry/registration.h"
#include "shared/shared.h"

namespace crescent::operations {

CRESCENT_REGISTER(complex) {
  Operations(registry, "keras.src.ops.numpy")
      .add("Real", "real(x)", &ops::real, "The real part.")
      .add("Imag", "imag(x)", &ops::imag, "The imaginary part.")
      .add("Conj", "conj(x)", &ops::conj, "The imaginary part with the other sign.")
      .add("Conjugate", "conjugate(x)", &ops::conjugate, "The same as conj.")
      .add("Angle", "angle(x)", &ops::angle, "Of real numbers 0, and pi for negative ones.")
      .add("Isreal", "isreal(x)", &ops::isreal, "Whether the imaginary part is 0.");
  Operations(registry, "keras.src.ops.math")
      .add("ViewAsComplex", "view_as_complex(x)", &ops::view_as_complex,
           "Pairs along the last axis as complex numbers.")
      .add("ViewAsReal", "view_as_real(x)", &ops::view_as_real,
           "Complex numbers as pairs along a new last axis.");
  Operations(registry, "keras.src.ops.nn")
      .add("Polar", "polar(abs_, angle)", &ops::polar, "Complex numbers of this length and angle.");
}

}  // namespace crescent::operations
