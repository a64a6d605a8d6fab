/**
 * What somebody else might write: a kind of data and a kind of task, each in one file with a line in {@code META-INF/services}.
 * Recipes know both by name, and nothing of Espalier knows them.
 */
@NullMarked
package org.example.meteors;

import org.jspecify.annotations.NullMarked;
