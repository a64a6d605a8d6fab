/** Tensors in files of the safetensors format: read lazily from mapped memory, written atomically. */
@NullMarked
package dev.espalier.graph.safetensors;

import org.jspecify.annotations.NullMarked;
