// Format: how models, weights and arrays become files. Formats are plugins of kind "format", chosen
// by what the file holds (reading) or by its name (writing). Saving is atomic; loading never runs
// code from the file.
#pragma once
#include "crescent/model.h"

namespace crescent {

struct CRESCENT_API SaveOptions {
  bool overwrite = true;
  bool include_optimizer = true;
  std::string target = "keras3";  ///< where generations contradict each other: "keras3" or "keras2"
  static void describe(Schema<SaveOptions>& s);
};
struct CRESCENT_API LoadOptions {
  bool compile = true;
  Value custom_objects;  ///< class name -> class (from Lua), looked up before the registry
  static void describe(Schema<LoadOptions>& s);
};
struct CRESCENT_API LoadWeightsOptions {
  bool by_name = false, skip_mismatch = false;
  static void describe(Schema<LoadWeightsOptions>& s);
};

class CRESCENT_API Format : public Plain {
 public:
  static constexpr const char* kKind = "format";
  ~Format() override;
  /// True when it writes files of this name ("m.h5").
  virtual bool writes(std::string_view path) const = 0;
  /// True when the first bytes are its own.
  virtual bool reads(std::string_view path, std::string_view first_bytes) const = 0;
  virtual void save_model(Model& model, const std::string& path, const SaveOptions& options) = 0;
  virtual ModelPtr load_model(const std::string& path, const LoadOptions& options) = 0;
  virtual void save_weights(Model& model, const std::string& path, const SaveOptions& options) = 0;
  virtual void load_weights(Model& model, const std::string& path,
                            const LoadWeightsOptions& options) = 0;
  /// One array by its place inside the file; null place: the only one.
  virtual Tensor read_array(const std::string& path, const std::string& place) = 0;
  /// The same, staying in the file: fit, evaluate and predict read its rows as they go.
  virtual Tensor open_array(const std::string& path, const std::string& place) = 0;
  virtual void write_arrays(const std::string& path,
                            const std::vector<std::pair<std::string, Tensor>>& arrays) = 0;
};

/// For load_model: a model whose weights have no values yet; the format assigns every one.
/// `inputs`: shapes to build a model for that its configuration alone does not build.
CRESCENT_API ModelPtr blank_model_from_config(const Value& config,
                                              const std::vector<Shape>& inputs);

// Each finds the format; errors name the path and what was expected.
CRESCENT_API void save_model(Model& model, const std::string& path,
                             const SaveOptions& options = {});
CRESCENT_API ModelPtr load_model(const std::string& path, const LoadOptions& options = {});
CRESCENT_API void save_weights(Model& model, const std::string& path,
                               const SaveOptions& options = {});
CRESCENT_API void load_weights(Model& model, const std::string& path,
                               const LoadWeightsOptions& options = {});
CRESCENT_API Tensor read_array(const std::string& path, const std::string& place);
CRESCENT_API Tensor open_array(const std::string& path, const std::string& place);
CRESCENT_API void write_arrays(const std::string& path,
                               const std::vector<std::pair<std::string, Tensor>>& arrays);

}  // namespace crescent
