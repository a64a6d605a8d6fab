/**
 * Texts as tokens: {@link dev.espalier.text.WordPiece} cuts them, {@link dev.espalier.text.UnknownTokens} tells what its vocabulary
 * does not know.
 */
@NullMarked
package dev.espalier.text;

import org.jspecify.annotations.NullMarked;
