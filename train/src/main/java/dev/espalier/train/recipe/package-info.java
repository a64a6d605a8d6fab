/**
 * How a model is trained, as a text file that people read and write: a {@link dev.espalier.recipe.Recipe}, its keys, and
 * what reads it.
 */
@NullMarked
package dev.espalier.recipe;

import org.jspecify.annotations.NullMarked;
