/** A browser for tests that open pages. */
@NullMarked
package dev.espalier.browser;

import org.jspecify.annotations.NullMarked;
