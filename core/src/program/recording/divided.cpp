#include "program/recording/divided.h"

#include <algorithm>
#include <utility>

#include "crescent/base/pattern.h"
#include "crescent/ops/ops.h"
#include "crescent/program/communicator.h"
#include "crescent/program/gradient.h"

namespace crescent {
namespace {

thread_local GatheredValues* gathered_values = nullptr;

struct Layouts {
  std::vector<WeightLayout> list;
  std::vector<Pattern> patterns;  ///< patterns[i] is the compiled pattern of list[i]
};

Layouts& layouts_in_use() {
  static Layouts layouts;
  return layouts;
}

}  // namespace

// ---- layouts

void set_layouts(std::vector<WeightLayout> layouts) {
  std::vector<Pattern> patterns;
  for (const WeightLayout& layout : layouts) patterns.emplace_back(layout.pattern, "LayoutMap");
  layouts_in_use() = {std::move(layouts), std::move(patterns)};
}

const std::vector<WeightLayout>& layouts() { return layouts_in_use().list; }

std::optional<Division> division_for(const std::string& path, const Shape& shape) {
  const auto& [list, patterns] = layouts_in_use();
  std::vector<std::string> matching;
  const WeightLayout* found = nullptr;
  for (size_t i = 0; i < list.size(); ++i) {
    const bool is_path = list[i].pattern == path;
    if (!is_path && !patterns[i].found_in(path)) continue;
    found = &list[i];
    matching.push_back(concat("'", list[i].pattern, "'"));
    if (is_path) break;
  }
  if (!found) return std::nullopt;
  if (matching.size() > 1 && found->pattern != path)
    fail("Path '", path, "' matches multiple layout specification keys: ", join(matching),
         ". Please make sure each tensor/variable path only matches at most one layout "
         "specification key in the LayoutMap.");
  if (found->rank > shape.rank())
    fail("LayoutMap: the layout '", found->pattern, "' has ", found->rank, " axes, and weight '",
         path, "' has shape ", shape);
  const std::optional<Division>& division = found->division;
  const bool is_together = division && division->processes == communicator()->size();
  return is_together ? division : std::nullopt;
}

// ---- divided variables

Shape part_shape(const Division& division, const Shape& whole) {
  const int part = division.part_of(communicator()->rank());
  const int64_t size = whole[division.axis];
  Shape own = whole;
  own.set(division.axis, division.begin(part + 1, size) - division.begin(part, size));
  return own;
}

Tensor own_part(const Tensor& whole, const Division& division) {
  const int part = division.part_of(communicator()->rank());
  const int64_t size = whole.dim(division.axis);
  return ops::slice_axis(whole, division.axis, division.begin(part, size),
                         division.begin(part + 1, size));
}

void divide(const Variable& variable, const Division& division) {
  const NoGradient no_gradient;
  const Shape whole = variable.shape();
  const Tensor value = variable.value().clone(nullptr);
  communicator()->broadcast(value.storage()->host(), value.bytes(), 0);
  declare_divided(variable, division, whole, own_part(value, division));
}

bool any_divided(const Variables& variables) {
  return std::any_of(variables.begin(), variables.end(),
                     [](const Variable& v) { return division_of(v) != nullptr; });
}

Tensor sum_over_parts(const Variable& variable, const Tensor& own) {
  const Division* division = division_of(variable);
  return division ? ops::all_reduce(own * (1.0 / division->copies())) : own;
}

GatheredValues::GatheredValues(const Variables& variables) : outer_(nullptr) {
  const NoGradient no_gradient;
  const bool keeps = communicator()->rank() == 0;
  for (const Variable& variable : variables) {
    const Tensor value = variable.value();
    if (keeps) values_.emplace_back(variable, value);
  }
  outer_ = std::exchange(gathered_values, this);
}

GatheredValues::~GatheredValues() { gathered_values = outer_; }

Tensor GatheredValues::of(const Variable& variable) {
  if (!gathered_values) return {};
  for (const auto& [known, value] : gathered_values->values_)
    if (known == variable) return value;
  return {};
}

}  // namespace crescent
