/**
 * How a model is trained, as a text file that people read and write: a {@link dev.espalier.train.recipe.Recipe}, and the keys of its
 * sections.
 */
@NullMarked
package dev.espalier.train.recipe;

import org.jspecify.annotations.NullMarked;
