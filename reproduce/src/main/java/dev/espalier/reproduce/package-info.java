/**
 * The paper, one command a table: what each table and figure needs ({@link dev.espalier.reproduce.Item}), what came out
 * beside what the paper says ({@link dev.espalier.reproduce.Findings}), and the files that keep it.
 */
@NullMarked
package dev.espalier.reproduce;

import org.jspecify.annotations.NullMarked;
