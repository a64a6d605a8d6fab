/** Which weights belong together: the groups that a penalty drives to zero as one. */
@NullMarked
package dev.espalier.core.group;

import org.jspecify.annotations.NullMarked;
