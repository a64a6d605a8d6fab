/** The models that a recipe can name: {@link dev.espalier.train.model.ModelKind}, one file each. */
@NullMarked
package dev.espalier.train.model;

import org.jspecify.annotations.NullMarked;
