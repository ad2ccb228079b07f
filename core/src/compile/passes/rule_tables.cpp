// The tables of rules, in the order in which optimize() runs their passes.
#include "compile/passes/passes.h"

namespace crescent::passes {

const RuleTable& shape_rules();
const RuleTable& algebra_rules();
const RuleTable& softmax_rules();
const RuleTable& pooling_rules();
const RuleTable& transpose_rules();
const RuleTable& batch_norm_rules();
const RuleTable& epilogue_rules();
const RuleTable& residual_rules();
const RuleTable& normalization_rules();
const RuleTable& precision_rules();

std::vector<const RuleTable*> rule_tables() {
  return {&shape_rules(),         &algebra_rules(),    &softmax_rules(),  &pooling_rules(),
          &transpose_rules(),     &batch_norm_rules(), &epilogue_rules(), &residual_rules(),
          &normalization_rules(), &precision_rules()};
}

}  // namespace crescent::passes
