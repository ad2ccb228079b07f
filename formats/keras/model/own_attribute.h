// The attribute of the root of a file with those parts of a model that the attributes of Keras
// cannot express. Keras ignores it.
#pragma once

namespace crescent::keras {

inline constexpr const char* kOwn = "crescent";

}  // namespace crescent::keras
