/**
 * What is learned: a {@link dev.espalier.train.task.Task}, the kinds of tasks that a recipe can name, and what a task wants of a
 * model.
 */
@NullMarked
package dev.espalier.train.task;

import org.jspecify.annotations.NullMarked;
