// Dtype policies by the paths of layers, the DTypePolicyMap of Keras. The name of such a policy is
// the JSON of the map, so that a layer gives it to its sublayers in the same way as other policies.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

/// Makes the policy from the configuration of a DTypePolicyMap of Keras: the options default_policy
/// and policy_map, whose keys are paths of layers or regular expressions. The dtypes are those of
/// the default policy.
DTypePolicy policy_map_from(const Dict& config);
/// Returns a map of policies with the dtypes that the map gives a layer at this path; returns other
/// policies unchanged. Fails if several expressions of the map match the path.
DTypePolicy policy_at(const DTypePolicy& policy, const std::string& path);

}  // namespace crescent
