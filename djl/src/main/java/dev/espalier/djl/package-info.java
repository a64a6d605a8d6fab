/**
 * Proximal optimizers for models of the Deep Java Library (DJL), on its PyTorch engine.
 *
 * <p>{@link dev.espalier.djl.ProximalOptimizer} takes the place of a DJL optimizer in a DJL trainer.
 * {@link dev.espalier.djl.BlockStepper} steps a whole model at once, beside a training loop of one's own.
 */
@NullMarked
package dev.espalier.djl;

import org.jspecify.annotations.NullMarked;
