// The names of the groups for a list of layers in the layout of Keras 3: the class name in snake
// case, followed by a number from the second layer of a class on.
#pragma once
#include <map>
#include <string>

#include "keras/export.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

/// Converts a class name as Keras 3 does: "ConvLSTM2D" to "conv_lstm2d". Keras 2 and tf.keras
/// convert it to "conv_lst_m2d", and so do the names of layers in Crescent.
CRESCENT_KERAS_API std::string keras3_snake_case(const std::string& class_name);

class GroupNames {
 public:
  /// Makes names for a list of layers that is written.
  GroupNames() = default;
  /// Makes the names that the layers have in `group` of an existing file. tf.keras, whose names
  /// differ from those of Keras 3, may have written the file.
  GroupNames(WeightSource& file, std::string group) : file_(&file), group_(std::move(group)) {}

  /// The name of the next layer in the list.
  std::string next(const std::string& class_name);

 private:
  std::string base_of(const std::string& class_name);

  WeightSource* file_ = nullptr;
  std::string group_;
  std::map<std::string, std::string> base_names_;  // by class: "Dense" -> "dense"
  std::map<std::string, int> counts_;
};

}  // namespace crescent::keras
