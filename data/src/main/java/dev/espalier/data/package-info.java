/**
 * What models learn from: data sets of typed columns, and kinds of data that are found by name.
 *
 * <p>The way of a row: a {@link dev.espalier.data.DataKind} opens its files as {@link dev.espalier.data.Parts}; one generator of
 * splits and limits makes {@link dev.espalier.data.LoadedData} of them; what was learned about the training rows is their
 * {@link dev.espalier.data.Encoding}; and {@link dev.espalier.data.Batches} reads, augments and encodes rows on threads of its own
 * into tensors. Nothing here knows an engine, a task or a model.
 */
@NullMarked
package dev.espalier.data;

import org.jspecify.annotations.NullMarked;
