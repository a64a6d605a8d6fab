/**
 * Questions on texts: SQuAD 1.1, cut into windows that a BERT can read, and what a model's answers are worth.
 *
 * <p>{@link dev.espalier.squad.Squad} reads the data, {@link dev.espalier.text.WordPiece} makes tokens of it, {@link
 * dev.espalier.squad.Windows} lays question and text side by side, {@link dev.espalier.squad.WindowBatches} deals them out
 * for training. {@link dev.espalier.squad.AnswerReader} asks a model and {@link dev.espalier.squad.SquadScores} judges
 * what it says; {@link dev.espalier.squad.Answerer} does it for a single question. Nothing here knows an engine: a model is
 * a function from tensors to tensors.
 */
@NullMarked
package dev.espalier.squad;

import org.jspecify.annotations.NullMarked;
