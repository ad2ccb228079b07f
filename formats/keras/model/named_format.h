// The base of formats of named arrays; the arrays of a file have the names of the model's weights.
#pragma once
#include "crescent/io/format.h"
#include "keras/export.h"
#include "keras/source/named_arrays.h"

namespace crescent::keras {

class CRESCENT_KERAS_API NamedFormat : public Format,
                                       public WeightsFormat,
                                       public ReadsArrays,
                                       public WritesArrays {
 public:
  const SchemaData& save_weights_options() const final;
  const SchemaData& load_weights_options() const final;
  void save_weights(Model& model, const std::string& path, const Dict& option_values) final;
  void load_weights(Model& model, const std::string& path, const Dict& option_values) final;
  Tensor read_array(const std::string& path, const std::string& name) final;
  NamedTensors read_arrays(const std::string& path) override;
  Value inspect(const std::string& path);

 private:
  /// Opens a file; values are compared with the checksums in it. Arrays that are not numeric are
  /// left out. If `required_name` names such an array, it is included, and reading it fails.
  virtual NamedArrays open_file(const std::string& path,
                                const std::string& required_name = "") const = 0;
};

}  // namespace crescent::keras
