/**
 * Many trainings as one thing: a {@link dev.espalier.train.study.Study} is a set of {@link dev.espalier.train.study.Trial trials}, some of
 * which start from where others ended; a {@link dev.espalier.train.study.Launcher} carries them out, here, in other processes or on other
 * machines.
 */
@NullMarked
package dev.espalier.train.study;

import org.jspecify.annotations.NullMarked;
