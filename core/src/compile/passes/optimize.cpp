// optimize(): runs the passes in order.
#include <array>

#include "compile/passes/passes.h"
#include "compile/passes/post_ops.h"

namespace crescent {
namespace {

using namespace passes;

constexpr size_t kMaxRounds = 8;

/// Runs passes on a program and notifies an observer of changes.
class Passes {
 public:
  Passes(Program program, const PassObserver& observer)
      : program_(std::move(program)), observer_(observer) {}

  bool run(std::string_view name, const auto& pass) {
    const bool changed = pass(program_);
    if (changed && observer_) observer_(name, program_);
    return changed;
  }
  bool drop_dead_code() { return run("dead_code", dead_code); }

  /// Runs passes that create opportunities for each other, in turn, until none changes the program.
  void simplify() {
    struct NamedPass {
      const char* name;
      bool (*pass)(Program&);
    };
    constexpr std::array kPasses = {NamedPass{"constants", constants},
                                    NamedPass{"shapes", shapes},
                                    NamedPass{"algebra", algebra},
                                    NamedPass{"softmax", softmax},
                                    NamedPass{"pooling", pooling},
                                    NamedPass{"transposes", transposes},
                                    NamedPass{"common_subexpressions", common_subexpressions},
                                    NamedPass{"dead_code", dead_code}};
    size_t idle_pass_count = 0;  // number of consecutive passes that changed nothing
    for (size_t turn = 0; idle_pass_count < kPasses.size() && turn < kMaxRounds * kPasses.size();
         ++turn) {
      const NamedPass& next_pass = kPasses[turn % kPasses.size()];
      idle_pass_count = run(next_pass.name, next_pass.pass) ? 0 : idle_pass_count + 1;
    }
  }

  Program result() { return std::move(program_); }

 private:
  Program program_;
  const PassObserver& observer_;
};

}  // namespace

namespace passes {

Program optimize(Program program, bool inference, const Capabilities& capabilities,
                 const PassObserver& observer) {
  Passes p(std::move(program), observer);
  p.drop_dead_code();
  p.run("gathering", gathering);
  p.run("hoisting", hoisting);
  p.run("sinking", sinking);
  p.run("scans",
        [&](Program& input_program) { return scans(input_program, inference, capabilities); });
  p.simplify();
  p.run("chunked_losses", [](Program& input_program) { return chunked_losses(input_program); });
  while (inference && p.run("batch_norm", batch_norm)) p.drop_dead_code();
  while (capabilities.post_ops && p.run("epilogues", epilogues)) p.drop_dead_code();
  while (inference && capabilities.post_ops &&
         (p.run("residuals", residuals) || p.run("epilogues", epilogues)))
    p.drop_dead_code();
  if (capabilities.moments) p.run("normalization", normalization);
  while (capabilities.mixed && p.run("precision", precision)) p.drop_dead_code();
  p.simplify();
  if (capabilities.pooled) p.run("pool_argmax", pool_argmax);
  p.drop_dead_code();
  if (capabilities.pooled && p.run("pooled_convolutions", pooled_convolutions)) p.drop_dead_code();
  if (capabilities.fused) p.run("recomputation", recomputation);
  p.drop_dead_code();
  if (capabilities.fused) p.run("fusion", fusion);
  p.drop_dead_code();
  Program optimized = p.result();
  renumber(optimized);
#ifndef NDEBUG
  validate(optimized);
#endif
  return optimized;
}

Program optimize_part(Program decomposition, const Op& original_op, Capabilities capabilities) {
  const bool has_post_ops = as<WithPostOps>(original_op) || as<ConvPool>(original_op);
  capabilities.mixed = capabilities.pooled = false;
  capabilities.post_ops = capabilities.post_ops && !has_post_ops;
  capabilities.fused = capabilities.fused && !as<Fused>(original_op);
  return optimize(std::move(decomposition), false, capabilities);
}

}  // namespace passes

Program optimize(Program program, const OptimizeOptions& options) {
  const Device& target = options.device ? *options.device : device();
  return passes::optimize(std::move(program), options.inference, target.capabilities());
}

}  // namespace crescent
