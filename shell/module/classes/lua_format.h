// File formats whose class Lua derives from cr.saving.Format. The methods that a class defines
// determine its abilities: save_model and load_model, save_weights and load_weights, read_arrays or
// read_array, write_arrays.
#pragma once
#include "crescent/io/format.h"
#include "instances/lua_objects.h"

namespace crescent::lua {

/// A format object of a Lua class. The options of the class are also options of saving and loading.
class LuaFormat final : public LuaObjectOf<Format>,
                        public ModelFormat,
                        public WeightsFormat,
                        public ReadsArrays,
                        public WritesArrays {
 public:
  static void describe(Schema<LuaFormat>&) {}
  template <class T>
  static void describe_base(Schema<T>&) {}

  const SchemaData& save_model_options() const override { return info()->schema; }
  const SchemaData& load_model_options() const override { return info()->schema; }
  void save_model(Model& model, const std::string& path, const Dict& options) override;
  ModelPtr load_model(const std::string& path, const Dict& options) override;
  const SchemaData& save_weights_options() const override { return info()->schema; }
  const SchemaData& load_weights_options() const override { return info()->schema; }
  void save_weights(Model& model, const std::string& path, const Dict& options) override;
  void load_weights(Model& model, const std::string& path, const Dict& options) override;
  Tensor read_array(const std::string& path, const std::string& name) override;
  Tensor open_array(const std::string& path, const std::string& name) override {
    return read_array(path, name);
  }
  NamedTensors read_arrays(const std::string& path) override;
  void write_arrays(const std::string& path, const NamedTensors& arrays) override;

 private:
  /// Checks the options given to a call of saving or loading, and sets them as attributes that the
  /// methods of the class can read.
  void set_options(const Dict& options);
};

/// Sets the traits of a format class, which the registry stores: the endings and signatures follow
/// from its fields, the abilities from the methods that it defines.
void set_format_traits(lua_State* L, int table_index, SchemaData& schema);
/// From now on, an assignment to a field on which the traits depend sets the traits again.
void watch_format(lua_State* L, int table_index);

}  // namespace crescent::lua
