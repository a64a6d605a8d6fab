/** Where files of the user are kept that can be made again. */
@NullMarked
package dev.espalier.core.user;

import org.jspecify.annotations.NullMarked;
