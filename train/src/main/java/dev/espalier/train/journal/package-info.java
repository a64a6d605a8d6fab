/**
 * What a training run writes down, and how it is read again: its folder, its metrics, where it came from, what came out.
 */
@NullMarked
package dev.espalier.train.journal;

import org.jspecify.annotations.NullMarked;
