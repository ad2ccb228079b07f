// The variables on which the bits of the following training steps depend, in the groups in which
// snapshots of training runs hold them.
#pragma once
#include "crescent/model/model.h"

namespace crescent {

/// Variables that are saved together under one name.
struct VariableGroup {
  const char* name;
  Variables variables;
  /// The owner of each variable; empty if the paths of the variables name the owners.
  std::vector<std::string> owners{};

  void add(const std::string& owner, const Variable& variable) {
    owners.push_back(owner);
    variables.push_back(variable);
  }
};

/// The groups of variables that a saved model contains.
std::vector<VariableGroup> groups_of_model(Model& model);
/// The groups of variables that exist only during a training run; a saved model does not contain
/// them.
std::vector<VariableGroup> groups_of_run(Model& model);

}  // namespace crescent
