// Picture: a target for drawing figures, such as an SVG file or the cells of a terminal. Targets
// are plugins of kind "picture"; all of them draw the same description of a figure, a Dict:
//
//   {"kind": "axes", "title": "fit", "xlabel": "epoch", "series": [{"y": TENSOR, "label": "loss"}]}
//   {"kind": "images", "pixels": TENSOR (images, height, width, 1|3|4), "columns": 4}
//   {"kind": "graph", "nodes": [...], "edges": [...]}
//
// plugins/pictures documents the kinds of figures and their keys.
#pragma once
#include <string>

#include "crescent/registry/registry.h"

namespace crescent {

class CRESCENT_API Picture : public Plain {
 public:
  static constexpr const char* kKind = "picture";
  ~Picture() override;
  /// Draws the figure and returns the bytes of a file, or the characters that a terminal shows.
  /// `options` are the size and the abilities of the terminal; an unknown option is an error.
  virtual std::string draw(const Dict& figure, const Dict& options) = 0;
};

/// Draws the figure in the format that the file name extension of the path names, and replaces the
/// file atomically. The error for an unknown extension lists the known ones.
CRESCENT_API void save_picture(const std::string& path, const Dict& figure,
                               const Dict& options = {});

}  // namespace crescent
