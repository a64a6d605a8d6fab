/**
 * A training run: what is learned ({@link dev.espalier.train.task.Task}), the run over its phases
 * ({@link dev.espalier.train.run.TrainingRun}), and what is delivered at its end.
 */
@NullMarked
package dev.espalier.train.run;

import org.jspecify.annotations.NullMarked;
