package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.StringStringEntryProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import com.google.protobuf.UnsafeByteOperations;
import dev.espalier.graph.type.Tensor;

/** Tensors as ONNX stores them. */
final class TensorEncoder {
    private TensorEncoder() {}

    /** With its contents in the file, which share the tensor's memory until they are written. */
    static TensorProto.Builder inline(String name, Tensor tensor) {
        return head(name, tensor)
                .setRawData(UnsafeByteOperations.unsafeWrap(tensor.data().asByteBuffer()));
    }

    /** With its contents in another file. */
    static TensorProto.Builder external(String name, Tensor tensor, String location, long offset) {
        return head(name, tensor)
                .setDataLocation(TensorProto.DataLocation.EXTERNAL)
                .addExternalData(entry("location", location))
                .addExternalData(entry("offset", Long.toString(offset)))
                .addExternalData(entry("length", Long.toString(tensor.data().byteSize())));
    }

    private static StringStringEntryProto entry(String key, String value) {
        return StringStringEntryProto.newBuilder().setKey(key).setValue(value).build();
    }

    private static TensorProto.Builder head(String name, Tensor tensor) {
        TensorProto.Builder head =
                TensorProto.newBuilder().setDataType(OnnxTypes.of(tensor.type()).getNumber());
        if (!name.isEmpty()) {
            head.setName(name);
        }
        for (long length : tensor.shape()) {
            head.addDims(length);
        }
        return head;
    }
}
