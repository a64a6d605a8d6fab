package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.onnx.Expansions.Steps;
import dev.espalier.graph.onnx.Functions.Call;
import dev.espalier.graph.op.Fact;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Whole numbers that stand for fractions, read as the fractions: the float model that an int8 model was made of, with weights
 * {@code scale · (q − zero point)}.
 *
 * <p>A tensor of codes is not made at all; whoever reads it gets the fractions instead. Only the bounds that codes have are kept,
 * by a {@code Clip}: a quantiser leaves out a {@code Relu} where saturation does the same. Scales that are computed while the model
 * runs go through it as symbols. A product of codes is a product of fractions divided by both scales, and is multiplied by them
 * later; so they cancel out. Whatever is needed as it is after all, such as an output of codes, is computed as the file says.
 */
final class Quantized {
    /** Operators that pick or move elements, so that fractions can stand for codes. */
    private static final Set<String> MOVES = Set.of(
            "DepthToSpace",
            "Expand",
            "Flatten",
            "Gather",
            "GatherElements",
            "Identity",
            "MaxPool",
            "Reshape",
            "Slice",
            "SpaceToDepth",
            "Split",
            "Squeeze",
            "Tile",
            "Transpose",
            "Unsqueeze");

    /** Operators that round, or change the type: fractions need neither. */
    private static final Set<String> ROUNDS = Set.of("Cast", "Ceil", "Floor", "Identity", "Round");

    /** Operators that do that or lay out a tensor otherwise: what it is a multiple of stays. */
    private static final Set<String> KEEPS = Set.of(
            "Cast", "Ceil", "Flatten", "Floor", "Identity", "Reshape", "Round", "Squeeze", "Transpose", "Unsqueeze");

    /** What the reader of the model knows, and learns. */
    interface Model {
        /** What is known of a tensor; null for none. */
        @Nullable
        Fact fact(String tensor);

        /** Contents that are known; null if they are not. */
        @Nullable
        Tensor contents(String tensor);

        /** Whether a tensor is read by a node, or is an output of the model. */
        boolean isUsed(String tensor);

        /** A name like one, for a tensor that is none of the file's. */
        String unique(String wanted);

        /** Stores a constant under a name of the file's. */
        void constant(String name, Tensor contents);

        /** Stores what may be a weight. */
        void weight(String name, Tensor contents);

        /** Takes note that a weight is read once more. */
        void use(String weight);

        /** Lets a weight stand for a tensor of the file. */
        void rename(String tensor, String weight);
    }

    private sealed interface Deferred permits Code, Multiple, ZeroPoint {}

    /**
     * Codes of fractions: {@code value = scale · (code − zero)}.
     *
     * @param rounds whether the file rounds the fractions here; false for codes that were codes before
     */
    private record Code(String value, String scale, String zero, DataType type, boolean rounds) implements Deferred {}

    /**
     * A tensor as a multiple of scales.
     *
     * @param base what is multiplied; empty for one
     * @param powers by the names of scales, none of them zero
     */
    private record Multiple(String base, SortedMap<String, Integer> powers, DataType type) implements Deferred {}

    /** The code of zero for a tensor that is quantised while the model runs. */
    private record ZeroPoint(String input) implements Deferred {}

    private record WeightKey(String codes, String scale, String zero, int axis, long block) {}

    private final Model model;
    private final Names tensorNames;
    private final Map<String, Deferred> deferred = new HashMap<>();
    /** What the scales of tensors that are quantised while the model runs are computed of. */
    private final Map<String, String> scaled = new HashMap<>();

    private final Map<WeightKey, String> weights = new HashMap<>();
    private final Set<String> unrounded = new HashSet<>();
    /** The scale of the weight behind every product of codes, by the product's name. */
    private final Map<String, String> scalesOfProducts = new HashMap<>();

    private final Map<String, List<NodeProto>> readers = new HashMap<>();

    Quantized(Model model, Names tensorNames) {
        this.model = model;
        this.tensorNames = tensorNames;
    }

    /** What was read so far. */
    Dequantization result() {
        return new Dequantization(weights.size(), unrounded.size());
    }

    /** Looks at all nodes before the first of them is read. */
    void begin(List<Call> calls) {
        for (Call call : calls) {
            call.node()
                    .getInputList()
                    .forEach(input -> readers.computeIfAbsent(input, name -> new ArrayList<>())
                            .add(call.node()));
        }
        scalesOfProducts.putAll(new ProductScales(calls, readers, model).find());
    }

    /** Whether a node makes or reads codes, or multiples of scales. */
    boolean concerns(Call call, List<String> inputs) {
        return QuantizedOperators.find(call.node()) != null
                || isTable(call.node(), inputs)
                || InnerGraphs.reads(call.node()).stream().anyMatch(deferred::containsKey)
                || inputs.stream().anyMatch(deferred::containsKey);
    }

    /** The tensors in which an input is as the reader knows it: fractions for codes. */
    List<String> visible(List<String> inputs) {
        return inputs.stream()
                .map(input -> deferred.get(input) instanceof Code code ? code.value() : input)
                .toList();
    }

    /** What takes the place of a node; null if it needs its inputs as they are. */
    @Nullable
    List<Call> read(String name, Call call, List<String> inputs, NodeReading reading) {
        QuantizedOperators.Rule rule = QuantizedOperators.find(call.node());
        if (rule != null) {
            Work work = new Work(name, call.node(), inputs, reading);
            try {
                rule.read(work);
            } catch (GraphException alreadyExplained) {
                throw alreadyExplained;
            } catch (IllegalArgumentException
                    | ArithmeticException
                    | IllegalStateException
                    | IndexOutOfBoundsException problem) {
                throw reading.explained(problem);
            }
            return work.calls();
        }
        if (isTable(call.node(), inputs)) {
            return table(name, call, inputs, reading);
        }
        boolean codes = inputs.stream().anyMatch(input -> deferred.get(input) instanceof Code);
        if (!Functions.domain(call.node().getDomain()).isEmpty()
                || !InnerGraphs.of(call.node()).isEmpty()) {
            return null;
        }
        return codes ? moved(name, call, inputs) : multiple(name, call.node(), inputs, reading);
    }

    /** What has to be read before a tensor that was left out can be read as the file has it; nothing if it is there. */
    List<Call> made(String tensor) {
        Deferred left = deferred.remove(tensor);
        if (left == null) {
            return List.of();
        }
        List<Call> before = new ArrayList<>();
        NodeProto made = NodeProto.newBuilder().addOutput(tensor).build();
        Steps steps = new Steps(tensor, made, tensorNames);
        switch (left) {
            case Code(String value, String scale, String zero, DataType type, var _) -> {
                before.addAll(made(scale));
                before.addAll(made(zero));
                steps.cast(CodeSteps.codes(steps, value, scale, zero, type), type);
            }
            case ZeroPoint(String input) -> {
                CodeSteps.Range range = CodeSteps.range(steps, input);
                String zero = steps.step("Round", steps.step("Neg", steps.step("Div", range.low(), range.scale())));
                steps.cast(CodeSteps.clip(steps, zero, 0, 255), DataType.UINT8);
            }
            case Multiple(String base, SortedMap<String, Integer> powers, DataType type) -> {
                String input = scaled.get(tensor);
                String product = base;
                if (input != null && base.isEmpty()) {
                    product = CodeSteps.range(steps, input).scale();
                } else {
                    for (Map.Entry<String, Integer> power : powers.entrySet()) {
                        before.addAll(made(power.getKey()));
                        product = CodeSteps.power(steps, product, power.getKey(), power.getValue());
                    }
                }
                steps.cast(type.isFloat() ? product : steps.step("Round", product), type);
            }
        }
        steps.finish();
        steps.nodes().forEach(node -> before.add(new Call(node, Expansions.OPSET)));
        return before;
    }

    /** Whether rows of codes are picked from a table of them, and become fractions behind. */
    private boolean isTable(NodeProto node, List<String> inputs) {
        return node.getOpType().equals("Gather")
                && Functions.domain(node.getDomain()).isEmpty()
                && inputs.size() == 2
                && dequantizer(node, model.contents(inputs.getFirst())) != null
                && model.contents(inputs.getLast()) == null;
    }

    private static boolean isCodes(@Nullable Tensor tensor) {
        return tensor != null && (tensor.type() == DataType.INT8 || tensor.type() == DataType.UINT8);
    }

    private @Nullable NodeProto dequantizer(NodeProto gather, @Nullable Tensor table) {
        String codes = gather.getOutput(0);
        List<NodeProto> all = readers.getOrDefault(codes, List.of());
        NodeProto first = all.isEmpty() ? null : all.getFirst();
        boolean plain = table != null
                && isCodes(table)
                && first != null
                && first.getInputCount() >= 2
                && first.getOpType().equals("DequantizeLinear")
                && first.getInput(0).equals(codes)
                && ((isOneNumber(first, 1) && (first.getInputCount() < 3 || isOneNumber(first, 2)))
                        || isByColumns(gather, table, first));
        return plain ? first : null;
    }

    /** Whether whole rows are picked, and each of their elements has a scale of its own. */
    private boolean isByColumns(NodeProto gather, Tensor table, NodeProto behind) {
        Tensor scale = model.contents(behind.getInput(1));
        boolean last = behind.getAttributeList().stream()
                .anyMatch(attribute -> attribute.getName().equals("axis") && attribute.getI() == -1);
        boolean rows = gather.getAttributeList().stream()
                .noneMatch(attribute -> attribute.getName().equals("axis") && attribute.getI() != 0);
        return last && rows && table.rank() == 2 && scale != null && scale.size() == table.shape()[1];
    }

    private boolean isOneNumber(NodeProto node, int input) {
        Tensor contents = model.contents(node.getInput(input));
        return contents != null && contents.size() == 1;
    }

    private @Nullable List<Call> table(String name, Call call, List<String> inputs, NodeReading reading) {
        Tensor codes = model.contents(inputs.getFirst());
        NodeProto behind = dequantizer(call.node(), codes);
        if (behind == null) {
            return null;
        }
        String zero = behind.getInputCount() < 3 ? "" : behind.getInput(2);
        Work work = new Work(name, call.node(), inputs, reading);
        String rows = work.weight(inputs.getFirst(), behind.getInput(1), zero, -1, 0);
        String value = work.steps.copied("Gather", rows, inputs.getLast());
        deferred.put(call.node().getOutput(0), new Code(value, behind.getInput(1), zero, DataType.INT8, false));
        return work.calls();
    }

    /** Codes that are moved are those of fractions that are moved. */
    private @Nullable List<Call> moved(String name, Call call, List<String> inputs) {
        NodeProto node = call.node();
        if (!node.getOpType().equals("Split")
                && node.getOutputList().stream().skip(1).anyMatch(model::isUsed)) {
            // Only the first output is moved codes: the others, such as the indices of a MaxPool, are those of the
            // codes themselves.
            return null;
        }
        boolean joined = node.getOpType().equals("Concat");
        if (!(deferred.get(inputs.getFirst()) instanceof Code first) || !(joined || MOVES.contains(node.getOpType()))) {
            return null;
        }
        List<String> values = new ArrayList<>();
        for (String input : inputs) {
            boolean moves = joined || values.isEmpty();
            if (moves
                    && deferred.get(input) instanceof Code code
                    && isSame(code.scale(), first.scale())
                    && isSame(code.zero(), first.zero())) {
                values.add(value(input, code));
            } else if (joined || deferred.containsKey(input)) {
                return null;
            } else {
                values.add(input);
            }
        }
        NodeProto.Builder twin =
                node.toBuilder().setName(name).clearInput().addAllInput(values).clearOutput();
        for (String output : node.getOutputList()) {
            String value = output.isEmpty() ? "" : model.unique(output + "/value");
            twin.addOutput(value);
            if (!output.isEmpty()) {
                deferred.put(output, new Code(value, first.scale(), first.zero(), first.type(), false));
            }
        }
        return List.of(new Call(twin.build(), call.opset()));
    }

    private String value(String name, Code code) {
        if (code.rounds()) {
            unrounded.add(name);
        }
        return code.value();
    }

    /** Arithmetic of multiples; null if it is none that keeps one. */
    private @Nullable List<Call> multiple(String name, NodeProto node, List<String> inputs, NodeReading reading) {
        Work work = new Work(name, node, inputs, reading);
        Multiple left = multiple(inputs.getFirst());
        Multiple right = multiple(inputs.getLast());
        if (left == null || right == null) {
            return null;
        }
        Multiple result = switch (node.getOpType()) {
            case "Mul", "Div" -> product(work, node.getOpType(), left, right);
            case "Add", "Sub" -> sum(work, node.getOpType(), left, right);
            default -> KEEPS.contains(node.getOpType()) ? kept(work, node.getOpType(), left, inputs) : null;
        };
        if (result == null) {
            return null;
        }
        work.multiple(result);
        return work.calls();
    }

    private static @Nullable Multiple product(Work work, String operator, Multiple left, Multiple right) {
        boolean divided = operator.equals("Div");
        if (divided && left.base().isEmpty()) {
            return null;
        }
        String base = right.base().isEmpty()
                ? left.base()
                : left.base().isEmpty() ? right.base() : work.steps.step(operator, left.base(), right.base());
        return new Multiple(base, powers(left, right, divided ? -1 : 1), DataType.FLOAT32);
    }

    private static @Nullable Multiple sum(Work work, String operator, Multiple left, Multiple right) {
        boolean alike = left.powers().equals(right.powers())
                && !left.base().isEmpty()
                && !right.base().isEmpty();
        return alike
                ? new Multiple(work.steps.step(operator, left.base(), right.base()), left.powers(), left.type())
                : null;
    }

    private @Nullable Multiple kept(Work work, String operator, Multiple input, List<String> inputs) {
        boolean layout = !ROUNDS.contains(operator);
        boolean numbers = input.powers().keySet().stream().allMatch(this::isOneNumber);
        if (input.base().isEmpty() || (layout && !numbers)) {
            return null;
        }
        List<String> others = new ArrayList<>(inputs);
        others.set(0, input.base());
        DataType type = operator.equals("Cast") ? work.reading.type("to") : input.type();
        String base = layout ? work.steps.copied(operator, others.toArray(String[]::new)) : input.base();
        return new Multiple(base, input.powers(), type);
    }

    private boolean isOneNumber(String scale) {
        Tensor contents = model.contents(scale);
        return scaled.containsKey(scale) || (contents != null && contents.size() == 1);
    }

    /** Any tensor of fractions is a multiple of something; null for codes. */
    private @Nullable Multiple multiple(String tensor) {
        Deferred found = deferred.get(tensor);
        if (found == null && scalesOfProducts.containsValue(tensor)) {
            return new Multiple("", powers(Map.of(tensor, 1)), DataType.FLOAT32);
        }
        return switch (found) {
            case null -> new Multiple(tensor, Collections.emptySortedMap(), DataType.FLOAT32);
            case Multiple multiple -> multiple;
            case Code _, ZeroPoint _ -> null;
        };
    }

    private static SortedMap<String, Integer> powers(Map<String, Integer> powers) {
        return Collections.unmodifiableSortedMap(new TreeMap<>(powers));
    }

    private static SortedMap<String, Integer> powers(Multiple left, Multiple right, int sign) {
        SortedMap<String, Integer> sum = new TreeMap<>(left.powers());
        right.powers().forEach((scale, power) -> sum.merge(scale, sign * power, Integer::sum));
        sum.values().removeIf(power -> power == 0);
        return Collections.unmodifiableSortedMap(sum);
    }

    /** Whether two tensors hold the same numbers, as far as that is known; one that is left out is zero. */
    private boolean isSame(String left, String right) {
        if (left.equals(right)) {
            return true;
        }
        Tensor first = left.isEmpty() ? Tensor.scalar(DataType.INT32, 0) : model.contents(left);
        Tensor second = right.isEmpty() ? Tensor.scalar(DataType.INT32, 0) : model.contents(right);
        if (first == null || second == null || (first.size() != second.size() && !left.isEmpty() && !right.isEmpty())) {
            return false;
        }
        for (long i = 0; i < Math.max(first.size(), second.size()); i++) {
            if (first.getDouble(first.size() == 1 ? 0 : i) != second.getDouble(second.size() == 1 ? 0 : i)) {
                return false;
            }
        }
        return true;
    }

    /** A node that makes or reads codes, on its way to nodes that do not. */
    final class Work {
        private final String name;
        private final NodeProto node;
        private final List<String> inputs;
        private final NodeReading reading;
        private final List<Call> before = new ArrayList<>();
        private final Steps steps;

        private Work(String name, NodeProto node, List<String> inputs, NodeReading reading) {
            this.name = name;
            this.node = node;
            this.inputs = inputs;
            this.reading = reading;
            this.steps = new Steps(name, node, tensorNames);
        }

        private List<Call> calls() {
            List<Call> calls = new ArrayList<>(before);
            steps.nodes().forEach(step -> calls.add(new Call(step, Expansions.OPSET)));
            return calls;
        }

        NodeReading reading() {
            return reading;
        }

        Steps steps() {
            return steps;
        }

        /** The name of an input; empty if it is left out. */
        String input(int index) {
            return index < inputs.size() ? inputs.get(index) : "";
        }

        int inputs() {
            return inputs.size();
        }

        /** The fractions behind an input of codes; one scale for all of them, or one for each place along an axis. */
        String value(int codes, int scale, int zero, int axis) {
            return value(input(codes), input(scale), input(zero), axis, 0);
        }

        /** The same with a scale for each of some places along an axis. */
        String value(String codes, String scale, String zero, int axis, long block) {
            reading.require(!codes.isEmpty(), "what is quantised is missing");
            if (deferred.get(codes) instanceof Code code && isSame(code.scale(), scale) && isSame(code.zero(), zero)) {
                return Quantized.this.value(codes, code);
            }
            if (model.contents(codes) != null
                    && model.contents(scale) != null
                    && (zero.isEmpty() || model.contents(zero) != null)) {
                return weight(codes, scale, zero, axis, block);
            }
            reading.require(block == 0, "block_size " + block + " is supported for weights only");
            return computed(codes, scale, zero, axis);
        }

        /** As the file computes it, for codes that nobody knows the fractions of. */
        private String computed(String codes, String scale, String zero, int axis) {
            before.addAll(made(codes));
            before.addAll(made(scale));
            before.addAll(made(zero));
            DataType type = type(scale);
            String number = steps.cast(codes, type);
            String moved =
                    zero.isEmpty() ? number : steps.step("Sub", number, along(steps.cast(zero, type), zero, axis));
            return steps.step("Mul", moved, along(scale, scale, axis));
        }

        /** One number for each place along an axis, with axes behind it. */
        private String along(String tensor, String shaped, int axis) {
            Fact fact = model.fact(shaped);
            int rank = reading.shape(0).rank();
            boolean one = fact == null || fact.shape().size().equals(Dimension.of(1));
            int place = axis < 0 ? axis + rank : axis;
            if (one || place >= rank - 1) {
                return tensor;
            }
            return steps.step(
                    "Unsqueeze",
                    tensor,
                    steps.list(LongStream.range(1, rank - place).toArray()));
        }

        private DataType type(String scale) {
            Fact fact = model.fact(scale);
            return fact == null ? DataType.FLOAT32 : fact.data();
        }

        /** Contents that are known as fractions, under a name of their own. */
        private String weight(String codes, String scale, String zero, int axis, long block) {
            Tensor contents = contents(codes);
            int place = axis < 0 ? axis + contents.rank() : axis;
            return weight(new WeightKey(codes, scale, zero, place, block), () -> {
                Tensor zeros = zero.isEmpty() ? Tensor.scalar(DataType.INT32, 0) : contents(zero);
                return QuantizedOperators.dequantized(reading, contents, contents(scale), zeros, place, block);
            });
        }

        /** Codes that several of one byte hold, as fractions. */
        String packed(int codes, int scale, int zero, int bits, Supplier<Tensor> fractions) {
            return weight(new WeightKey(input(codes), input(scale), input(zero), -bits, 0), fractions);
        }

        private String weight(WeightKey key, Supplier<Tensor> fractions) {
            String known = weights.get(key);
            if (known == null) {
                known = model.unique(key.codes().replaceFirst("_(quantized|Q4|Q8)$", ""));
                model.weight(known, fractions.get());
                weights.put(key, known);
            }
            model.use(known);
            return known;
        }

        Tensor contents(String tensor) {
            Tensor contents = model.contents(tensor);
            if (contents == null) {
                throw reading.problem(tensor + " must be a constant, but it is known only when the model runs");
            }
            return contents;
        }

        boolean isKnown(String tensor) {
            return model.contents(tensor) != null;
        }

        /** Makes the output: fractions. */
        void fractions(String value) {
            String output = node.getOutput(0);
            if (weights.containsValue(value)) {
                model.rename(output, value);
            } else {
                steps.output(0, value);
            }
        }

        /** Stores a constant, under a name of its own. */
        String constant(String what, Tensor contents) {
            String unique = model.unique(name + "/" + what);
            model.constant(unique, contents);
            return unique;
        }

        /** Takes note that the file rounds a tensor here. */
        void unrounded(String tensor) {
            unrounded.add(tensor);
        }

        /** The node's attributes without some. */
        List<AttributeProto> attributes(String... without) {
            return node.getAttributeList().stream()
                    .filter(attribute -> !List.of(without).contains(attribute.getName()))
                    .toList();
        }

        /** Stores the output: codes that are known already. */
        void constant(Tensor codes) {
            model.constant(node.getOutput(0), codes);
        }

        /** Makes the output: codes of fractions, which they bound. */
        void codes(String value, int scale, int zero, DataType type) {
            String low = bound(scale, zero, CodeSteps.least(type));
            String high = bound(scale, zero, CodeSteps.most(type));
            String bounded = steps.step("Clip", value, low, high);
            deferred.put(node.getOutput(0), new Code(bounded, input(scale), input(zero), type, true));
        }

        /** The fraction behind a code. */
        private String bound(int scale, int zero, long code) {
            before.addAll(made(input(scale)));
            before.addAll(made(input(zero)));
            DataType type = type(input(scale));
            if (isKnown(input(scale)) && (input(zero).isEmpty() || isKnown(input(zero)))) {
                double from = input(zero).isEmpty() ? 0 : reading.number(zero, "the zero point");
                return steps.number(reading.number(scale, "the scale") * (code - from), type);
            }
            String number = steps.number((double) code, type);
            String from = input(zero).isEmpty() ? number : steps.step("Sub", number, steps.cast(input(zero), type));
            return steps.step("Reshape", steps.step("Mul", from, input(scale)), steps.list());
        }

        /** The type of codes that a zero point tells. */
        DataType codeType(int zero) {
            Fact fact = input(zero).isEmpty() ? null : model.fact(input(zero));
            return fact == null ? DataType.UINT8 : fact.data();
        }

        /** Takes note of codes whose scale and zero point are computed while the model runs. */
        void dynamic(String value) {
            reading.require(node.getOutputCount() == 3, "it must have 3 outputs but has " + node.getOutputCount());
            String scale = node.getOutput(1);
            scaled.put(scale, value);
            deferred.put(scale, new Multiple("", powers(Map.of(scale, 1)), DataType.FLOAT32));
            deferred.put(node.getOutput(2), new ZeroPoint(value));
            deferred.put(node.getOutput(0), new Code(value, scale, node.getOutput(2), DataType.UINT8, true));
        }

        /** A product of codes, which is one of fractions divided by their scales. */
        void product(String operator, int axis) {
            Multiple left = factor(0, 2, "", 0);
            Multiple right = factor(1, 3, scalesOfProducts.getOrDefault(node.getOutput(0), ""), axis);
            String base = steps.copied(operator, left.base(), right.base());
            multiple(new Multiple(base, powers(left, right, 1), DataType.INT32));
        }

        private Multiple factor(int index, int zeroIndex, String scale, int axis) {
            String codes = input(index);
            String zero = input(zeroIndex);
            if (deferred.get(codes) instanceof Code code && isSame(code.zero(), zero)) {
                return new Multiple(
                        Quantized.this.value(codes, code), powers(Map.of(code.scale(), -1)), DataType.FLOAT32);
            }
            String one = "";
            if (scale.isEmpty() || !isKnown(codes)) {
                one = constant("one", Tensor.scalar(DataType.FLOAT32, 1));
            }
            String base = value(codes, one.isEmpty() ? scale : one, zero, axis, 0);
            return new Multiple(base, one.isEmpty() ? powers(Map.of(scale, -1)) : powers(Map.of()), DataType.FLOAT32);
        }

        private void multiple(Multiple result) {
            if (result.powers().isEmpty() && result.type().isFloat()) {
                steps.output(0, result.base());
            } else {
                deferred.put(node.getOutput(0), result);
            }
        }
    }
}
