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
  std::vector<std::string> matching_patterns;
  const WeightLayout* layout = nullptr;
  for (size_t i = 0; i < list.size(); ++i) {
    const bool is_exact_path = list[i].pattern == path;
    if (!is_exact_path && !patterns[i].found_in(path)) continue;
    layout = &list[i];
    matching_patterns.push_back(concat("'", list[i].pattern, "'"));
    if (is_exact_path) break;
  }
  if (!layout) return std::nullopt;
  if (matching_patterns.size() > 1 && layout->pattern != path)
    fail("Path '", path, "' matches multiple layout specification keys: ", join(matching_patterns),
         ". Please make sure each tensor/variable path only matches at most one layout "
         "specification key in the LayoutMap.");
  if (layout->rank > shape.rank())
    fail("LayoutMap: the layout '", layout->pattern, "' has ", layout->rank, " axes, and weight '",
         path, "' has shape ", shape);
  const std::optional<Division>& division = layout->division;
  const bool covers_all_processes = division && division->processes == communicator()->size();
  return covers_all_processes ? division : std::nullopt;
}

// ---- divided variables

Shape part_shape(const Division& division, const Shape& whole_shape) {
  const int part_index = division.part_of(communicator()->rank());
  const int64_t axis_size = whole_shape[division.axis];
  Shape own_shape = whole_shape;
  own_shape.set(division.axis,
                division.begin(part_index + 1, axis_size) - division.begin(part_index, axis_size));
  return own_shape;
}

Tensor own_part(const Tensor& whole_value, const Division& division) {
  const int part_index = division.part_of(communicator()->rank());
  const int64_t axis_size = whole_value.dim(division.axis);
  return ops::slice_axis(whole_value, division.axis, division.begin(part_index, axis_size),
                         division.begin(part_index + 1, axis_size));
}

void divide(const Variable& variable, const Division& division) {
  const NoGradient no_gradient;
  const Shape whole_shape = variable.shape();
  const Tensor value = variable.value().clone(nullptr);
  communicator()->broadcast(value.storage()->host(), value.bytes(), 0);
  declare_divided(variable, division, whole_shape, own_part(value, division));
}

bool any_divided(const Variables& variables) {
  return std::any_of(variables.begin(), variables.end(),
                     [](const Variable& v) { return division_of(v) != nullptr; });
}

Tensor sum_over_parts(const Variable& variable, const Tensor& own_sum) {
  const Division* division = division_of(variable);
  return division ? ops::all_reduce(own_sum * (1.0 / division->copies())) : own_sum;
}

GatheredValues::GatheredValues(const Variables& variables) : outer_values_(nullptr) {
  const NoGradient no_gradient;
  const bool keeps_values = communicator()->rank() == 0;
  for (const Variable& variable : variables) {
    const Tensor value = variable.value();
    if (keeps_values) values_.emplace_back(variable, value);
  }
  outer_values_ = std::exchange(gathered_values, this);
}

GatheredValues::~GatheredValues() { gathered_values = outer_values_; }

Tensor GatheredValues::of(const Variable& variable) {
  if (!gathered_values) return {};
  for (const auto& [gathered_variable, value] : gathered_values->values_)
    if (gathered_variable == variable) return value;
  return {};
}

}  // namespace crescent
