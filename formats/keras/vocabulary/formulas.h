// Formulas that differ between generations of Keras. In Crescent an option or a name chooses the
// formula; in files of Keras the version determines it.
#pragma once
#include <string>

#include "crescent/base/value.h"
#include "keras/export.h"

namespace crescent::keras {

/// Whether an option exists only to choose between formulas of Keras generations, so that Keras has
/// no such option. Its default is the formula of Keras 3.
bool chooses_formula(const std::string& class_name, const std::string& option, bool keras3);

/// Replaces "hard_sigmoid_keras2" by "hard_sigmoid", the name of that function in all generations
/// of Keras. Other names are returned unchanged. `option_or_kind` is the option that has this name
/// as its value, or the kind of object that has the name.
Value keras_name(const std::string& option_or_kind, const Value& name);

/// The class that wraps a regularizer with the formula of Keras 2, whose penalty is not divided by
/// the number of samples.
inline constexpr const char* kActivityKeras2 = "ActivityKeras2";
/// The name of the option for activity regularizers.
inline constexpr const char* kActivityRegularizer = "activity_regularizer";

/// Removes the activity regularizer from `inner_layer`, the layer in a TimeDistributed, because
/// Keras 3 ignores it there.
CRESCENT_KERAS_API void leave_out_penalty(Value& inner_layer);

/// The option of recurrent layers that determines whether a mask applies to calls with initial
/// states.
inline constexpr const char* kMaskWithStates = "mask_with_states";

/// The names of those layers, in a file of Keras on Theano, whose padding "same" is distributed
/// over the sides in another way than in TensorFlow and Crescent.
CRESCENT_KERAS_API std::vector<std::string> padded_differently_by_theano(const Value& model);

}  // namespace crescent::keras
