/** What training makes small, and what it is judged by, as nodes behind a model. */
@NullMarked
package dev.espalier.graph.objective;

import org.jspecify.annotations.NullMarked;
