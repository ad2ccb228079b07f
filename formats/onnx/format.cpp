// The format "onnx": the prediction of a model as a graph for other programs. It can be written,
// but not read.
#include <limits>

#include "crescent/io/format.h"
#include "crescent/plugin.h"
#include "crescent/system/file.h"
#include "export.h"
#include "files/overwrite.h"

namespace crescent::onnx {
namespace {

struct ExportOptions {
  bool overwrite = true;
  static void describe(Schema<ExportOptions>& s) {
    s.doc("How a model is written for other programs.")
        .field("overwrite", &ExportOptions::overwrite, "Replace a file that is there.");
  }
};

struct NoOptions {
  static void describe(Schema<NoOptions>& s) { s.doc("Nothing can be chosen."); }
};

}  // namespace

class Onnx final : public Format, public ModelFormat {
 public:
  static void describe(Schema<Onnx>& s) {
    s.doc("What a model predicts, for programs that run ONNX; written, not read.")
        .trait("endings", List{".onnx"})
        .trait("written_only", true);
  }

  const SchemaData& save_model_options() const override {
    return schema_of<ExportOptions>("onnx: saving a model");
  }
  const SchemaData& load_model_options() const override {
    return schema_of<NoOptions>("onnx: loading a model");
  }
  void save_model(Model& model, const std::string& path, const Dict& given_options) override {
    const auto options = read_options<ExportOptions>(save_model_options(), given_options);
    files::check_overwrite(path, options.overwrite);
    const Message file = model_message(graph_of(model));
    if (file.bytes().size() > std::numeric_limits<int32_t>::max())
      fail("cannot write '", path, "': ONNX files end at 2 GiB, this model needs ",
           file.bytes().size(), " bytes");
    replace_file(path, file.bytes());
  }
  ModelPtr load_model(const std::string& path, const Dict&) override {
    fail("'", path,
         "': ONNX files are written, not read: they hold what a model predicts, not its layers; "
         "load the .h5 or .keras file that it was saved in");
  }
};

CRESCENT_PLUGIN("onnx", CRESCENT_VERSION) { registry.add<Onnx>("onnx"); }

}  // namespace crescent::onnx
