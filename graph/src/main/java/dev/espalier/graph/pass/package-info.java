/** From a graph to an equivalent one that is simpler: constants folded, shapes fixed, patterns named, dead nodes gone. */
@NullMarked
package dev.espalier.graph.pass;

import org.jspecify.annotations.NullMarked;
