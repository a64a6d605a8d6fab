package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What operators of older versions are called and how they are written today, so that the {@link OperatorTable} knows one form of
 * each. A rule puts nodes of {@link Expansions#OPSET} in place of a node.
 */
final class Upgrades {
    /** By the operator's name; each holds for versions of the operators before one. */
    private static final Map<String, Rule> RULES = Map.ofEntries(
            Map.entry("Squeeze", new Rule(13, moved("axes"))),
            Map.entry("Unsqueeze", new Rule(13, moved("axes"))),
            Map.entry("ReduceSum", new Rule(13, moved("axes"))),
            Map.entry("Split", new Rule(13, moved("split"))),
            Map.entry("Softmax", new Rule(13, Upgrades::flattened)),
            Map.entry("LogSoftmax", new Rule(13, Upgrades::flattened)),
            Map.entry("Dropout", new Rule(12, moved("ratio"))),
            Map.entry("Clip", new Rule(11, moved("min", "max"))),
            Map.entry("Pad", new Rule(11, moved("pads", "value"))),
            Map.entry("Resize", new Rule(11, Upgrades::resize)),
            Map.entry("Slice", new Rule(10, moved("starts", "ends", "axes"))),
            Map.entry("TopK", new Rule(10, moved("k"))),
            Map.entry("Upsample", new Rule(10, Upgrades::resize)),
            Map.entry("BatchNormalization", new Rule(9, Upgrades::spatial)));

    /** Versions that gave a name another form or meaning, so that what was written before cannot be left as it is. */
    private static final Map<String, Integer> LATER = Map.ofEntries(
            Map.entry("Hardmax", 13),
            Map.entry("Scatter", 11),
            Map.entry("Scan", 9),
            Map.entry("BatchNormalization", 14),
            Map.entry("Split", 18),
            Map.entry("ReduceL1", 18),
            Map.entry("ReduceL2", 18),
            Map.entry("ReduceLogSum", 18),
            Map.entry("ReduceLogSumExp", 18),
            Map.entry("ReduceMax", 18),
            Map.entry("ReduceMean", 18),
            Map.entry("ReduceMin", 18),
            Map.entry("ReduceProd", 18),
            Map.entry("ReduceSumSquare", 18),
            Map.entry("DFT", 20),
            Map.entry("GridSample", 20),
            Map.entry("GroupNormalization", 21));

    private record Rule(int before, OperatorTable.Expansion how) {}

    private Upgrades() {}

    /** What to put in place of a node; null if it is written as today. */
    static OperatorTable.@Nullable Expansion of(Functions.Call call) {
        Rule rule = RULES.get(call.node().getOpType());
        return rule != null
                        && call.opset() < rule.before()
                        && Functions.domain(call.node().getDomain()).isEmpty()
                ? rule.how()
                : null;
    }

    /** Whether a name of the default domain means something else, or is written otherwise, in a later version. */
    static boolean isOther(String name, int opset, int later) {
        Rule rule = RULES.get(name);
        int changed = LATER.getOrDefault(name, 0);
        return (rule != null && opset < rule.before() && rule.before() <= later)
                || (opset < changed && changed <= later);
    }

    /** Attributes that have become inputs, behind those that there were. */
    private static OperatorTable.Expansion moved(String... keys) {
        return (node, steps) -> {
            NodeProto.Builder today = steps.copy();
            for (String key : keys) {
                today.addInput(constant(node, steps, key));
            }
            steps.last(without(today, List.of(keys)));
        };
    }

    /** An attribute as a constant; no name if the file does not give it. */
    private static String constant(NodeReading node, Expansions.Steps steps, String key) {
        if (!node.hasAttribute(key)) {
            return "";
        }
        return switch (key) {
            case "min", "max", "value", "ratio" -> steps.number(node.number(key, 0), node.data(0));
            case "k" -> steps.list(node.whole(key, 0));
            default ->
                steps.list(node.longs(key, List.of()).stream()
                        .mapToLong(Long::longValue)
                        .toArray());
        };
    }

    private static NodeProto.Builder without(NodeProto.Builder node, List<String> keys) {
        List<AttributeProto> left = new ArrayList<>(node.getAttributeList());
        left.removeIf(attribute -> keys.contains(attribute.getName()));
        return node.clearAttribute().addAllAttribute(left);
    }

    /** Over all axes from one on, as if they were one. */
    private static void flattened(NodeReading node, Expansions.Steps steps) {
        int axis = node.shape(0).axis(node.whole("axis", 1));
        String softmax = steps.copy().getOpType();
        if (axis == node.shape(0).rank() - 1) {
            steps.along(softmax, -1, steps.input(0));
        } else {
            String flat = steps.along("Flatten", axis, steps.input(0));
            steps.step("Reshape", steps.along(softmax, -1, flat), steps.step("Shape", steps.input(0)));
        }
        steps.finish();
    }

    /** Scales were all there was, and a point came from where its index divided by the scale is. */
    private static void resize(NodeReading node, Expansions.Steps steps) {
        String scales = steps.input(1);
        if (scales.isEmpty()) {
            scales = steps.numbers(node.numbers("scales"));
        }
        NodeProto.Builder today = steps.copy().setOpType("Resize").clearInput();
        today.addInput(steps.input(0)).addInput("").addInput(scales);
        steps.last(without(today, List.of("scales"))
                .addAttribute(Expansions.text("coordinate_transformation_mode", "asymmetric"))
                .addAttribute(Expansions.text("nearest_mode", "floor")));
    }

    /** Means of whole channels, as today, unless a file says otherwise. */
    private static void spatial(NodeReading node, Expansions.Steps steps) {
        node.require(node.flag("spatial", true), "spatial 0 is not supported");
        steps.last(without(steps.copy(), List.of("spatial")));
    }
}
