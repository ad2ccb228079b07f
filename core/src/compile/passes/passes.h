// Passes: rewritings of a program that do not change its results. Each pass returns true if it
// changed the program; optimize() (program.h) runs those that suit the device in order, and repeats
// the cheap ones until none changes the program.
#pragma once
#include <functional>

#include "crescent/program/program.h"

namespace crescent::passes {

class RuleTable;

/// Drops instructions and constants whose values are not needed, and variables that are neither
/// read nor written. Instructions with Effect::ordered are always needed.
CRESCENT_API bool dead_code(Program& program);
/// Computes equal ops without effect on equal values once.
CRESCENT_API bool common_subexpressions(Program& program);
/// Computes small instructions with constant inputs at compile time (constant folding).
CRESCENT_API bool constants(Program& program);
/// Applies elementwise identities: x * 1, x ** 2, --x, select with a known condition, chains of
/// casts. Moves elementwise ops on a broadcast operand before the broadcast.
CRESCENT_API bool algebra(Program& program);
/// Removes reshapes, transposes, broadcasts and slices that have no effect, merges chains of them,
/// and simplifies reductions over axes that were broadcast.
CRESCENT_API bool shapes(Program& program);
/// Joins log and softmax to one op. From the gradient with respect to the result of a softmax,
/// drops a term that is equal for all classes: it cancels in the gradient with respect to the
/// input.
CRESCENT_API bool softmax(Program& program);
/// Moves ops that follow the gradient of a pooling (the mask of a relu, the sum of a bias gradient)
/// to before it, where there are fewer elements.
CRESCENT_API bool pooling(Program& program);
/// Makes max pooling output argmax indices, from which its gradient is computed without reading the
/// images.
CRESCENT_API bool pool_argmax(Program& program);
/// Makes a convolution store only the maxima if only a max pooling reads its result.
CRESCENT_API bool pooled_convolutions(Program& program);
/// Replaces transposes of matrices by the transpose flags of the products around them.
CRESCENT_API bool transposes(Program& program);
/// In inference, multiplies the scale per channel after a convolution or product into the kernel,
/// which is smaller. The program reads the kernel from its variable, so weights that are assigned
/// later take effect.
CRESCENT_API bool batch_norm(Program& program);
/// Merges bias and activation into the preceding product or convolution, and the mask of a relu
/// into the convolution gradient that it is applied to.
CRESCENT_API bool epilogues(Program& program);
/// In inference, merges an array that is added to the result of a convolution into the convolution.
CRESCENT_API bool residuals(Program& program);
/// In training, decomposes batch norm into elementwise ops and moments, which a preceding
/// convolution outputs.
CRESCENT_API bool normalization(Program& program);
/// Merges casts of operands to bfloat16 and of the result to float32 into the product.
CRESCENT_API bool precision(Program& program);
/// Lets each reader of a value recompute the value, if that is cheap and needs only values that are
/// in memory.
CRESCENT_API bool recomputation(Program& program);
/// Gathers divided variables, of which each process stores a part, again before later readers, so
/// that no whole weight stays in memory from the forward to the backward pass.
CRESCENT_API bool gathering(Program& program);
/// The largest number of bytes of logits that chunked_losses() leaves as they are.
inline constexpr int64_t kMaxLogitBytes = int64_t{128} << 20;
/// Computes larger logits, and the losses and gradients that read them, for a few rows at a time.
CRESCENT_API bool chunked_losses(Program& program, int64_t max_bytes = kMaxLogitBytes);
/// Merges connected elementwise instructions of one shape into one instruction, whose results are
/// the values that are read elsewhere.
CRESCENT_API bool fusion(Program& program);
/// Moves computations that are equal in all steps of a scan to before the scan.
CRESCENT_API bool hoisting(Program& program);
/// Moves sums over the steps of a scan to after the scan, and with them computations of step
/// outputs that no step reads.
CRESCENT_API bool sinking(Program& program);
/// Optimizes the bodies of scans, which are programs of their own.
CRESCENT_API bool scans(Program& program, bool inference, const Capabilities& capabilities);

/// The rule tables of the passes that rewrite by rules.
CRESCENT_API std::vector<const RuleTable*> rule_tables();

/// A function that is called with the name of each pass that changed the program, and the program
/// after the pass.
using PassObserver = std::function<void(std::string_view pass, const Program& program)>;
/// Runs the passes for a device with these capabilities.
CRESCENT_API Program optimize(Program program, bool inference, const Capabilities& capabilities,
                              const PassObserver& observer = {});
/// Runs the passes on the decomposition of `original_op`, an op that the device does not support,
/// without the passes that would make that op again.
Program optimize_part(Program decomposition, const Op& original_op, Capabilities capabilities);

/// Renumbers the values in order, without gaps.
CRESCENT_API void renumber(Program& program);
/// Fails, naming the instruction, unless every value is computed exactly once, before its use, with
/// the spec that its op infers.
CRESCENT_API void validate(const Program& program);

}  // namespace crescent::passes
