package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.TensorShapeProto;
import ai.onnx.proto.OnnxMl.TypeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.TensorType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The types that a file declares for its inputs. */
final class InputTypes {
    private final boolean exactSymbols;
    private final Set<String> symbols = new HashSet<>();

    InputTypes(ModelProto model) {
        exactSymbols = model.getProducerName().equals(OnnxWriter.PRODUCER);
        for (ValueInfoProto input : model.getGraph().getInputList()) {
            for (TensorShapeProto.Dimension length :
                    input.getType().getTensorType().getShape().getDimList()) {
                symbols.add(length.getDimParam());
            }
        }
    }

    TensorType read(ValueInfoProto info) throws OnnxException {
        String what = "input " + info.getName();
        if (!info.getType().hasTensorType()) {
            throw new OnnxException(
                    what + " is of type " + info.getType().getValueCase() + "; only tensors are supported");
        }
        TypeProto.Tensor tensor = info.getType().getTensorType();
        DataType data = OnnxTypes.find(tensor.getElemType());
        if (data == null) {
            throw new OnnxException(what + " has elements of type " + OnnxTypes.name(tensor.getElemType())
                    + ", which is not supported");
        }
        if (!tensor.hasShape()) {
            throw new GraphException(what + " does not say how many axes it has: export the model with input shapes");
        }
        if (tensor.getShape().getDimCount() > TensorDecoder.MOST_AXES) {
            throw new OnnxException(what + " has " + tensor.getShape().getDimCount() + " axes; there may be at most "
                    + TensorDecoder.MOST_AXES);
        }
        return new TensorType(data, shape(info.getName(), tensor.getShape()));
    }

    private Shape shape(String name, TensorShapeProto proto) {
        List<Dimension> lengths = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        for (TensorShapeProto.Dimension length : proto.getDimList()) {
            if (length.hasDimValue() && length.getDimValue() >= 0) {
                lengths.add(Dimension.of(length.getDimValue()));
            } else if (length.hasDimValue() || length.getDimParam().isBlank()) {
                // Some exporters write −1 for a length that is free.
                lengths.add(Dimension.symbol(name + ".length" + lengths.size()));
            } else {
                lengths.add(Dimension.symbol(distinct(length.getDimParam(), seen)));
            }
        }
        return new Shape(lengths);
    }

    /** The symbol itself, or another one where the same shape has it already; the same one in every input. */
    private String distinct(String symbol, Set<String> seen) {
        String name = symbol;
        for (int i = 1; !exactSymbols && !seen.add(name); i++) {
            name = symbol + "_" + i;
            if (symbols.contains(name)) {
                name = name + "'";
            }
        }
        return name;
    }
}
