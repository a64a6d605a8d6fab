/**
 * The trials of a study as tasks of Spark: {@link dev.espalier.spark.SparkLauncher} hands them to a cluster, {@link
 * dev.espalier.spark.HadoopStorage} keeps their files where all machines see them, and {@link dev.espalier.spark.DataCache} brings data to
 * where it is learned from. Nothing but a task's JSON and its outcome goes through Spark itself.
 */
@NullMarked
package dev.espalier.spark;

import org.jspecify.annotations.NullMarked;
