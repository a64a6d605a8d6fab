/** A page on localhost: the runs of a folder, live while they train; compared, started and stopped. */
@NullMarked
package dev.espalier.ui;

import org.jspecify.annotations.NullMarked;
