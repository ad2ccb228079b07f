#pragma once
#include <string>

#include "scene/scene.h"

namespace crescent::pictures {

/// The scene as a document of SVG 1.1, with texts as texts.
std::string svg_of(const Scene& scene);

}  // namespace crescent::pictures
