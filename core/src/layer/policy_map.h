// Dtype policies by the paths of layers, the DTypePolicyMap of Keras. The name of such a policy is
// the map as JSON, so a layer passes it to its sublayers by name, like other policies.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

/// Makes the policy from the configuration of a DTypePolicyMap of Keras: the options default_policy
/// and policy_map, whose keys are paths of layers or regular expressions. The dtypes of the result
/// are those of the default policy.
DTypePolicy policy_map_from(const Dict& config);
/// Returns the policy of a layer at this path. If `policy` is a policy map, the result has the name
/// of the map and the dtypes of the map's entry for the path; otherwise it is `policy`. Fails if
/// several expressions of the map match the path.
DTypePolicy policy_at(const DTypePolicy& policy, const std::string& path);

}  // namespace crescent
