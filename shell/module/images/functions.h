// The functions of cr.utils for images, such as load_img.
#pragma once
#include <vector>

#include "crescent/data/images.h"
#include "values/callable.h"

namespace crescent::lua {

constexpr const char* kChannelsLast = "channels_last";

std::vector<CallablePtr> image_functions();
/// The size at `index`, {height, width} or one number for both; nullopt for nil.
std::optional<ImageSize> optional_size_at(int index);

}  // namespace crescent::lua
