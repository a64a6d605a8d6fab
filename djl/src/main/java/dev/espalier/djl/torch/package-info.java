/** The memory behind DJL's PyTorch arrays, and the one switch of libtorch that DJL does not offer. */
@NullMarked
package dev.espalier.djl.torch;

import org.jspecify.annotations.NullMarked;
