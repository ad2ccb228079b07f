// cr.utils.load_img and its neighbours.
#pragma once
#include <vector>

#include "images/pictures.h"
#include "values/callable.h"

namespace crescent::lua {

std::vector<CallablePtr> image_functions();
/// {height, width} or one number for both.
ImageSize size_at(lua_State* L, int index);

}  // namespace crescent::lua
