package dev.espalier.graph;

/** A graph that makes no sense. The message names the node, and what is wrong with it. */
public final class GraphException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    /**
     * A problem.
     *
     * @param message what is wrong, and where
     */
    public GraphException(String message) {
        super(message);
    }

    /**
     * A problem with a node.
     *
     * @param node which one
     * @param cause what is wrong with it
     */
    public GraphException(Node node, RuntimeException cause) {
        super("node " + node + ": " + cause.getMessage(), cause);
    }
}
