// The table of kernels for LSTM and GRU.
#include "recurrent/sequence.h"

namespace crescent::cpu {

std::span<const KernelRow> recurrent_kernels() {
  static constexpr KernelFactory kHalf = make_converted<recurrent_kernels>;
  static constexpr KernelRow kRows[] = {{"lstm", make_lstm},
                                        {"lstm", kHalf},
                                        {"lstm_backward", make_lstm_gradient},
                                        {"lstm_backward", kHalf},
                                        {"lstm_gates", make_lstm_gates},
                                        {"lstm_gates_backward", make_lstm_gates_gradient},
                                        {"gru", make_gru},
                                        {"gru", kHalf},
                                        {"gru_backward", make_gru_gradient},
                                        {"gru_backward", kHalf}};
  return kRows;
}

}  // namespace crescent::cpu
