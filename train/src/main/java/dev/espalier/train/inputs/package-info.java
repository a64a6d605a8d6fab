/**
 * What models that others made want to be given: {@link dev.espalier.train.inputs.DeclaredInputs} reads it from a model, and {@link
 * dev.espalier.train.inputs.InputsGuess} makes settings of the data for it. {@link dev.espalier.train.inputs.TrainedEncoding} knows what models that were trained here want.
 */
@NullMarked
package dev.espalier.train.inputs;

import org.jspecify.annotations.NullMarked;
