// The format "sharded": weights in several files.
#include "crescent/io/format.h"
#include "crescent/plugin.h"
#include "files/overwrite.h"
#include "keras/model/inspection.h"
#include "keras/model/model_file.h"
#include "sharded_weights.h"

namespace crescent::archive {
namespace {

struct ShardOptions {
  bool overwrite = true;
  double max_shard_size = 10;
  static void describe(Schema<ShardOptions>& s) {
    s.doc("How weights are written to several files.")
        .field("overwrite", &ShardOptions::overwrite, "Replace files that are there.")
        .field("max_shard_size", &ShardOptions::max_shard_size, "Of each file, in gigabytes.")
        .min(0);
  }
};

}  // namespace

class ShardedFormat final : public Format, public WeightsFormat {
 public:
  static void describe(Schema<ShardedFormat>& s) {
    s.doc("Weights in several files, as Keras 3 keeps large ones.")
        .trait("endings", List{".weights.json"})
        .method("inspect", &ShardedFormat::inspect, "What a file says about itself.")
        .arg("path", "Of the file.");
  }

  Value inspect(const std::string& path) {
    ShardedWeights file(path);
    return keras::inspect(file).value();
  }

  const SchemaData& save_weights_options() const override {
    return schema_of<ShardOptions>("sharded: saving weights");
  }
  const SchemaData& load_weights_options() const override {
    return keras::load_weights_schema(class_name());
  }
  void save_weights(Model& model, const std::string& path, const Dict& given_options) override {
    const auto options = read_options<ShardOptions>(save_weights_options(), given_options);
    files::check_overwrite(path, options.overwrite);
    constexpr double kGigabyte = 1024.0 * 1024 * 1024;
    write_shards(keras::keras3_weight_entries(model), path,
                 static_cast<uint64_t>(options.max_shard_size * kGigabyte));
  }
  void load_weights(Model& model, const std::string& path, const Dict& given_options) override {
    const auto options =
        read_options<keras::LoadWeightsOptions>(load_weights_options(), given_options);
    ShardedWeights file(path);
    keras::load_weights(file, model, options);
  }
};

void add_sharded(Registry& registry) { registry.add<ShardedFormat>("sharded"); }

}  // namespace crescent::archive
