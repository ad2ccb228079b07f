// Passes: rewritings of a program that leave what it computes as it is. Each gives true when it
// changed anything; optimize() (program.h) runs those that suit the device in order, the cheap ones
// until nothing changes any more.
#pragma once
#include <functional>

#include "crescent/program/program.h"

namespace crescent::passes {

class RuleTable;

/// Drops instructions and constants nobody needs, and variables that are neither read nor written.
/// What is Effect::ordered is needed.
CRESCENT_API bool dead_code(Program& program);
/// Computes equal things once: the same op on the same values, without an effect.
CRESCENT_API bool common_subexpressions(Program& program);
/// Runs small instructions whose inputs are all constant, now.
CRESCENT_API bool constants(Program& program);
/// Elementwise identities: x * 1, x ** 2, --x, select with a known condition, chains of casts; work
/// on a broadcast tensor is done before it is broadcast.
CRESCENT_API bool algebra(Program& program);
/// Identities of shapes: chains and no-ops of reshape, transpose, broadcast, slice; reductions of
/// repeated values.
CRESCENT_API bool shapes(Program& program);
/// log(softmax) as one op; the gradient of softmax forgets what is the same for all classes.
CRESCENT_API bool softmax(Program& program);
/// What follows the gradient of a pooling (the mask of a relu, the sum for a bias) is done before
/// it, on fewer elements.
CRESCENT_API bool pooling(Program& program);
/// The gradient of max pooling goes to the elements that the pooling found, without the images.
CRESCENT_API bool pool_argmax(Program& program);
/// A convolution of which only the greatest elements of windows are needed stores only those.
CRESCENT_API bool pooled_convolutions(Program& program);
/// Transposes of matrices become flags of the products around them.
CRESCENT_API bool transposes(Program& program);
/// Inference: a scale per channel behind a convolution or product scales the (smaller) kernel
/// instead. Variables stay variables, so that weights assigned later count.
CRESCENT_API bool batch_norm(Program& program);
/// Bias and activation become part of the product or convolution before them, the mask of a relu
/// part of the gradient of a convolution that it is applied to.
CRESCENT_API bool epilogues(Program& program);
/// Inference: what is added to the result of a convolution becomes part of it.
CRESCENT_API bool residuals(Program& program);
/// Training: batch norm becomes elementwise work and the moments of its input, which a convolution
/// before it gives.
CRESCENT_API bool normalization(Program& program);
/// Casts to bfloat16 before a product and to float32 behind it become part of the product.
CRESCENT_API bool precision(Program& program);
/// Values that are cheap to compute from what is in memory anyway are computed again by each
/// instruction that reads them.
CRESCENT_API bool recomputation(Program& program);
/// Elementwise instructions of one shape that lie together become one, with as many results as are
/// needed elsewhere.
CRESCENT_API bool fusion(Program& program);
/// What the steps of a scan have in common is computed before it.
CRESCENT_API bool hoisting(Program& program);
/// What the steps of a scan only add up, or make for nobody but its result, is computed behind it.
CRESCENT_API bool sinking(Program& program);
/// Optimises the bodies of scans, which are programs of their own.
CRESCENT_API bool scans(Program& program, bool inference, const Capabilities& can);

/// The rules of the passes above that rewrite by rules.
CRESCENT_API std::vector<const RuleTable*> rule_tables();

/// Told the name of each pass that changed the program, and what it is then.
using PassObserver = std::function<void(std::string_view pass, const Program& program)>;
/// The passes for a device that can do this.
CRESCENT_API Program optimize(Program program, bool inference, const Capabilities& can,
                              const PassObserver& observer = {});
/// The passes for what `whole` decomposes into, which a device did not take as it was: they make
/// nothing of it again.
Program optimize_part(Program part, const Op& whole, Capabilities can);

/// Numbers the values afresh, in order, without gaps.
CRESCENT_API void renumber(Program& program);
/// Fails, saying where, unless every value is made exactly once and before its use, with the spec
/// that its op infers.
CRESCENT_API void validate(const Program& program);

}  // namespace crescent::passes
