/**
 * Labelled samples for training: where they come from, how they are preprocessed, and batches of them.
 *
 * <p>{@link dev.espalier.data.Datasets} loads a {@link dev.espalier.data.DataSource}, {@link dev.espalier.data.Batches}
 * iterates over what it loaded. Nothing here knows an engine.
 */
@NullMarked
package dev.espalier.data;

import org.jspecify.annotations.NullMarked;
