package dev.espalier.graph;

import dev.espalier.graph.type.Shape;

/**
 * A tensor of a graph that is being built.
 *
 * @param name its name
 * @param shape its shape
 */
public record Value(String name, Shape shape) {}
