/**
 * What the operators mean, as code: slow, obvious, in double precision. It is what faster engines are tested against,
 * and what folds constants.
 */
@NullMarked
package dev.espalier.graph.eval;

import org.jspecify.annotations.NullMarked;
