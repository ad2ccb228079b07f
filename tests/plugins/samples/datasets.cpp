#include "crescent/data/stream.h"
#include "crescent/plugin.h"

using namespace crescent;

/// A dataset of rows of two numbers; if it is torn, its last row has a third number.
template <bool torn>
struct Rows : Plain {
  static constexpr const char* kKind = "dataset";
  int64_t count = 4;
  static void describe(Schema<Rows>& s) {
    s.doc("Rows.")
        .field("count", &Rows::count, "How many.")
        .min(1)
        .method("stream", &Rows::stream, "The rows.");
  }
  Value stream() {
    std::vector<Element> rows;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t width = torn && i + 1 == count ? 3 : 2;
      const std::vector<float> numbers(static_cast<size_t>(width), static_cast<float>(i));
      rows.push_back({std::make_shared<BoxedTensor>(Tensor::from(numbers, {width}))});
    }
    return list_stream(rows);
  }
};

/// A dataset of batches of x and y. `last_rows` is the number of rows of the last batch, and the
/// batch before it has `middle_rows`.
template <int middle_rows, int last_rows, int last_targets = last_rows>
struct Batches : Plain {
  static constexpr const char* kKind = "dataset";
  static void describe(Schema<Batches>& s) {
    s.doc("Batches.").method("stream", &Batches::stream, "The batches.");
  }
  Value stream() {
    const auto batch = [](int64_t rows, int64_t targets) {
      return Element{std::make_shared<BoxedTensor>(Tensor({rows, 2}, DType::float32)),
                     std::make_shared<BoxedTensor>(Tensor({targets, 1}, DType::float32))};
    };
    return list_stream(
        {batch(3, 3), batch(middle_rows, middle_rows), batch(last_rows, last_targets)});
  }
};

/// A dataset class whose method stream gives a number.
struct NoRows : Plain {
  static constexpr const char* kKind = "dataset";
  static void describe(Schema<NoRows>& s) {
    s.doc("No rows.").method("stream", &NoRows::stream, "A number.");
  }
  Value stream() { return 5; }
};

CRESCENT_PLUGIN("test.datasets", "1.0.0") {
  registry.add<Rows<false>>("EvenRows");
  registry.add<Rows<true>>("TornRows");
  registry.add<NoRows>("NoRows");
  registry.add<Batches<3, 1>>("ShortEnd");
  registry.add<Batches<2, 3>>("ShortMiddle");
  registry.add<Batches<2, 1>>("TwoShort");
  registry.add<Batches<3, 4>>("LongEnd");
  registry.add<Batches<3, 2, 1>>("UnlikeEnds");
}
