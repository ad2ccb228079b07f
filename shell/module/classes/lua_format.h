// Formats of files whose classes Lua derives from cr.saving.Format. What a class can do is what it
// defines: save_model and load_model, save_weights and load_weights, read_arrays or read_array,
// write_arrays.
#pragma once
#include "crescent/io/format.h"
#include "instances/lua_objects.h"

namespace crescent::lua {

/// An object of such a class. Its options are those of saving and loading too.
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
  /// Checks the options, and sets the attributes of them that the methods of the class read.
  void take(const Dict& options);
};

/// Sets what a class of formats is found by: the endings and first bytes in its fields, and what it
/// can do by the methods that it defines.
void set_format_traits(lua_State* L, int table, SchemaData& schema);
/// Sets the traits anew when a field of the class is set that they depend on.
void watch_format(lua_State* L, int table);

}  // namespace crescent::lua
