// Scans: the body of a loop over time is a program of its own.
#include <unordered_map>

#include "program/passes/passes.h"
#include "program/passes/rewriting.h"

namespace crescent::passes {

bool scans(Program& program, const OptimizeOptions& options) {
  std::unordered_map<const Program*, std::shared_ptr<const Program>> bodies;
  for (Program::Instruction& i : program.code) {
    auto* scan = as<Scan>(*i.op);
    if (!scan) continue;
    auto& body = bodies[scan->body.get()];
    if (!body) body = std::make_shared<const Program>(optimize(*scan->body, options));
    auto optimized = std::make_shared<Scan>(*scan);
    optimized->body = body;
    i.op = std::move(optimized);
  }
  return !bodies.empty();
}

}  // namespace crescent::passes
