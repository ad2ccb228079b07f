// The title of a figure, in larger letters than its other texts.
#pragma once
#include <string>

#include "scene/scene.h"

namespace crescent::pictures {

double title_width(const Metrics& metrics, const std::string& title);
/// The title as an element of the scene, centred at `middle`; it is cut if it is wider than
/// `width`.
Text title_text(const Metrics& metrics, const std::string& title, Point middle, double width);

}  // namespace crescent::pictures
