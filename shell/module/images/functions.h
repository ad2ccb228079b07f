// cr.utils.load_img and its neighbours.
#pragma once
#include <vector>

#include "crescent/data/images.h"
#include "values/callable.h"

namespace crescent::lua {

constexpr const char* kChannelsLast = "channels_last";

std::vector<CallablePtr> image_functions();
/// {height, width} or one number for both; nil: none.
std::optional<ImageSize> optional_size_at(int index);

}  // namespace crescent::lua
