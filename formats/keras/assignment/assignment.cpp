#include "keras/assignment/assignment.h"

#include <numeric>
#include <utility>

#include "crescent/base/progress.h"
#include "crescent/ops/ops.h"
#include "files/in_parallel.h"
#include "files/release_pages.h"
#include "files/streaming_copy.h"
#include "keras/weights/cudnn_weights.h"

namespace crescent::keras {
namespace {

/// Reads the datasets of `matches`; fails if a dataset's shape differs from that of its variable.
std::vector<DatasetValues> read_checked(WeightSource& file, Matches& matches) {
  auto specs = file.describe(datasets_of(matches));
  convert_shapes(matches, specs);
  convert_cudnn(matches, specs);
  for (size_t i = 0; i < matches.size(); ++i) {
    const Match& match = matches[i];
    const Shape& saved_shape = specs[i].shape;
    if (saved_shape != match.variable.shape())
      fail("'", file.path(), "': '/", match.dataset, "': Layer weight shape ",
           match.variable.shape(), " not compatible with provided weight shape ", saved_shape,
           " (layer '", match.layer, "'); nothing was loaded");
  }
  return file.read(datasets_of(matches));
}

void warn_not_finite(const WeightSource& file, const Matches& matches,
                     const std::vector<DatasetValues>& dataset_values) {
  std::vector<std::string> names;
  for (size_t i = 0; i < matches.size(); ++i)
    if (!dataset_values[i].is_finite) names.push_back(matches[i].dataset);
  if (!names.empty()) warn("'", file.path(), "': NaN or infinite numbers in ", join(names));
}

/// The saved value, converted to the layout and the dtype of the variable.
Tensor convert_value(const Match& match, const Tensor& saved_value) {
  return ops::cast(match.convert ? match.convert(saved_value) : saved_value,
                   match.variable.dtype());
}

/// Memory for the new value of a variable: the memory of its present value, or new memory if
/// another tensor shares it.
Tensor memory_for(const Variable& variable) {
  const bool is_exclusive = variable.is_exclusive() && variable.value().storage()->host();
  return is_exclusive ? variable.value() : Tensor::uninitialized(variable.spec());
}

struct Copy {
  const void* source;  // the address of the new values in the mapped file
  Tensor target;
};

void copy_all(const std::string& path, const std::vector<Copy>& copies) {
  std::vector<uint64_t> addresses, sizes;
  for (const Copy& copy : copies) {
    copy.target.storage()->bump_version();
    addresses.push_back(reinterpret_cast<uint64_t>(copy.target.raw()));
    sizes.push_back(copy.target.bytes());
  }
  const std::vector<files::Chunk> chunks = files::chunks_of(addresses, sizes);
  const uint64_t total_bytes = std::accumulate(sizes.begin(), sizes.end(), uint64_t{0});
  FileProgress progress("copying", path, total_bytes);
  files::in_parallel(chunks.size(), [&](size_t k) {
    const auto& [i, offset, size] = chunks[k];
    const auto* from = static_cast<const std::byte*>(copies[i].source) + offset;
    files::streaming_copy(reinterpret_cast<std::byte*>(addresses[i]) + offset, from, size);
    if (total_bytes > files::kMaxMappedBytes) files::release_pages(from, size);
    progress.add(size);
  });
}

}  // namespace

void assign_all(WeightSource& file, Matches matches) {
  std::vector<DatasetValues> dataset_values = read_checked(file, matches);
  for (size_t i = 0; i < matches.size(); ++i)
    matches[i].variable.assign(
        convert_value(matches[i], std::exchange(dataset_values[i].values, {})));
  pass_to_layers(matches);
  clear_adapters(matches);
  warn_not_finite(file, matches, dataset_values);
}

void replace_all(WeightSource& file, Matches matches) {
  if (!file.prevent_changes()) return assign_all(file, std::move(matches));
  const std::vector<DatasetValues> dataset_values = read_checked(file, matches);
  Tensors values;
  std::vector<Copy> copies;
  for (size_t i = 0; i < matches.size(); ++i) {
    const Match& match = matches[i];
    const auto& [saved_value, is_finite, is_in_file] = dataset_values[i];
    if (is_in_file && !match.convert && saved_value.dtype() == match.variable.dtype())
      copies.push_back({saved_value.raw(), values.emplace_back(memory_for(match.variable))});
    else
      values.push_back(convert_value(match, is_in_file ? saved_value.clone() : saved_value));
  }
  copy_all(file.path(), copies);
  for (size_t i = 0; i < matches.size(); ++i) matches[i].variable.assign(values[i]);
  pass_to_layers(matches);
  clear_adapters(matches);
  try {
    file.check_unchanged();
  } catch (const Error& error) {
    fail(error.what(),
         " again, after it had been checked: the weights are partly those that were there before");
  }
  warn_not_finite(file, matches, dataset_values);
}

}  // namespace crescent::keras
