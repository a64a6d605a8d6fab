/** The update rules of the paper's table: how a gradient becomes a direction and a metric. */
@NullMarked
package dev.espalier.core.rule;

import org.jspecify.annotations.NullMarked;
