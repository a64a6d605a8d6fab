package dev.espalier.graph.group;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Node;
import dev.espalier.graph.op.Operator;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Picks parameters by their names, or by the nodes that read them. */
public sealed interface Selector {

    /**
     * Whether a parameter is picked where a node reads it.
     *
     * @param node the node
     * @param parameter the parameter's name
     * @return true if it is
     */
    boolean picks(Node node, String parameter);

    /**
     * Requires the names of this selector to exist, and its patterns to match something, lest a typing error pick nothing in silence.
     *
     * @param graph the graph it is used on
     * @throws IllegalArgumentException if one does not; the message has the names that are nearest
     */
    default void requireKnown(Graph graph) {}

    /**
     * Nodes by name.
     *
     * @param names their names, in full
     * @return the selector
     */
    static Selector nodes(String... names) {
        return new Nodes(Set.of(names));
    }

    /**
     * Parameters by name.
     *
     * @param names their names, in full
     * @return the selector
     */
    static Selector parameters(String... names) {
        return new Parameters(Set.of(names));
    }

    /**
     * Nodes by a pattern.
     *
     * @param regex a regular expression that matches a node's whole name
     * @return the selector
     */
    static Selector nodesMatching(String regex) {
        return new NodePattern(Pattern.compile(regex));
    }

    /**
     * Parameters by a pattern.
     *
     * @param regex a regular expression that matches a parameter's whole name
     * @return the selector
     */
    static Selector parametersMatching(String regex) {
        return new ParameterPattern(Pattern.compile(regex));
    }

    /**
     * Nodes by what they do.
     *
     * @param kind the class of an operator, {@code Conv.class} for one
     * @return the selector
     */
    static Selector operator(Class<? extends Operator> kind) {
        return new Kind(kind);
    }

    /**
     * Nothing.
     *
     * @return the selector
     */
    static Selector nothing() {
        return new AnyOf(List.of());
    }

    /**
     * {@return what this or another selector picks}
     *
     * @param other the other
     */
    default Selector or(Selector other) {
        return new AnyOf(List.of(this, other));
    }

    /**
     * Nodes by name.
     *
     * @param names their names
     */
    record Nodes(Set<String> names) implements Selector {
        /** Takes a copy. */
        public Nodes {
            names = Set.copyOf(names);
        }

        @Override
        public boolean picks(Node node, String parameter) {
            return names.contains(node.name());
        }

        @Override
        public void requireKnown(Graph graph) {
            Set<String> known = graph.nodes().stream().map(Node::name).collect(Collectors.toSet());
            for (String name : names) {
                if (!known.contains(name)) {
                    throw new IllegalArgumentException("graph " + graph.name() + " has no node " + name);
                }
            }
        }
    }

    /**
     * Parameters by name.
     *
     * @param names their names
     */
    record Parameters(Set<String> names) implements Selector {
        /** Takes a copy. */
        public Parameters {
            names = Set.copyOf(names);
        }

        @Override
        public boolean picks(Node node, String parameter) {
            return names.contains(parameter);
        }

        @Override
        public void requireKnown(Graph graph) {
            for (String name : names) {
                if (graph.tensor(name) == null) {
                    throw new IllegalArgumentException("graph " + graph.name() + " has no parameter " + name);
                }
            }
        }
    }

    /**
     * Nodes by a pattern.
     *
     * @param pattern matches a whole name
     */
    record NodePattern(Pattern pattern) implements Selector {
        @Override
        public boolean picks(Node node, String parameter) {
            return pattern.matcher(node.name()).matches();
        }

        @Override
        public void requireKnown(Graph graph) {
            NamePattern.requireMatch(
                    pattern,
                    "node",
                    graph,
                    graph.nodes().stream().map(Node::name).toList());
        }
    }

    /**
     * Parameters by a pattern.
     *
     * @param pattern matches a whole name
     */
    record ParameterPattern(Pattern pattern) implements Selector {
        @Override
        public boolean picks(Node node, String parameter) {
            return pattern.matcher(parameter).matches();
        }

        @Override
        public void requireKnown(Graph graph) {
            NamePattern.requireMatch(
                    pattern,
                    "parameter",
                    graph,
                    graph.tensors(Initializer.Kind.PARAMETER).keySet());
        }
    }

    /**
     * Nodes by what they do.
     *
     * @param kind the class of an operator
     */
    record Kind(Class<? extends Operator> kind) implements Selector {
        @Override
        public boolean picks(Node node, String parameter) {
            return kind.isInstance(node.operator());
        }
    }

    /**
     * What one of several selectors picks.
     *
     * @param selectors the selectors
     */
    record AnyOf(List<Selector> selectors) implements Selector {
        /** Takes a copy. */
        public AnyOf {
            selectors = List.copyOf(selectors);
        }

        @Override
        public boolean picks(Node node, String parameter) {
            return selectors.stream().anyMatch(selector -> selector.picks(node, parameter));
        }

        @Override
        public void requireKnown(Graph graph) {
            selectors.forEach(selector -> selector.requireKnown(graph));
        }
    }
}
