package dev.espalier.graph.onnx;

import dev.espalier.graph.onnx.Expansions.Steps;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Einstein's sums of two tensors, read as a product of matrices: axes of both that stay are matrices of their own, axes of both
 * that go are summed over, and axes of one are rows or columns.
 */
final class EinsumExpansion {
    private EinsumExpansion() {}

    private record Equation(List<Character> left, List<Character> right, List<Character> output) {

        static Equation of(NodeReading node) {
            String text = node.text("equation", "").replace(" ", "");
            String[] sides = text.split("->", -1);
            String[] inputs = sides[0].split(",", -1);
            node.require(
                    sides.length == 2
                            && inputs.length == 2
                            && node.operands().count() == 2
                            && text.chars().allMatch(c -> Character.isLetter(c) || ",->".indexOf(c) >= 0),
                    String.format(
                            Locale.ROOT,
                            "equation %s: only sums of two tensors whose axes and result are spelled out, such as bij,bjk->bik, are supported",
                            text));
            Equation equation = new Equation(letters(inputs[0]), letters(inputs[1]), letters(sides[1]));
            node.require(equation.isPlain(), "equation " + text + ": an axis is named twice in one place, or in none");
            node.require(
                    equation.left.size() == node.shape(0).rank()
                            && equation.right.size() == node.shape(1).rank(),
                    "equation " + text + " does not fit inputs of shapes " + node.shape(0) + " and " + node.shape(1));
            return equation;
        }

        private static List<Character> letters(String text) {
            return text.chars().mapToObj(c -> (char) c).toList();
        }

        /** Whether every axis is somewhere else too, and nowhere twice: else there were a diagonal, or a sum over one tensor. */
        private boolean isPlain() {
            boolean once = List.of(left, right, output).stream()
                    .allMatch(axes -> axes.stream().distinct().count() == axes.size());
            return once
                    && left.stream().allMatch(axis -> right.contains(axis) || output.contains(axis))
                    && right.stream().allMatch(axis -> left.contains(axis) || output.contains(axis))
                    && output.stream().allMatch(axis -> left.contains(axis) || right.contains(axis));
        }
    }

    static void expand(NodeReading node, Steps steps) {
        Equation equation = Equation.of(node);
        List<Character> matrices = new ArrayList<>();
        List<Character> rows = new ArrayList<>();
        List<Character> columns = new ArrayList<>();
        List<Character> summed = new ArrayList<>();
        for (char axis : equation.left()) {
            boolean both = equation.right().contains(axis);
            (!both ? rows : equation.output().contains(axis) ? matrices : summed).add(axis);
        }
        equation.right().stream()
                .filter(axis -> !equation.left().contains(axis))
                .forEach(columns::add);
        String left = turned(steps, steps.input(0), equation.left(), List.of(matrices, rows, summed));
        String right = turned(steps, steps.input(1), equation.right(), List.of(matrices, summed, columns));
        String product = steps.step(
                "MatMul",
                joined(steps, left, matrices.size(), rows.size(), summed.size()),
                joined(steps, right, matrices.size(), summed.size(), columns.size()));
        List<Character> made = new ArrayList<>(matrices);
        made.addAll(rows);
        made.addAll(columns);
        String shape = steps.along(
                "Concat",
                0,
                steps.lengths(left, 0, matrices.size() + (long) rows.size()),
                steps.lengths(right, matrices.size() + (long) summed.size(), Integer.MAX_VALUE));
        boolean apart = rows.size() != 1 || columns.size() != 1;
        String result = apart ? steps.step("Reshape", product, shape) : product;
        steps.transposed(
                result, equation.output().stream().mapToLong(made::indexOf).toArray());
        steps.finish();
    }

    /** A tensor with its axes in the order of some lists. */
    private static String turned(Steps steps, String input, List<Character> from, List<List<Character>> order) {
        List<Character> axes = order.stream().flatMap(List::stream).toList();
        return axes.equals(from)
                ? input
                : steps.transposed(input, axes.stream().mapToLong(from::indexOf).toArray());
    }

    /** Matrices: the axes of rows made one, and those of columns. */
    private static String joined(Steps steps, String input, int matrices, int rows, int columns) {
        if (rows == 1 && columns == 1) {
            return input;
        }
        String front = steps.lengths(input, 0, matrices);
        String height = product(steps, input, matrices, matrices + rows);
        String width = product(steps, input, matrices + rows, matrices + rows + columns);
        return steps.step("Reshape", input, steps.along("Concat", 0, front, height, width));
    }

    private static String product(Steps steps, String input, int from, int to) {
        String product = steps.list(1);
        for (int axis = from; axis < to; axis++) {
            product = steps.step("Mul", product, steps.lengths(input, axis, axis + 1L));
        }
        return product;
    }
}
