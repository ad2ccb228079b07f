#include "crescent/base/error.h"
#include "figure.h"
namespace crescent::pictures {
Scene layout_graph(const Dict&, const Metrics&, Size) { fail("not yet"); }
}  // namespace crescent::pictures
