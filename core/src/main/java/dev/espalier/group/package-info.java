/** Which weights belong together: the groups that a penalty drives to zero as one. */
@NullMarked
package dev.espalier.group;

import org.jspecify.annotations.NullMarked;
