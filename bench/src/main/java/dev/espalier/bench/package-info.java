/** Workloads to measure optimizer steps on: the tensors of real models, in the state that training leaves them in. */
@NullMarked
package dev.espalier.bench;

import org.jspecify.annotations.NullMarked;
