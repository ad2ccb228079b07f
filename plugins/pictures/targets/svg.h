#pragma once
#include <string>

#include "scene/scene.h"

namespace crescent::pictures {

/// The scene as an SVG 1.1 document, which contains texts as text elements.
std::string svg_of(const Scene& scene);

}  // namespace crescent::pictures
