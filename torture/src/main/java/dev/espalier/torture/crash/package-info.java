/** Trainings that end in the middle: processes that are killed, disks that fail, power that is cut. All must go on as if nothing had been. */
@NullMarked
package dev.espalier.torture.crash;

import org.jspecify.annotations.NullMarked;
