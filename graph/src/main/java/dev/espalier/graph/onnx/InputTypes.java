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
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/** The types that a file declares for its inputs, and for other tensors. */
final class InputTypes {
    private final boolean exactSymbols;
    private final Set<String> symbols = new HashSet<>();
    private final Set<Dimension> ambiguous = new HashSet<>();

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
        Set<String> seen = new HashSet<>();
        return read("input", info, symbol -> distinct(symbol, seen));
    }

    private TensorType read(String kind, ValueInfoProto info, UnaryOperator<String> symbols) throws OnnxException {
        String what = kind + " " + info.getName();
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
        for (TensorShapeProto.Dimension length : tensor.getShape().getDimList()) {
            if (length.getDimValue() < -1) {
                throw new OnnxException(what + " has a length of " + length.getDimValue());
            }
        }
        return new TensorType(data, shape(info.getName(), tensor.getShape(), symbols));
    }

    /** What a file declares for another tensor; nothing if it does not say how many axes that has. */
    Optional<TensorType> declared(ValueInfoProto info) throws OnnxException {
        TypeProto type = info.getType();
        boolean told = type.getValueCase() != TypeProto.ValueCase.VALUE_NOT_SET
                && (!type.hasTensorType() || type.getTensorType().hasShape());
        return told ? Optional.of(read("tensor", info, symbol -> symbol)) : Optional.empty();
    }

    /** Whether a symbol of the file stands for lengths that may differ. */
    boolean isAmbiguous(Dimension symbol) {
        return ambiguous.contains(symbol);
    }

    private static Shape shape(String name, TensorShapeProto proto, UnaryOperator<String> symbols) {
        List<Dimension> lengths = new ArrayList<>();
        for (TensorShapeProto.Dimension length : proto.getDimList()) {
            if (length.hasDimValue() && length.getDimValue() >= 0) {
                lengths.add(Dimension.of(length.getDimValue()));
            } else if (length.hasDimValue() || length.getDimParam().isBlank()) {
                // Some exporters write −1 for a length that is free; others are refused before.
                lengths.add(Dimension.symbol(name + ".length" + lengths.size()));
            } else {
                lengths.add(Dimension.symbol(symbols.apply(length.getDimParam())));
            }
        }
        return new Shape(lengths);
    }

    /** The symbol itself, or another one where the same shape has it already; the same one in every input. */
    private String distinct(String symbol, Set<String> seen) {
        String name = symbol;
        for (int i = 1; !exactSymbols && !seen.add(name); i++) {
            ambiguous.add(Dimension.symbol(symbol));
            name = symbol + "_" + i;
            if (symbols.contains(name)) {
                name = name + "'";
            }
        }
        return name;
    }
}
