// Conversion between arrays of a file and tensors.
#pragma once
#include "crescent/tensor/tensor.h"
#include "file_reader.h"
#include "tree.h"

namespace crescent::hdf5 {

/// A tensor that shares the memory of the array.
Tensor to_tensor(const Array& array);
/// A tensor whose values stay in the file. For a compressed dataset the tensor owns the reader. If
/// the file has checksums of the dataset's pieces (files/pieces.h), each piece is compared with its
/// checksum when it is first read.
Tensor tensor_in_file(std::unique_ptr<FileReader> file, const std::string& dataset);
/// An array that shares the memory of the tensor.
Array to_array(const Tensor& tensor);
Node dataset_node(std::string path, const Tensor& value);

DType dtype_of(ElementType type);
/// The shape of an array; fails, naming `array_label`, for more than eight axes.
Shape shape_of(const std::vector<uint64_t>& dims, std::string_view array_label);

}  // namespace crescent::hdf5
