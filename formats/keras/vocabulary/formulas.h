// Formulas that differ between generations of Keras. In Crescent an option or a name chooses the
// formula; in files of Keras the version determines it.
#pragma once
#include <string>

#include "crescent/base/value.h"
#include "keras/export.h"

namespace crescent::keras {

/// Whether an option chooses a formula and has no counterpart in Keras. Its default is the formula
/// of Keras 3.
bool chooses_formula(const std::string& class_name, const std::string& option, bool keras3);

/// Replaces "hard_sigmoid_keras2" by "hard_sigmoid", its name in all generations of Keras. `where`
/// is an option or a kind. Other names are unchanged.
Value keras_name(const std::string& where, const Value& name);

/// The class that wraps a regularizer whose penalty is not divided by the number of samples.
inline constexpr const char* kActivityKeras2 = "ActivityKeras2";
/// The option of this regularizer.
inline constexpr const char* kActivityRegularizer = "activity_regularizer";

/// Removes the activity regularizer from the layer in a TimeDistributed, which Keras 3 ignores.
CRESCENT_KERAS_API void leave_out_penalty(Value& inside);

/// The option of recurrent layers that determines whether a mask applies to calls with initial
/// states.
inline constexpr const char* kMaskWithStates = "mask_with_states";

/// The names of layers in a file of the Theano backend whose padding "same" is at other ends than
/// in TensorFlow and Crescent.
CRESCENT_KERAS_API std::vector<std::string> padded_differently_by_theano(const Value& model);

}  // namespace crescent::keras
