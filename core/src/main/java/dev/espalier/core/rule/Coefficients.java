package dev.espalier.core.rule;

/**
 * One step of an update rule as numbers. Every rule of the paper's table is this one update, with other numbers:
 *
 * <pre>{@code
 * m ← keepFirst·m + addFirst·g
 * v ← keepSecond·v + addSecond·g²
 * direction = scaleFirst·m
 * D = √(scaleSecond·v + innerEpsilon) + outerEpsilon
 * }</pre>
 *
 * <p>A rule without a first moment keeps none of it ({@code keepFirst = 0, addFirst = 1}); one without a second moment
 * has {@code D = 1}.
 *
 * @param keepFirst share of the old first moment
 * @param addFirst share of the gradient in the first moment
 * @param scaleFirst the first moment's bias correction
 * @param keepSecond share of the old second moment
 * @param addSecond share of the squared gradient in the second moment
 * @param scaleSecond the second moment's bias correction
 * @param innerEpsilon ε under the root
 * @param outerEpsilon ε beside the root
 */
public record Coefficients(
        double keepFirst,
        double addFirst,
        double scaleFirst,
        double keepSecond,
        double addSecond,
        double scaleSecond,
        double innerEpsilon,
        double outerEpsilon) {}
