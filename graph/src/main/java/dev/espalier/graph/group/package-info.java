/** Groups derived from a graph: for every layer, all weights that leave one of its inputs. */
@NullMarked
package dev.espalier.graph.group;

import org.jspecify.annotations.NullMarked;
