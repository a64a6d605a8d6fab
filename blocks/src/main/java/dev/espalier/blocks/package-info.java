/** Blocks of the Deep Java Library (DJL) as graphs. */
@NullMarked
package dev.espalier.blocks;

import org.jspecify.annotations.NullMarked;
