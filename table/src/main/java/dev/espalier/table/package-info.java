/** Tables that DuckDB reads: Parquet, JSON and CSV files, and whatever an SQL query makes of them. */
@NullMarked
package dev.espalier.table;

import org.jspecify.annotations.NullMarked;
