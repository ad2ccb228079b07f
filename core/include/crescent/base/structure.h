// Structures: how tensors are nested in the arguments or the results of a call (pytrees).
//
//   {first = a, rest = {b, c}}   has the structure   {"first": true, "rest": [true, true]}
//
// A structure is a Value: true stands for a tensor, null for an absent one; lists and dictionaries
// hold structures. A null at the top means no nesting: one tensor, or a flat list of tensors.
#pragma once
#include <string>
#include <vector>

#include "crescent/base/export.h"
#include "crescent/base/value.h"

namespace crescent {

/// The key in a layer's configuration for the structure of the inputs of its call.
inline constexpr const char* kInputStructure = "input_structure";

/// Returns the leaves (values that are neither lists nor dictionaries) in order. The entries of a
/// dictionary are visited in the order of their sorted names, as Keras flattens them.
CRESCENT_API List leaves_of(const Value& nested);
/// Returns the structure of `nested`: true for each leaf that is not null.
CRESCENT_API Value structure_of(const Value& nested);
/// Nests the leaves as `structure` says: each true in it is replaced by a leaf. Fails for another
/// number of leaves.
CRESCENT_API Value packed(const Value& structure, const List& leaves);
/// The number of tensors in the structure.
CRESCENT_API size_t tensor_count(const Value& structure);
/// Returns null for the structure of a single tensor or of a flat list of tensors, which are not
/// nested; returns other structures unchanged.
CRESCENT_API Value nested_or_null(Value structure);
/// The sorted names of a dictionary whose values are tensors; empty for other structures.
CRESCENT_API std::vector<std::string> keys_of(const Value& structure);
/// The structure of a dictionary of tensors with these names; null when there are no names.
CRESCENT_API Value structure_of_keys(const std::vector<std::string>& keys);
/// For each leaf, the path to it: the names (strings) and list indices (from 0), outermost first.
CRESCENT_API std::vector<List> paths_of(const Value& structure);
/// Whether a list or a dictionary of the structure contains another list or dictionary.
CRESCENT_API bool is_deep(const Value& structure);
/// The names under which data are given for inputs of this structure: `names` itself, or for a deep
/// structure (is_deep) the path to each tensor with slashes: "first", "rest/0", "rest/1".
CRESCENT_API std::vector<std::string> names_in_data(const Value& structure,
                                                    std::vector<std::string> names);
/// Whether a list or a dictionary in `data` contains a list or dictionary for which is_leaf() is
/// false.
CRESCENT_API bool is_deep(const Value& data, bool (*is_leaf)(const Value&));
/// The leaves of deep data in the order of `names` (as names_in_data() gives them), or in the order
/// of the data when `names` is empty. Fails if the paths to the leaves are not exactly these names.
CRESCENT_API List leaves_by_name(const Value& data, bool (*is_leaf)(const Value&),
                                 const std::vector<std::string>& names);
/// The structure as text for messages, with letters for leaves: {first = a, rest = {b, c}}.
CRESCENT_API std::string structure_text(const Value& structure);

}  // namespace crescent
