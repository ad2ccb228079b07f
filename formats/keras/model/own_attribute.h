// The attribute of a file's root in which we say of a model what Keras' attributes have no words
// for. Keras ignores it.
#pragma once

namespace crescent::keras {

inline constexpr const char* kOwn = "crescent";

}  // namespace crescent::keras
