// rearrange: axes by name. "b (h w) c -> b h w c" splits the second axis; lengths that do not
// follow from the shape are given by name, h=2.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "crescent/registry/registration.h"
#include "families.h"

namespace crescent::operations {
namespace {

using Group = std::vector<std::string>;  // names of one axis: "(h w)" has two
using Lengths = std::map<std::string, int64_t>;

constexpr const char* kName = "rearrange";

std::vector<Group> parsed(const std::string& side) {
  std::string spaced;
  for (char c : side) spaced += c == '(' || c == ')' ? std::string{' ', c, ' '} : std::string(1, c);
  std::vector<Group> groups;
  bool inside = false;
  std::istringstream words(spaced);
  for (std::string word; words >> word;) {
    const bool opens = word == "(", closes = word == ")";
    if (opens ? inside : closes && !inside) fail(kName, ": brackets in '", side, "' do not match");
    if (opens) groups.emplace_back();
    if (opens || closes)
      inside = opens;
    else if (inside)
      groups.back().push_back(word);
    else
      groups.push_back({word});
  }
  if (inside) fail(kName, ": brackets in '", side, "' do not match");
  return groups;
}

Group flat(const std::vector<Group>& groups) {
  Group names;
  for (const Group& group : groups) names.insert(names.end(), group.begin(), group.end());
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size())
    fail(kName, ": an axis is named twice on one side of the pattern");
  return names;
}

/// Works out the one length of a group that is not given, from the length of its axis.
void complete(const Group& group, int64_t length, Lengths& lengths) {
  const std::string* open = nullptr;
  int64_t known = 1;
  for (const std::string& name : group) {
    if (const auto given = lengths.find(name); given != lengths.end())
      known *= given->second;
    else if (open)
      fail(kName, ": give the length of '", *open, "' or of '", name, "' by name");
    else
      open = &name;
  }
  if (length < 0 && open) {
    if (group.size() > 1 && known < 1) fail(kName, ": lengths must be at least 1");
    lengths[*open] = -1;
    return;
  }
  const bool fits = length < 0 || (open ? known > 0 && length % known == 0 : known == length);
  if (!fits) fail(kName, ": (", join(group, " "), ") does not fit an axis of length ", length);
  if (open) lengths[*open] = length / known;
}

Shape shape_of(const Group& names, const Lengths& lengths) {
  Shape shape;
  for (const std::string& name : names) shape.append(lengths.at(name));
  return shape;
}

int64_t length_of(const Group& group, const Lengths& lengths) {
  int64_t product = 1;
  for (const std::string& name : group) {
    const int64_t length = lengths.at(name);
    product = length < 0 || product < 0 ? -1 : product * length;
  }
  return product;
}

Lengths lengths_in(const Dict& given, const Group& names) {
  Lengths lengths;
  for (const DictEntry& entry : given) {
    if (std::find(names.begin(), names.end(), entry.key) == names.end())
      fail(kName, ": no axis '", entry.key, "' on the left of the pattern",
           did_you_mean(entry.key, names));
    if (!entry.value.is_int() || entry.value.as_int() < 1)
      fail(kName, ": expected the length of '", entry.key, "', got ", entry.value);
    lengths[entry.key] = entry.value.as_int();
  }
  return lengths;
}

Tensor rearrange(const Tensor& x, const std::string& pattern, const Dict& axes_lengths) {
  const size_t arrow = pattern.find("->");
  if (arrow == std::string::npos)
    fail(kName, ": expected a pattern such as 'b h w -> b w h', got '", pattern, "'");
  const std::vector<Group> from = parsed(pattern.substr(0, arrow)),
                           to = parsed(pattern.substr(arrow + 2));
  const Group before = flat(from), after = flat(to);
  if (!std::is_permutation(before.begin(), before.end(), after.begin(), after.end()))
    fail(kName, ": both sides of '", pattern, "' must name the same axes");
  if (static_cast<int>(from.size()) != x.rank())
    fail(kName, ": '", pattern, "' has ", from.size(), " axes on the left, the tensor has shape ",
         x.shape());
  Lengths lengths = lengths_in(axes_lengths, before);
  for (size_t i = 0; i < from.size(); ++i) complete(from[i], x.dim(static_cast<int>(i)), lengths);
  std::vector<int> order;
  for (const std::string& name : after)
    order.push_back(
        static_cast<int>(std::find(before.begin(), before.end(), name) - before.begin()));
  Shape result;
  for (const Group& group : to) result.append(length_of(group, lengths));
  const Tensor split = ops::reshape(x, shape_of(before, lengths));
  return ops::reshape(order.empty() ? split : ops::transpose(split, order), result);
}

}  // namespace

CRESCENT_REGISTER(rearranging) {
  Operations(registry, "keras.src.ops.einops")
      .add("Rearrange", "rearrange(tensor, @pattern, **axes_lengths=None)", &rearrange,
           "Axes by name: rearrange(x, \"b (h w) -> h b w\", {h = 2}).");
}

}  // namespace crescent::operations
