// Scans: runs the passes on the bodies of loops over time. If nothing reads the states before every
// step, the scan does not output them.
#include <algorithm>
#include <unordered_map>

#include "compile/passes/passes.h"
#include "compile/passes/rewriting/rewriting.h"

namespace crescent::passes {

bool scans(Program& program, bool inference, const Capabilities& capabilities) {
  std::unordered_map<const Program*, std::shared_ptr<const Program>> bodies;
  const std::vector<bool> is_read = values_read(program);
  for (Program::Instruction& i : program.code) {
    auto* scan = as<Scan>(*i.op);
    if (!scan) continue;
    auto& body = bodies[scan->body.get()];
    if (!body)
      body = std::make_shared<const Program>(optimize(*scan->body, inference, capabilities));
    auto optimized = std::make_shared<Scan>(*scan);
    optimized->body = body;
    const auto states_begin =
        i.outputs.begin() + static_cast<ptrdiff_t>(scan->body->outputs.size());
    if (scan->keep_states &&
        std::none_of(states_begin, i.outputs.end(), [&](int value) { return is_read[value]; })) {
      optimized->keep_states = false;
      i.outputs.erase(states_begin, i.outputs.end());
    }
    i.op = std::move(optimized);
  }
  return !bodies.empty();
}

}  // namespace crescent::passes
