/** The weighted proximal operators: for one group, and for all groups of one or more tensors. */
@NullMarked
package dev.espalier.core.prox;

import org.jspecify.annotations.NullMarked;
