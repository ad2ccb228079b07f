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

using Group = std::vector<std::string>;  // the names in one axis of a pattern; "(h w)" has two
using Lengths = std::map<std::string, int64_t>;

constexpr const char* kRearrange = "rearrange";

std::vector<Group> groups_of(const std::string& side) {
  std::string spaced;
  for (char c : side) spaced += c == '(' || c == ')' ? std::string{' ', c, ' '} : std::string(1, c);
  std::vector<Group> groups;
  bool in_parentheses = false;
  std::istringstream words(spaced);
  for (std::string word; words >> word;) {
    const bool opens = word == "(", closes = word == ")";
    if (opens ? in_parentheses : closes && !in_parentheses)
      fail(kRearrange, ": brackets in '", side, "' do not match");
    if (opens) groups.emplace_back();
    if (opens || closes)
      in_parentheses = opens;
    else if (in_parentheses)
      groups.back().push_back(word);
    else
      groups.push_back({word});
  }
  if (in_parentheses) fail(kRearrange, ": brackets in '", side, "' do not match");
  return groups;
}

Group flattened(const std::vector<Group>& groups) {
  Group names;
  for (const Group& group : groups) names.insert(names.end(), group.begin(), group.end());
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size())
    fail(kRearrange, ": an axis is named twice on one side of the pattern");
  return names;
}

/// Computes the one unknown length of a group from the length of its axis.
void infer_unknown_length(const Group& group, int64_t length, Lengths& lengths) {
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

Shape shape_of(const Group& names, const Lengths& lengths) {
  Shape shape;
  for (const std::string& name : names) shape.append(lengths.at(name));
  return shape;
}

int64_t length_of(const Group& group, const Lengths& lengths) {
  int64_t known_product = 1;
  for (const std::string& name : group) {
    const int64_t length = lengths.at(name);
    known_product = length < 0 || known_product < 0 ? -1 : known_product * length;
  }
  return known_product;
}

Lengths lengths_in(std::span<const std::pair<std::string, int64_t>> given, const Group& names) {
  Lengths lengths;
  for (const auto& [name, length] : given) {
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
  const size_t arrow = pattern.find("->");
  if (arrow == std::string::npos)
    fail(kRearrange, ": expected a pattern such as 'b h w -> b w h', got '", pattern, "'");
  const std::vector<Group> source_groups = groups_of(pattern.substr(0, arrow)),
                           to = groups_of(pattern.substr(arrow + 2));
  const Group axes_before = flattened(source_groups), axes_after = flattened(to);
  if (!std::is_permutation(axes_before.begin(), axes_before.end(), axes_after.begin(),
                           axes_after.end()))
    fail(kRearrange, ": both sides of '", pattern, "' must name the same axes");
  if (static_cast<int>(source_groups.size()) != x.rank())
    fail(kRearrange, ": '", pattern, "' has ", source_groups.size(),
         " axes on the left, the tensor has shape ", x.shape());
  Lengths lengths = lengths_in(axes_lengths, axes_before);
  for (size_t i = 0; i < source_groups.size(); ++i)
    infer_unknown_length(source_groups[i], x.dim(static_cast<int>(i)), lengths);
  std::vector<int> order;
  for (const std::string& name : axes_after)
    order.push_back(static_cast<int>(std::find(axes_before.begin(), axes_before.end(), name) -
                                     axes_before.begin()));
  Shape result;
  for (const Group& group : to) result.append(length_of(group, lengths));
  const Tensor split_x = ops::reshape(x, shape_of(axes_before, lengths));
  return ops::reshape(order.empty() ? split_x : ops::transpose(split_x, order), result);
}

}  // namespace crescent::ops
