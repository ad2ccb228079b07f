// Datasets that plugins provide as classes of kind "dataset". Plugins do not see this header: it is
// not installed, and the hash of headers in their stamps (stamp.h) leaves it out.
#pragma once
#include "crescent/data/stream.h"

namespace crescent {

/// Makes an object of this class of kind "dataset" and returns the dataset that its method `stream`
/// gives; fails if it gives none. Errors of the dataset name the class and its plugin.
CRESCENT_API StreamPtr provided_dataset(const std::string& class_name, const Dict& options);

}  // namespace crescent
