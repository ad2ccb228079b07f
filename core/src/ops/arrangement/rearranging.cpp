// rearrange: axes by name. "b (h w) c -> b h w c" splits the second axis; lengths that do not
// follow from the shape are given by name, h=2.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "crescent/ops/arguments.h"
#include "crescent/ops/shapes.h"

namespace crescent::ops {
namespace {

using AxisGroup = std::vector<std::string>;  // the names in one axis of a pattern; "(h w)" has two
using LengthMap = std::map<std::string, int64_t>;

constexpr const char* kRearrange = "rearrange";

std::vector<AxisGroup> groups_of(const std::string& side) {
  std::string spaced_text;
  for (char c : side)
    spaced_text += c == '(' || c == ')' ? std::string{' ', c, ' '} : std::string(1, c);
  std::vector<AxisGroup> groups;
  bool in_parentheses = false;
  std::istringstream words(spaced_text);
  for (std::string word; words >> word;) {
    const bool is_opening = word == "(", is_closing = word == ")";
    if (is_opening ? in_parentheses : is_closing && !in_parentheses)
      fail(kRearrange, ": brackets in '", side, "' do not match");
    if (is_opening) groups.emplace_back();
    if (is_opening || is_closing)
      in_parentheses = is_opening;
    else if (in_parentheses)
      groups.back().push_back(word);
    else
      groups.push_back({word});
  }
  if (in_parentheses) fail(kRearrange, ": brackets in '", side, "' do not match");
  return groups;
}

AxisGroup axis_names_in(const std::vector<AxisGroup>& groups) {
  AxisGroup names;
  for (const AxisGroup& group : groups) names.insert(names.end(), group.begin(), group.end());
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size())
    fail(kRearrange, ": an axis is named twice on one side of the pattern");
  return names;
}

/// Computes the one unknown length of a group from the length of its axis.
void infer_unknown_length(const AxisGroup& group, int64_t length, LengthMap& lengths) {
  const std::string* unknown_name = nullptr;
  int64_t known_product = 1;
  for (const std::string& name : group) {
    if (const auto entry = lengths.find(name); entry != lengths.end())
      known_product *= entry->second;
    else if (unknown_name)
      fail(kRearrange, ": give the length of '", *unknown_name, "' or of '", name, "' by name");
    else
      unknown_name = &name;
  }
  if (length < 0 && unknown_name) {
    if (group.size() > 1 && known_product < 1) fail(kRearrange, ": lengths must be at least 1");
    lengths[*unknown_name] = -1;
    return;
  }
  const bool is_valid =
      length < 0 ||
      (unknown_name ? known_product > 0 && length % known_product == 0 : known_product == length);
  if (!is_valid)
    fail(kRearrange, ": (", join(group, " "), ") does not fit an axis of length ", length);
  if (unknown_name) lengths[*unknown_name] = length / known_product;
}

Shape shape_of(const AxisGroup& names, const LengthMap& lengths) {
  Shape shape;
  for (const std::string& name : names) shape.append(lengths.at(name));
  return shape;
}

int64_t length_of(const AxisGroup& group, const LengthMap& lengths) {
  int64_t product = 1;
  for (const std::string& name : group) {
    const int64_t length = lengths.at(name);
    product = length < 0 || product < 0 ? -1 : product * length;
  }
  return product;
}

LengthMap lengths_in(std::span<const std::pair<std::string, int64_t>> named_lengths,
                     const AxisGroup& names) {
  LengthMap lengths;
  for (const auto& [name, length] : named_lengths) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      fail(kRearrange, ": no axis '", name, "' on the left of the pattern",
           did_you_mean(name, names));
    if (length < 1) fail(kRearrange, ": expected the length of '", name, "', got ", length);
    lengths[name] = length;
  }
  return lengths;
}

}  // namespace

Tensor rearrange(const Tensor& x, const std::string& pattern,
                 std::span<const std::pair<std::string, int64_t>> axes_lengths) {
  const size_t arrow_index = pattern.find("->");
  if (arrow_index == std::string::npos)
    fail(kRearrange, ": expected a pattern such as 'b h w -> b w h', got '", pattern, "'");
  const std::vector<AxisGroup> source_groups = groups_of(pattern.substr(0, arrow_index)),
                               target_groups = groups_of(pattern.substr(arrow_index + 2));
  const AxisGroup axes_before = axis_names_in(source_groups),
                  axes_after = axis_names_in(target_groups);
  if (!std::is_permutation(axes_before.begin(), axes_before.end(), axes_after.begin(),
                           axes_after.end()))
    fail(kRearrange, ": both sides of '", pattern, "' must name the same axes");
  if (static_cast<int>(source_groups.size()) != x.rank())
    fail(kRearrange, ": '", pattern, "' has ", source_groups.size(),
         " axes on the left, the tensor has shape ", x.shape());
  LengthMap lengths = lengths_in(axes_lengths, axes_before);
  for (size_t i = 0; i < source_groups.size(); ++i)
    infer_unknown_length(source_groups[i], x.dim(static_cast<int>(i)), lengths);
  std::vector<int> order;
  for (const std::string& name : axes_after)
    order.push_back(static_cast<int>(std::find(axes_before.begin(), axes_before.end(), name) -
                                     axes_before.begin()));
  Shape result_shape;
  for (const AxisGroup& group : target_groups) result_shape.append(length_of(group, lengths));
  const Tensor split_x = ops::reshape(x, shape_of(axes_before, lengths));
  return ops::reshape(order.empty() ? split_x : ops::transpose(split_x, order), result_shape);
}

}  // namespace crescent::ops
