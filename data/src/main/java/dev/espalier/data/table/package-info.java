/** Tables: columns of numbers and texts, one or more of which are to be said from the others; and the kind that reads CSV files. */
@NullMarked
package dev.espalier.data.table;

import org.jspecify.annotations.NullMarked;
