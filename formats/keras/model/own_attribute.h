// The name of the attribute of a file's root in which Crescent stores those parts of a model that
// the attributes of Keras cannot express. Keras ignores the attribute.
#pragma once

namespace crescent::keras {

inline constexpr const char* kOwnAttribute = "crescent";

}  // namespace crescent::keras
