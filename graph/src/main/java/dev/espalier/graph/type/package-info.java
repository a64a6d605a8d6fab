/** What a tensor is: the type of its numbers, its shape with symbolic dimensions, and its contents. */
@NullMarked
package dev.espalier.graph.type;

import org.jspecify.annotations.NullMarked;
