/** The memory behind DJL's PyTorch arrays, and what of libtorch DJL does not offer. */
@NullMarked
package dev.espalier.torch;

import org.jspecify.annotations.NullMarked;
