// Picture: a way to draw figures, such as a file of SVG or the cells of a terminal. Ways are
// plugins of kind "picture"; what is drawn is described once, by a Dict, whoever draws it:
//
//   {"kind": "axes", "title": "fit", "xlabel": "epoch", "series": [{"y": TENSOR, "label": "loss"}]}
//   {"kind": "images", "pixels": TENSOR (images, height, width, 1|3|4), "columns": 4}
//   {"kind": "graph", "nodes": [...], "edges": [...]}
//
// plugins/pictures says what each kind has.
#pragma once
#include <string>

#include "crescent/registry/registry.h"

namespace crescent {

class CRESCENT_API Picture : public Plain {
 public:
  static constexpr const char* kKind = "picture";
  ~Picture() override;
  /// Returns the bytes of the drawn figure: those of a file, or those that a terminal shows.
  /// `options` are the size and what the target can show; an unknown one is an error.
  virtual std::string draw(const Dict& figure, const Dict& options) = 0;
};

/// Draws the figure in the way that the ending of the path names and replaces the file atomically;
/// an ending that no class has is an error that names those there are.
CRESCENT_API void save_picture(const std::string& path, const Dict& figure,
                               const Dict& options = {});

}  // namespace crescent
