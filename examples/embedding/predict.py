# The C interface from Python, with nothing but its standard library:
#   python3 predict.py LIBRARY MODEL        LIBRARY: .../lib/libcrescent_c.so.1
import array
import ctypes
import json
import sys

library = ctypes.CDLL(sys.argv[1])
library.crescent_error_message.restype = ctypes.c_char_p
library.crescent_error_message.argtypes = [ctypes.c_void_p]
library.crescent_error_free.argtypes = [ctypes.c_void_p]
library.crescent_text_free.argtypes = [ctypes.c_void_p]
library.crescent_model_free.argtypes = [ctypes.c_void_p]
library.crescent_tensor_free.argtypes = [ctypes.c_void_p]


def call(name, *arguments):
    """Calls a function that gives NULL or an error, which it raises."""
    function = getattr(library, "crescent_" + name)
    function.restype = ctypes.c_void_p
    error = function(*arguments)
    if error:
        message = library.crescent_error_message(error).decode()
        library.crescent_error_free(error)
        raise RuntimeError(message)


class Tensor:
    """Float values of a buffer (array, bytearray, NumPy's), which is not copied."""

    def __init__(self, buffer=None, shape=()):
        self.handle = ctypes.c_void_p()
        if buffer is not None:
            self.memory = (ctypes.c_char * (len(buffer) * buffer.itemsize)).from_buffer(buffer)
            call("tensor_wrap", 0, (ctypes.c_int64 * len(shape))(*shape), len(shape), self.memory,
                 ctypes.c_size_t(len(self.memory)), None, None, ctypes.byref(self.handle))

    def __del__(self):
        library.crescent_tensor_free(self.handle)

    def floats(self, count):
        values = ctypes.POINTER(ctypes.c_float)()
        call("tensor_data", self.handle, ctypes.byref(values))
        return values[:count]


class Model:
    def __init__(self, path):
        self.handle = ctypes.c_void_p()
        call("model_load", path.encode(), None, ctypes.byref(self.handle))

    def __del__(self):
        library.crescent_model_free(self.handle)

    def describe(self):
        text = ctypes.c_char_p()
        call("model_describe", self.handle, ctypes.byref(text))
        described = json.loads(text.value)
        library.crescent_text_free(text)
        return described

    def predict(self, x):
        y, count = Tensor(), ctypes.c_size_t(1)
        call("model_predict", self.handle, ctypes.byref(x.handle), ctypes.c_size_t(1), None,
             ctypes.byref(y.handle), ctypes.byref(count))
        return y


model = Model(sys.argv[2])
print(model.describe()["inputs"])
samples = Tensor(array.array("f", [1, 0, 0, 0, 1, 2]), (2, 3))
print(" ".join("%.2f" % value for value in model.predict(samples).floats(2)))
try:
    Model("no_such_file.keras")
except RuntimeError as error:
    print(error)
