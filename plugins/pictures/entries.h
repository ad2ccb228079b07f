// Reads the entries of figures as numbers and texts.
#pragma once
#include <string>
#include <vector>

#include "crescent/base/value.h"
#include "crescent/tensor/tensor.h"

namespace crescent::pictures {

/// The entry with this name; null if there is none.
const Value& entry(const Dict& figure, std::string_view name);
/// The text of an entry, with control characters escaped; "" if there is none.
std::string text_entry(const Dict& figure, std::string_view name);
std::vector<std::string> texts_entry(const Dict& figure, std::string_view name);
/// An entry that is a list of texts; fails unless there are `count` texts.
std::vector<std::string> texts_with_count(const Dict& figure, std::string_view name, size_t count);
bool is_set(const Dict& figure, std::string_view name);
/// The numbers of a tensor or of a list, in which null is NaN; `name` is for messages.
std::vector<double> numbers_in(const Value& value, std::string_view name);
/// The tensor of an entry, in host memory; fails if there is none.
Tensor tensor_entry(const Dict& figure, std::string_view name);

}  // namespace crescent::pictures
