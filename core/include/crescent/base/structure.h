// Structures: how tensors are nested where a call takes or gives several of them.
//
//   {first = a, rest = {b, c}}   has the structure   {"first": true, "rest": [true, true]}
//
// A structure is a Value: true is a tensor, null one that is not there, lists and dictionaries hold
// structures. A null alone says that nothing is nested: one tensor, or a list of them.
#pragma once
#include <string>
#include <vector>

#include "crescent/base/export.h"
#include "crescent/base/value.h"

namespace crescent {

/// In a configuration: the argument of a call that says how its inputs are nested.
inline constexpr const char* kInputStructure = "input_structure";

/// What stands in lists and dictionaries and is neither, in order; dictionaries in the order of
/// their sorted names, as Keras flattens them.
CRESCENT_API List leaves_of(const Value& nested);
/// The structure of such a value: true for each leaf that is not null.
CRESCENT_API Value structure_of(const Value& nested);
/// These leaves nested like that, one for each true. Fails on another number.
CRESCENT_API Value packed(const Value& structure, const List& leaves);
/// How many tensors there are.
CRESCENT_API size_t tensor_count(const Value& structure);
/// Null for the structures of one tensor and of a list of them, which a null alone stands for.
CRESCENT_API Value nested_or_null(Value structure);
/// The sorted names of a dictionary whose values are tensors; none for other structures.
CRESCENT_API std::vector<std::string> keys_of(const Value& structure);
/// A dictionary of tensors by these names; null for none.
CRESCENT_API Value structure_of_keys(const std::vector<std::string>& keys);
/// Names (strings) and positions (from 0) that lead to each leaf.
CRESCENT_API std::vector<List> paths_of(const Value& structure);
/// Whether there is more than one tensor, a list or a dictionary of them.
CRESCENT_API bool is_deep(const Value& structure);
/// What data for tensors nested like that go by: `names`, or where it is deep the steps that lead
/// to each, joined: "first", "rest/0", "rest/1".
CRESCENT_API std::vector<std::string> names_in_data(const Value& structure,
                                                    std::vector<std::string> names);
/// Whether a list or a dictionary holds others that are no leaves.
CRESCENT_API bool is_deep(const Value& data, bool (*is_leaf)(const Value&));
/// The leaves of deep data in the order of such names, or of the data where there are none. Fails
/// where they are nested in another way.
CRESCENT_API List leaves_by_name(const Value& data, bool (*is_leaf)(const Value&),
                                 const std::vector<std::string>& names);
/// {first = a, rest = {b, c}}, for messages; leaves by the letters of the alphabet.
CRESCENT_API std::string structure_text(const Value& structure);

}  // namespace crescent
