/**
 * Bad files: inputs that were changed by chance, and by what the changes made the readers do, go through every reader; what is
 * wrong with them must be said in words, soon, and without much memory.
 */
@NullMarked
package dev.espalier.torture.file;

import org.jspecify.annotations.NullMarked;
