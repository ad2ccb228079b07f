// Formats that know arrays by name alone: a model's weights are arrays with the weights' names.
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
  void save_weights(Model& model, const std::string& path, const Dict& given) final;
  void load_weights(Model& model, const std::string& path, const Dict& given) final;
  Tensor read_array(const std::string& path, const std::string& place) final;
  Value inspect(const std::string& path);

 private:
  /// What is read of it has been compared with the checksums that the file has. Arrays of no
  /// numbers are left out, unless `wanted` names them: reading them fails then.
  virtual NamedArrays open_file(const std::string& path, const std::string& wanted = "") const = 0;
};

}  // namespace crescent::keras
