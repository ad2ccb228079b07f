// Operations: functions of tensors as Keras has them, what cr.ops is. A plugin registers a row for
// each, the signature as Keras writes it (parse_parameters):
//
//   CRESCENT_PLUGIN("acme.ops", "1.0.0") {
//     Operations(registry, "acme").add("Softcap", "softcap(x, limit=50.0)", softcap, "Bounded.");
//   }
//
// From the row follow the function of Lua with positional and keyword arguments, help, completion
// and messages; the call on symbols, which makes a layer of the graph; and the node in a file.
// On large tensors a function that is several ops runs as one program, which is recorded once for
// their specs and the other arguments: beside applying ops and failing a function does nothing.
#pragma once
#include "crescent/layer/node.h"
#include "crescent/ops/ops.h"
#include "crescent/registry/registry.h"

namespace crescent {

/// What an operation gives.
enum class OperationResult : uint8_t {
  tensor,
  list,             ///< of tensors: a table in Lua
  tuple,            ///< results one after the other
  tensor_or_tuple,  ///< a tensor, or several: as its arguments say
  host_value,       ///< a shape, a number: no tensors, so that symbols are as good as tensors
};

/// What a row says.
struct OperationRow {
  std::vector<std::string> functions;  ///< names in cr.ops: absolute, abs
  std::string module;                  ///< "keras.src.ops.numpy"
  std::string keras_class;             ///< "Absolute"
  Signature signature;                 ///< by the first name, as the text of the row has it
  OperationResult result = OperationResult::tensor;
  Method method;
};

class CRESCENT_API Operation final : public Plain {
 public:
  static constexpr const char* kKind = "operation";
  explicit Operation(std::shared_ptr<const OperationRow> row) : row_(std::move(row)) {}
  const OperationRow& row() const { return *row_; }
  const std::string& name() const { return row_->functions.front(); }
  /// Arguments by name. Tensors and variables are boxed; numbers and lists of them count as
  /// tensors. The results are boxed too. With symbols among the arguments it is a layer of the
  /// graph that is made, and the results are its outputs.
  Value operator()(const Dict& arguments) const;
  /// Arguments by position joined with those by name.
  Dict arguments(const List& positional, const Dict& keywords) const;

 private:
  Value on_tensors(const Dict& arguments) const;
  Value on_symbols(const Dict& arguments) const;
  std::shared_ptr<const OperationRow> row_;
};

/// An argument that is a number or a tensor.
struct NumberOrTensor : ops::Operand {
  NumberOrTensor() : Operand(0.0) {}
  NumberOrTensor(Operand operand) : Operand(std::move(operand)) {}
};
CRESCENT_CODEC(NumberOrTensor);

/// An argument that is a number or a list of them; null is an empty list.
struct AxisList : std::vector<int> {};
CRESCENT_CODEC(AxisList);

namespace detail {

template <class T>
struct ArgumentTraits {
  using Type = T;
  static constexpr bool is_tensor = false, is_list = false;
};
template <>
struct ArgumentTraits<Tensor> {
  using Type = Tensor;
  static constexpr bool is_tensor = true, is_list = false;
};
template <>
struct ArgumentTraits<ops::Operand> {
  using Type = NumberOrTensor;
  static constexpr bool is_tensor = true, is_list = false;
};
template <>
struct ArgumentTraits<std::vector<int>> {
  using Type = AxisList;
  static constexpr bool is_tensor = false, is_list = true;
};
template <class T>
struct ArgumentTraits<std::vector<T>> {
  using Type = std::vector<T>;
  static constexpr bool is_tensor = ArgumentTraits<T>::is_tensor, is_list = true;
};
template <>
struct ArgumentTraits<Shape> {
  using Type = Shape;
  static constexpr bool is_tensor = false, is_list = true;
};
template <>
struct ArgumentTraits<std::span<const Tensor>> : ArgumentTraits<Tensors> {};

template <class R>
struct Result {
  static constexpr OperationResult kind = OperationResult::host_value;
  static Value encode(const R& result) { return Codec<R>::encode(result); }
  static std::string type() { return Codec<R>::type(); }
};
template <>
struct Result<Tensor> {
  static constexpr OperationResult kind = OperationResult::tensor;
  static Value encode(const Tensor& result) { return Codec<Tensor>::encode(result); }
  static std::string type() { return Codec<Tensor>::type(); }
};
template <>
struct Result<Tensors> {
  static constexpr OperationResult kind = OperationResult::list;
  static Value encode(const Tensors& result) { return Codec<Tensors>::encode(result); }
  static std::string type() { return "a list of tensors"; }
};
template <>
struct Result<Value> {
  static constexpr OperationResult kind = OperationResult::tensor_or_tuple;
  static Value encode(const Value& result) { return result; }
  static std::string type() { return "a tensor or several"; }
};
template <>
struct Result<Shape> {
  static constexpr OperationResult kind = OperationResult::host_value;
  static Value encode(const Shape& result) { return List(result.begin(), result.end()); }
  static std::string type() { return Codec<Shape>::type(); }
};
template <class... T>
struct Result<std::tuple<T...>> {
  static constexpr OperationResult kind = OperationResult::tuple;
  static Value encode(const std::tuple<T...>& result) {
    return std::apply([](const T&... each) { return List{Codec<T>::encode(each)...}; }, result);
  }
  static std::string type() { return join(std::vector<std::string>{Codec<T>::type()...}); }
};

template <class R, class... A>
class BoundOperation final : public MethodAccess {
 public:
  using Frame = std::tuple<typename ArgumentTraits<std::decay_t<A>>::Type...>;
  explicit BoundOperation(R (*f)(A...)) : f_(f) {}
  Value call(void*, const Method& method, const Dict& arguments) const override {
    Frame frame{};
    method.fill(&frame, arguments);
    return Result<R>::encode(std::apply(f_, frame));
  }

 private:
  R (*f_)(A...);
};

}  // namespace detail

/// Registers operations of one module.
class CRESCENT_API Operations : private SchemaBuilder {
 public:
  Operations(Registry& registry, std::string module);
  /// Several names of one function: "absolute|abs(x)". Each parameter of f has its name in the
  /// signature; a default of None leaves it as its type starts.
  template <class R, class... A>
  Operations& add(const char* keras_class, const char* signature, R (*f)(A...),
                  const char* doc = "") {
    using Bound = detail::BoundOperation<R, A...>;
    begin(keras_class, signature, doc, std::unique_ptr<const MethodAccess>(new Bound(f)),
          detail::Result<R>::kind, detail::Result<R>::type());
    [[maybe_unused]] const typename Bound::Frame frame{};
    [[maybe_unused]] const auto offset = [&](const auto& place) {
      return reinterpret_cast<const char*>(&place) - reinterpret_cast<const char*>(&frame);
    };
    [&]<size_t... I>(std::index_sequence<I...>) {
      (parameter<typename std::tuple_element_t<
           I, std::tuple<detail::ArgumentTraits<std::decay_t<A>>...>>>(I,
                                                                       offset(std::get<I>(frame))),
       ...);
    }
    (std::index_sequence_for<A...>());
    finish();
    return *this;
  }
  /// A lambda without captures.
  template <class F>
  Operations& add(const char* keras_class, const char* signature, F f,
                  const char* doc = "") requires(std::is_class_v<F>) {
    return add(keras_class, signature, +f, doc);
  }

 private:
  void begin(const char* keras_class, const char* signature, const char* doc,
             std::unique_ptr<const MethodAccess> access, OperationResult result, std::string type);
  void add(size_t place, const MemberType& type, std::ptrdiff_t offset, bool is_tensor,
           bool is_list);
  template <class H>
  void parameter(size_t place, std::ptrdiff_t offset) {
    add(place, MemberType::of<typename H::Type>(), offset, H::is_tensor, H::is_list);
  }
  void finish();

  Registry& registry_;
  std::string module_, signature_;
  std::shared_ptr<OperationRow> row_;
};

}  // namespace crescent
