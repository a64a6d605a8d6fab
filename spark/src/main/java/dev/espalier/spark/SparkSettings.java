package dev.espalier.spark;

import dev.espalier.train.study.LauncherProvider.Settings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.jspecify.annotations.Nullable;

/**
 * From where trials are to be carried out to Spark's settings. What a user has set, by {@code spark-submit} or by a system property such as
 * {@code -Dspark.executor.memory=8g}, stays as it is.
 */
final class SparkSettings {
    /** Where executors keep copies of data; without it, in their own folders, which Spark deletes in the end. */
    static final String CACHE = "spark.espalier.cache";

    private static final String SUBMITTED = "spark";
    private static final String MASTER = "spark.master";
    private static final String JAVA_OPTIONS = "spark.executor.extraJavaOptions";
    private static final Pattern OWN_CLUSTER =
            Pattern.compile("local-cluster\\[\\s*\\d+\\s*,\\s*\\d+\\s*,\\s*(\\d+)\\s*]");

    /** What our own code asks of a JVM; what Spark's does, Spark adds itself. */
    private static final String OUR_OPTIONS =
            "--enable-native-access=ALL-UNNAMED --add-modules=jdk.incubator.vector -Dai.djl.offline=true";

    private SparkSettings() {}

    /**
     * {@return Spark's settings}
     *
     * @param on a master, or {@code spark} for that of {@code spark-submit}
     * @param settings what does not depend on it
     */
    static SparkConf of(String on, Settings settings) {
        SparkConf conf = new SparkConf();
        if (!on.equals(SUBMITTED)) {
            conf.setMaster(on);
        } else if (!conf.contains(MASTER)) {
            throw new IllegalArgumentException(
                    "spark means the master that spark-submit was given, and there is none: start with spark-submit --master …, or name it:"
                            + " --on 'local-cluster[2,1,4096]', --on spark://HOST:7077, --on yarn");
        }
        conf.setIfMissing("spark.app.name", settings.name());
        conf.setIfMissing("spark.ui.enabled", "false");
        conf.setIfMissing("spark.ui.showConsoleProgress", "false");
        // Only a lost executor is a failure of a task, and each attempt goes on from the checkpoints of the one before.
        conf.setIfMissing("spark.task.maxFailures", "8");
        if (settings.threads() > 0) {
            conf.setIfMissing("spark.task.cpus", Integer.toString(settings.threads()));
        }
        if (settings.device().isGpu()) {
            conf.setIfMissing("spark.task.resource.gpu.amount", "1");
        }
        conf.set(JAVA_OPTIONS, (OUR_OPTIONS + " " + conf.get(JAVA_OPTIONS, "")).strip());
        Matcher own = OWN_CLUSTER.matcher(conf.get(MASTER));
        if (own.matches()) {
            addOwnCluster(conf, own.group(1));
        }
        return conf;
    }

    /** Executors that are processes of this machine: they have this process's JVM and class path. */
    private static void addOwnCluster(SparkConf conf, String megabytes) {
        requireHome(System.getenv("SPARK_HOME"));
        conf.setIfMissing("spark.executor.memory", megabytes + "m");
        conf.setIfMissing("spark.executor.extraClassPath", System.getProperty("java.class.path"));
        conf.setIfMissing("spark.executorEnv.JAVA_HOME", System.getProperty("java.home"));
        // Spark's own scripts tell it to what they start.
        conf.setIfMissing("spark.executorEnv.SPARK_SCALA_VERSION", "2.13");
    }

    static void requireHome(@Nullable String home) {
        if (home == null || !Files.isDirectory(Path.of(home, "jars"))) {
            throw new IllegalArgumentException(
                    "local-cluster needs the environment variable SPARK_HOME, a folder with Spark's JARs in its subfolder jars, but it is %s;"
                                    .formatted(home == null ? "not set" : home)
                            + " set it to an unpacked Spark, or to spark/target/lib after mvn -Pspark-lib -pl spark -am package");
        }
    }
}
