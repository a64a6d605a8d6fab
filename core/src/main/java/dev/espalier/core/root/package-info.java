/** Root finders for the one equation behind every weighted proximal operator. */
@NullMarked
package dev.espalier.core.root;

import org.jspecify.annotations.NullMarked;
