// Formulas that are not the same in every generation of Keras. Which one a class computes by is an
// option or a name of ours: it is in no configuration of Keras, where the version says it.
#pragma once
#include <string>

#include "crescent/base/value.h"
#include "keras/export.h"

namespace crescent::keras {

/// An option for a formula that the target has no such option for. Where it has its default the
/// formula is Keras 3's.
bool chooses_formula(const std::string& class_name, const std::string& option, bool keras3);

/// "hard_sigmoid_keras2" -> "hard_sigmoid", which is its name in every Keras. `where` is an option,
/// or a kind of objects. Others stay as they are.
Value keras_name(const std::string& where, const Value& name);

/// Around a penalty that is not divided by the number of samples.
inline constexpr const char* kActivityKeras2 = "ActivityKeras2";
/// The option that it is for.
inline constexpr const char* kActivityRegularizer = "activity_regularizer";

/// From what is in a TimeDistributed, which Keras 3 calls without the penalty on its output.
CRESCENT_KERAS_API void leave_out_penalty(Value& inside);

/// The option of recurrent layers that says what a mask is for where states are given.
inline constexpr const char* kMaskWithStates = "mask_with_states";

/// Names of the layers of a file by Theano whose padding "same" it puts at other ends than
/// TensorFlow and we do.
CRESCENT_KERAS_API std::vector<std::string> padded_otherwise_by_theano(const Value& model);

}  // namespace crescent::keras
