#include "golden/recorded.h"

#include <hdf5.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "distance.h"
#include "keras/configs/config_in.h"

namespace crescent::golden {
namespace {

namespace fs = std::filesystem;

DType dtype_of(hid_t type) {
  const size_t bytes = H5Tget_size(type);
  if (H5Tget_class(type) == H5T_FLOAT) return bytes == 8 ? DType::float64 : DType::float32;
  if (bytes == 1) return H5Tget_sign(type) == H5T_SGN_NONE ? DType::uint8 : DType::int8;
  return bytes == 8 ? DType::int64 : bytes == 2 ? DType::int16 : DType::int32;
}

hid_t memory_type(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return H5T_NATIVE_DOUBLE;
    case DType::int64:
      return H5T_NATIVE_INT64;
    case DType::int32:
      return H5T_NATIVE_INT32;
    case DType::uint8:
      return H5T_NATIVE_UINT8;
    case DType::int8:
      return H5T_NATIVE_INT8;
    case DType::int16:
      return H5T_NATIVE_INT16;
    default:
      return H5T_NATIVE_FLOAT;
  }
}

Shape shape_of(hid_t dataset) {
  const hid_t space = H5Dget_space(dataset);
  std::vector<hsize_t> dims(size_t(H5Sget_simple_extent_ndims(space)));
  H5Sget_simple_extent_dims(space, dims.data(), nullptr);
  H5Sclose(space);
  return Shape(std::vector<int64_t>(dims.begin(), dims.end()));
}

herr_t collect_name(hid_t, const char* name, const H5L_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->push_back(name);
  return 0;
}

/// The value of the environment variable; nullopt if it is unset or empty.
std::optional<std::string> environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? std::optional<std::string>(value) : std::nullopt;
}

std::string recorded_folder() {
  return environment_variable("CRESCENT_SHARED").value_or(CRESCENT_SOURCE_DIR "/../shared") +
         "/golden";
}

bool is_same_folder(const std::string& a, const std::string& b) {
  return fs::weakly_canonical(a) == fs::weakly_canonical(b);
}

}  // namespace

std::string folder() { return environment_variable("CRESCENT_GOLDEN").value_or(recorded_folder()); }

Source source() {
  if (is_same_folder(folder(), recorded_folder())) return Source::recorded;
  return is_same_folder(folder(), CRESCENT_SOURCE_DIR "/tests/golden/own") ? Source::own
                                                                           : Source::other;
}

bool is_there(const std::string& path) {
  if (fs::exists(path)) return true;
  const bool is_folder_named =
      environment_variable("CRESCENT_GOLDEN") || environment_variable("CRESCENT_SHARED");
  const bool folder_exists = fs::exists(folder());
  const bool must_exist = folder_exists ? source() != Source::other : is_folder_named;
  if (must_exist) FAIL(path << " is not there");
  WARN("skipped: " << path << " is not there");
  return false;
}

std::vector<std::string> files_ending(const std::string& folder, std::string_view ending) {
  std::vector<std::string> names;
  if (!fs::is_directory(folder)) return names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(ending)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<fs::path> files_of_models() {
  std::vector<fs::path> files;
  fs::recursive_directory_iterator walk(folder());
  for (const fs::directory_entry& entry : walk) {
    const fs::path name = entry.path().filename();
    if (walk.depth() == 0 && (name == "programs" || name == "tokenizers"))
      walk.disable_recursion_pending();
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Recording::Recording(const std::string& path)
    : file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)) {
  if (file_ < 0) fail("cannot open ", path);
}

Recording::~Recording() { H5Fclose(file_); }

bool Recording::has(const std::string& path_in_file) const {
  for (size_t slash = path_in_file.find('/');; slash = path_in_file.find('/', slash + 1)) {
    if (H5Lexists(file_, path_in_file.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) return false;
    if (slash == std::string::npos) return true;
  }
}

std::vector<std::string> Recording::names(const std::string& group) const {
  std::vector<std::string> names;
  if (group != "/" && !has(group)) return names;
  const hid_t id = H5Gopen(file_, group.c_str(), H5P_DEFAULT);
  H5Literate(id, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_name, &names);
  H5Gclose(id);
  return names;
}

Tensor Recording::tensor(const std::string& path_in_file) const {
  const hid_t dataset = H5Dopen(file_, path_in_file.c_str(), H5P_DEFAULT);
  if (dataset < 0) fail("no dataset ", path_in_file);
  const hid_t type = H5Dget_type(dataset);
  Tensor result(shape_of(dataset), dtype_of(type));
  if (H5Dread(dataset, memory_type(result.dtype()), H5S_ALL, H5S_ALL, H5P_DEFAULT,
              result.mutable_raw()) < 0)
    fail("cannot read ", path_in_file);
  H5Tclose(type);
  H5Dclose(dataset);
  return result;
}

std::string Recording::dtype(const std::string& path_in_file) const {
  if (const auto text = text_if_any(path_in_file, "dtype")) return *text;
  const hid_t dataset = H5Dopen(file_, path_in_file.c_str(), H5P_DEFAULT),
              type = H5Dget_type(dataset);
  const bool is_integer = H5Tget_class(type) == H5T_INTEGER;
  const std::string kind = !is_integer                         ? "float"
                           : H5Tget_sign(type) == H5T_SGN_NONE ? "uint"
                                                               : "int";
  const size_t bits = H5Tget_size(type) * 8;
  H5Tclose(type);
  H5Dclose(dataset);
  return concat(kind, bits);
}

Tensors Recording::tensors(const std::string& group) const {
  Tensors result;
  for (const std::string& name : names(group)) result.push_back(tensor(group + "/" + name));
  return result;
}

std::optional<std::string> Recording::text_if_any(const std::string& path_in_file,
                                                  const char* attribute) const {
  const hid_t object = H5Oopen(file_, path_in_file.c_str(), H5P_DEFAULT);
  if (H5Aexists(object, attribute) <= 0) {
    H5Oclose(object);
    return std::nullopt;
  }
  const hid_t id = H5Aopen(object, attribute, H5P_DEFAULT), type = H5Aget_type(id);
  std::string result;
  if (H5Tis_variable_str(type) > 0) {
    char* text = nullptr;
    H5Aread(id, type, &text);
    result = text ? text : "";
    H5free_memory(text);
  } else {
    result.resize(H5Tget_size(type));
    H5Aread(id, type, result.data());
    result.resize(std::min(result.size(), result.find('\0')));
  }
  H5Tclose(type);
  H5Aclose(id);
  H5Oclose(object);
  return result;
}

std::string Recording::text(const std::string& path_in_file, const char* attribute) const {
  const std::optional<std::string> result = text_if_any(path_in_file, attribute);
  if (!result) fail(path_in_file, " has no attribute ", attribute);
  return *result;
}

namespace {

double times_tolerance(double got, double want, Tolerance tolerance) {
  const double difference = absolute_difference(got, want);
  if (difference == 0 || !std::isfinite(difference)) return difference;
  return difference / (tolerance.absolute + tolerance.relative * std::abs(want));
}

}  // namespace

std::string difference(const Tensor& got, const Tensor& want, Tolerance tolerance) {
  if (!got) return "no tensor";
  if (got.shape() != want.shape())
    return concat("shape ", got.shape(), " instead of ", want.shape());
  const std::vector<double> g = got.to_vector(), w = want.to_vector();
  double worst = 0;
  std::string text;
  for (size_t i = 0; i < w.size(); ++i) {
    const double excess = times_tolerance(g[i], w[i], tolerance);
    if (excess > std::max(worst, 1.0)) {
      worst = excess;
      text = concat("element ", i, " of ", want.shape(), ": ", g[i], " instead of ", w[i], " (",
                    excess, " times the tolerance)");
    }
  }
  return text;
}

void Tally::check() const {
  const std::vector<std::string> names(names_.begin(), names_.end());
  std::printf("%d cases, %d compared, %d skipped (not there yet): %s\n", compared_ + skipped_,
              compared_, skipped_, join(names).c_str());
  if (source() == Source::other) {
    if (compared_ == 0) WARN("skipped: " << folder() << " has nothing here that can be compared");
    return;
  }
  CHECK(compared_ > 0);
  const std::set<std::string> expected_missing =
      source() == Source::recorded ? missing_ : std::set<std::string>();
  for (const std::string& name : names_)
    if (!expected_missing.contains(name))
      FAIL_CHECK(name << " was skipped, and is not in the list of what may be");
  for (const std::string& name : expected_missing)
    if (!names_.contains(name))
      FAIL_CHECK(name << " was not skipped: take it out of the list of what may be");
}

Dict options_of(const Recording& file, const std::string& path_in_file) {
  Dict options = file.json(path_in_file, "config").as_dict();
  const Value arguments = parse_json(file.text_if_any(path_in_file, "arguments").value_or("{}"));
  for (const auto& [name, value] : arguments.as_dict()) options.set(name, value);
  // Arrays are recorded as objects of the class __tensor__, which are replaced by their values.
  for (const DictEntry& option : Dict(options))
    if (option.value.is_dict() && option.value.as_dict().contains("class_name") &&
        option.value.as_dict().at("class_name") == Value("__tensor__"))
      options.set(option.key, option.value.as_dict().at("config").as_dict().at("value"));
  return options;
}

bool is_registered(std::string_view kind, const std::string& class_name) {
  return registry().find(kind, class_name) != nullptr;
}

LayerPtr layer_if_known(const std::string& class_name, const Value& config,
                        const std::string& keras_version) {
  if (!is_registered("layer", class_name)) return nullptr;
  const keras::ConfigIn reader({keras_version, "torch"});
  return get<Layer>(reader.model(Dict{{"class_name", class_name}, {"config", config}}));
}

}  // namespace crescent::golden
