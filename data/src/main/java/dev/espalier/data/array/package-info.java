/** Arrays that NumPy saved. */
@NullMarked
package dev.espalier.data.array;

import org.jspecify.annotations.NullMarked;
