/** The training step on a whole model: what is stepped how, the state between steps, and what each step did. */
@NullMarked
package dev.espalier.core.step;

import org.jspecify.annotations.NullMarked;
