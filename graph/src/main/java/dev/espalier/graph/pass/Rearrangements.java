package dev.espalier.graph.pass;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Graph.Use;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Flatten;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Slice;
import dev.espalier.graph.op.Split;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.op.Transpose;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.pass.Rearrangement.Factor;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Brings the ways in which exporters deal channels out to attention heads to one form.
 *
 * <p>Reshapes and transpositions in a row are written as one of each, where that is fewer: some exporters fold the batch into the
 * heads and unfold it again at once, which hides the heads. And where the outputs of one layer are query, key and value, and are
 * told apart behind a reshape to {@code [batch, tokens, 3, heads, width]}, they are told apart before it: what belongs to which is
 * then a matter of channels, which can be made fewer for each of them alone. The number of elements that are moved stays the same.
 */
public final class Rearrangements {
    /** Chains of exporters have a handful of nodes. */
    private static final int LONGEST = 16;

    /** A chain may be made of what another one became. */
    private static final int MOST_ROUNDS = 8;

    private final Graph graph;
    private final SequencedMap<String, Initializer> initializers;
    private final List<Node> nodes = new ArrayList<>();
    private final Set<Node> replaced = new HashSet<>();
    private final Set<String> taken = new HashSet<>();

    /** Nodes in a row that only move elements. */
    private record Chain(String source, Rearrangement moves, int length) {}

    /**
     * A piece that a node takes.
     *
     * @param output where it goes
     * @param start where it starts along the axis
     * @param length how long it is
     * @param drops whether the axis is gone
     */
    private record Piece(String output, long start, long length, boolean drops) {}

    private Rearrangements(Graph graph) {
        this.graph = graph;
        initializers = new LinkedHashMap<>(graph.initializers());
        taken.addAll(graph.initializers().keySet());
        graph.inputs().forEach(input -> taken.add(input.name()));
        graph.nodes().forEach(node -> {
            taken.add(node.name());
            taken.addAll(node.outputs());
        });
    }

    /**
     * {@return an equivalent graph with as few reshapes and transpositions as it takes; the very same if that is what it has}
     *
     * @param graph the graph
     */
    public static Graph simplify(Graph graph) {
        Graph simple = graph;
        for (int round = 0; round < MOST_ROUNDS; round++) {
            Rearrangements pass = new Rearrangements(simple);
            simple.nodes().forEach(pass::visit);
            if (pass.replaced.isEmpty()) {
                break;
            }
            simple.nodes().stream()
                    .filter(node -> !pass.replaced.contains(node))
                    .forEach(pass.nodes::add);
            simple = DeadNodes.remove(simple.with(pass.initializers, pass.nodes));
        }
        return simple;
    }

    private void visit(Node node) {
        String end = node.outputs().getFirst();
        if (!isMover(node.operator()) || !graph.fact(end).data().isFloat() || continues(end)) {
            return;
        }
        Chain chain = chain(end);
        if (chain != null && !divide(chain, end)) {
            List<Node> fewer = write(chain.moves(), chain.source(), node.name(), end);
            if (fewer != null && fewer.size() < chain.length()) {
                nodes.addAll(fewer);
                replaced.add(node);
            }
        }
    }

    private static boolean isMover(Operator operator) {
        return operator instanceof Reshape
                || operator instanceof Transpose
                || operator instanceof Squeeze
                || operator instanceof Unsqueeze
                || operator instanceof Flatten;
    }

    /** Whether a tensor is but a step of a chain. */
    private boolean continues(String tensor) {
        List<Use> readers = graph.readers(tensor);
        return readers.size() == 1
                && !graph.isOutput(tensor)
                && isMover(readers.getFirst().node().operator());
    }

    /** The longest chain before a tensor whose moves are understood; null if there is none. */
    private @Nullable Chain chain(String end) {
        List<Node> before = new ArrayList<>();
        Node next = graph.producer(end);
        while (next != null
                && isMover(next.operator())
                && before.size() < LONGEST
                && (before.isEmpty() || continues(next.output()))
                && graph.tensor(next.input(0)) == null) {
            before.addFirst(next);
            next = graph.producer(next.input(0));
        }
        for (int start = 0; start < before.size(); start++) {
            List<Node> some = before.subList(start, before.size());
            String source = some.getFirst().input(0);
            Rearrangement moves = moves(source, some);
            if (moves != null) {
                return new Chain(source, moves, some.size());
            }
        }
        return null;
    }

    private @Nullable Rearrangement moves(String source, List<Node> chain) {
        Rearrangement moves = Rearrangement.of(graph.shape(source));
        for (Node node : chain) {
            moves = node.operator() instanceof Transpose(List<Long> permutation)
                    ? moves.transposed(permutation)
                    : moves.reshaped(graph.shape(node.output()));
            if (moves == null) {
                return null;
            }
        }
        return moves;
    }

    /** At most a reshape, a transposition and another reshape; null if a reshape cannot be told its shape in numbers. */
    private @Nullable List<Node> write(Rearrangement moves, String source, String name, String output) {
        if (moves.isNothing()) {
            return List.of(new Node(name, new Unary(Unary.Function.IDENTITY), List.of(source), List.of(output)));
        }
        List<Operator> operators = new ArrayList<>();
        List<String> targets = new ArrayList<>();
        boolean expressible = true;
        if (!moves.isInOrder()) {
            expressible = count(moves.inputShape(), moves.cutShape(), output, operators, targets);
            operators.add(new Transpose(moves.permutation()));
            targets.add("");
            expressible &= count(moves.movedShape(), moves.outputShape(), output, operators, targets);
        } else {
            expressible = count(moves.inputShape(), moves.outputShape(), output, operators, targets);
        }
        if (!expressible) {
            return null;
        }
        List<Node> written = new ArrayList<>();
        String input = source;
        for (int i = 0; i < operators.size(); i++) {
            boolean last = i == operators.size() - 1;
            String made = last ? output : fresh(output + ".moved");
            List<String> inputs = targets.get(i).isEmpty() ? List.of(input) : List.of(input, targets.get(i));
            written.add(new Node(last ? name : fresh(name + ".moved"), operators.get(i), inputs, List.of(made)));
            input = made;
        }
        return written;
    }

    /** What counts the same elements otherwise, if anything: false if that cannot be said in numbers. */
    private boolean count(Shape from, Shape to, String output, List<Operator> operators, List<String> targets) {
        if (from.equals(to)) {
            return true;
        }
        List<Long> added = ones(from, to);
        List<Long> dropped = ones(to, from);
        List<Long> target = Reshape.target(from, to);
        if (added != null || dropped != null) {
            operators.add(added != null ? new Unsqueeze(added) : new Squeeze(Objects.requireNonNull(dropped)));
            targets.add("");
        } else if (target != null) {
            operators.add(Reshape.DEFAULT);
            targets.add(shape(output, target));
        }
        return added != null || dropped != null || target != null;
    }

    /** The axes of length one that a shape has besides those of another; null if that is not all that tells them apart. */
    private static @Nullable List<Long> ones(Shape shorter, Shape longer) {
        List<Long> axes = new ArrayList<>();
        int next = 0;
        for (int axis = 0; axis < longer.rank(); axis++) {
            if (next < shorter.rank() && shorter.get(next).equals(longer.get(axis))) {
                next++;
            } else if (longer.get(axis).is(1)) {
                axes.add((long) axis);
            } else {
                return null;
            }
        }
        return next == shorter.rank() && !axes.isEmpty() ? axes : null;
    }

    private String shape(String output, List<Long> target) {
        String name = fresh(output + ".shape");
        long[] numbers = target.stream().mapToLong(Long::longValue).toArray();
        initializers.put(name, new Initializer(Tensor.of(numbers, numbers.length), Initializer.Kind.CONSTANT));
        return name;
    }

    private String fresh(String name) {
        String candidate = name;
        for (int i = 2; !taken.add(candidate); i++) {
            candidate = name + i;
        }
        return candidate;
    }

    /** Takes the pieces of a chain's output from its input, if they are pieces of an axis that is cut. */
    private boolean divide(Chain chain, String end) {
        List<Use> readers = graph.readers(end);
        Integer axis = readers.isEmpty() || graph.isOutput(end)
                ? null
                : axis(readers.getFirst().node());
        List<Piece> pieces = new ArrayList<>();
        for (Use use : readers) {
            List<Piece> some = axis == null || use.input() != 0 ? null : pieces(use.node(), axis);
            if (some == null) {
                return false;
            }
            pieces.addAll(some);
        }
        List<Factor> factors = axis == null ? List.of() : chain.moves().to().get(axis);
        if (axis == null || factors.size() != 1) {
            return false;
        }
        Factor part = factors.getFirst();
        int source = IntStream.range(0, chain.moves().from().size())
                .filter(i -> isCut(chain.moves().from().get(i), part))
                .findFirst()
                .orElse(-1);
        return source >= 0 && part.length().isKnown() && divide(chain, axis, part, source, pieces, readers);
    }

    /** Whether an axis falls into parts of one known length each. */
    private static boolean isCut(List<Factor> axis, Factor part) {
        return axis.size() > 1
                && axis.getFirst().equals(part)
                && axis.stream().allMatch(factor -> factor.length().isKnown());
    }

    private boolean divide(Chain chain, int axis, Factor part, int source, List<Piece> pieces, List<Use> readers) {
        List<Piece> ordered = new ArrayList<>(pieces);
        ordered.sort(Comparator.comparingLong(Piece::start));
        long inner =
                graph.shape(chain.source()).get(source).value() / part.length().value();
        List<Long> sizes = new ArrayList<>();
        List<String> outputs = new ArrayList<>();
        List<Node> behind = new ArrayList<>();
        String name = fresh(chain.source() + ".parts");
        long end = 0;
        for (Piece piece : ordered) {
            if (piece.start() < end || piece.length() == 0) {
                return false;
            }
            fill(name, sizes, outputs, (piece.start() - end) * inner);
            sizes.add(piece.length() * inner);
            Rearrangement whole = chain.moves().with(part, Dimension.of(piece.length()));
            Rearrangement moves = piece.drops() ? whole.without(axis) : whole;
            if (moves.isNothing()) {
                outputs.add(piece.output());
            } else {
                outputs.add(fresh(piece.output() + ".part"));
                List<Node> written = write(moves, outputs.getLast(), fresh(piece.output() + ".heads"), piece.output());
                if (written == null) {
                    return false;
                }
                behind.addAll(written);
            }
            end = piece.start() + piece.length();
        }
        fill(name, sizes, outputs, (part.length().value() - end) * inner);
        nodes.add(new Node(name, new Split(source, sizes), List.of(chain.source()), outputs));
        nodes.addAll(behind);
        readers.forEach(use -> replaced.add(use.node()));
        return true;
    }

    /** A piece that nobody reads. */
    private void fill(String name, List<Long> sizes, List<String> outputs, long size) {
        if (size > 0) {
            sizes.add(size);
            outputs.add(fresh(name + ".rest"));
        }
    }

    /** The axis that a node takes a piece of; null if it does something else. */
    private @Nullable Integer axis(Node node) {
        Shape shape = graph.shape(node.input(0));
        return switch (node.operator()) {
            case Split(long axis, List<Long> _) -> shape.axis(axis);
            case Gather(long axis) -> shape.axis(axis);
            case Slice _ -> {
                List<Slice.Piece> cuts = Slice.pieces(graph.operands(node));
                yield cuts == null || cuts.size() != 1
                        ? null
                        : (Integer) cuts.getFirst().axis();
            }
            // Whatever it is, it takes all.
            default -> null;
        };
    }

    private @Nullable List<Piece> pieces(Node node, int axis) {
        Integer own = axis(node);
        if (own == null || own != axis) {
            return null;
        }
        return switch (node.operator()) {
            case Split(long _, List<Long> sizes) -> {
                List<Piece> pieces = new ArrayList<>();
                long start = 0;
                for (int i = 0; i < sizes.size(); i++) {
                    pieces.add(new Piece(node.outputs().get(i), start, sizes.get(i), false));
                    start += sizes.get(i);
                }
                yield pieces;
            }
            case Gather _ -> {
                Tensor index = graph.tensor(node.input(1));
                Dimension length = graph.shape(node.input(0)).get(axis);
                yield index == null
                                || index.size() != 1
                                || index.rank() > 1
                                || !length.isKnown()
                                || index.toLongs()[0] < -length.value()
                                || index.toLongs()[0] >= length.value()
                        ? null
                        : List.of(new Piece(
                                node.output(),
                                Math.floorMod(index.toLongs()[0], length.value()),
                                1,
                                index.rank() == 0));
            }
            case Slice _ -> {
                List<Slice.Piece> cuts = Slice.pieces(graph.operands(node));
                Slice.Piece cut = cuts == null ? null : cuts.getFirst();
                yield cut == null
                                || cut.step() != 1
                                || !cut.start().isKnown()
                                || !cut.length().isKnown()
                        ? null
                        : List.of(new Piece(
                                node.output(), cut.start().value(), cut.length().value(), false));
            }
            default -> null;
        };
    }
}
