/**
 * The convergence theorem put to the test: composite problems whose constants are known
 * ({@link dev.espalier.reproduce.convergence.Problem}), descents on them
 * ({@link dev.espalier.reproduce.convergence.Descent}), and the theorem's bound
 * ({@link dev.espalier.reproduce.convergence.Theorem}). The reasoning is in docs/math/convergence.md.
 */
@NullMarked
package dev.espalier.reproduce.convergence;

import org.jspecify.annotations.NullMarked;
