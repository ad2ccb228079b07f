// The kernels of LSTM: their inputs and outputs in each step.
#include "recurrent/forward_pass.h"
#include "recurrent/gradient_pass.h"

namespace crescent::cpu {
namespace {

// inputs: x, h0, c0, kernel, recurrent, bias; outputs: hs, last h, last c, gates, cells
template <class T>
class LstmForward final : public RecurrentForward<T> {
 public:
  explicit LstmForward(const Request& r) : RecurrentForward<T>(r, 4, 3) {}

  void run(const Arguments& a) const override {
    this->run_steps(a, {this->loops_.lstm_input, this->loops_.lstm},
                    {a.in<T>(1), a.in<T>(2), a.out<T>(0), a.out<T>(4), a.out<T>(3)});
    this->copy_last(a.in<T>(1), a.out<T>(0), a.out<T>(1)),
        this->copy_last(a.in<T>(2), a.out<T>(4), a.out<T>(2));
  }
};

// inputs: x, h0, c0, kernel, recurrent, hs, gates, cells, dhs, dlast_h, dlast_c, optional dropout
// factors; outputs: dx, dh0, dc0, dkernel, drecurrent, dbias
template <class T>
class LstmGradient final : public RecurrentGradient<T> {
 public:
  explicit LstmGradient(const Request& r)
      : RecurrentGradient<T>(r, 4, 4 * r.inputs[1].shape[1], true, 11) {}

  void run(const Arguments& a) const override {
    const int64_t units = this->units_;
    T* dc = a.out<T>(2);  // the gradient of the cell at the current step
    std::copy_n(a.in<T>(10), this->batch_ * units, dc);
    const T *c0 = a.in<T>(2), *gates = a.in<T>(6), *cells = a.in<T>(7), *dhs = a.in<T>(8);
    this->run_backwards(
        a,
        {a.in<T>(0), a.in<T>(1), a.in<T>(3), a.in<T>(4), a.in<T>(5), a.in<T>(9), this->factors(a),
         a.out<T>(0), a.out<T>(1), a.out<T>(3), a.out<T>(4), a.out<T>(5)},
        false, [&](const auto& row) {
          const int64_t state = this->row_offset(row.sample, row.step, units);
          const T* c_before = row.step ? cells + state - units : c0 + row.sample * units;
          this->loops_.lstm_gradient(units, gates + 4 * state, c_before, cells + state, row.dh,
                                     dhs + state, dc + row.sample * units, row.dx_products,
                                     row.dbias);
        });
  }
};

}  // namespace

std::unique_ptr<Kernel> make_lstm(const Request& r) { return make_recurrent<LstmForward>(r); }
std::unique_ptr<Kernel> make_lstm_gradient(const Request& r) {
  return make_recurrent<LstmGradient>(r);
}

}  // namespace crescent::cpu
