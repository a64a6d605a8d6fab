/**
 * The optimizer step on a GPU: {@link dev.espalier.cuda.CudaSteps} makes kernels for an optimizer. The arithmetic is in
 * {@code step.cu}; here a model is cut into jobs, told where its memory is, and asked what was done.
 */
@NullMarked
package dev.espalier.cuda;

import org.jspecify.annotations.NullMarked;
