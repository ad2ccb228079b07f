// The base of formats that store models as Keras does; a derived class opens and writes the files.
#pragma once
#include <memory>

#include "crescent/io/format.h"
#include "keras/export.h"
#include "keras/model/options.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

class CRESCENT_KERAS_API KerasFormat : public Format, public ModelFormat, public WeightsFormat {
 public:
  const SchemaData& save_model_options() const final;
  const SchemaData& load_model_options() const final;
  const SchemaData& save_weights_options() const final;
  const SchemaData& load_weights_options() const final;
  void save_model(Model& model, const std::string& path, const Dict& option_values) final;
  ModelPtr load_model(const std::string& path, const Dict& option_values) final;
  void load_weights(Model& model, const std::string& path, const Dict& option_values) final;

 private:
  void check_folder(const std::string& path) const;
  virtual std::unique_ptr<WeightSource> open_file(const std::string& path) const = 0;
  /// Writes the model to a file at `path`, or to a folder if `path` ends in '/'; replaces existing
  /// files.
  virtual void write_model(Model& model, const std::string& path,
                           const SaveOptions& options) const = 0;
};

}  // namespace crescent::keras
