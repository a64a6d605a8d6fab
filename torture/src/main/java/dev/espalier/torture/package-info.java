/** What all campaigns have in common: how long they go on, what they count, and the program that runs them. */
@NullMarked
package dev.espalier.torture;

import org.jspecify.annotations.NullMarked;
