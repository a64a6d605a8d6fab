/** The readers that changed files go through, one class each, with the sound files that changes start from. */
@NullMarked
package dev.espalier.torture.file.reader;

import org.jspecify.annotations.NullMarked;
