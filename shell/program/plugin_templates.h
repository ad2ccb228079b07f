// The files of examples/plugins, which the build embeds in the program.
#pragma once
#include <span>

namespace crescent::program {

struct PluginTemplate {
  const char *kind, *file, *text;  ///< "layer", "swish.cpp", its content
};

std::span<const PluginTemplate> plugin_templates();

}  // namespace crescent::program
