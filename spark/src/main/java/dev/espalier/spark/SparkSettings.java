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
    private static final String TASK_CORES = "spark.task.cpus";
    private static final String EXECUTOR_CORES = "spark.executor.cores";
    private static final Pattern OWN_CLUSTER =
            Pattern.compile("local-cluster\\[\\s*(\\d+)\\s*,\\s*(\\d+)\\s*,\\s*(\\d+)\\s*]");
    private static final Pattern OWN_PROCESS = Pattern.compile("local\\[\\s*(\\d+)\\s*(?:,\\s*\\d+\\s*)?]");

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
            conf.setIfMissing(TASK_CORES, Integer.toString(settings.threads()));
        }
        requireCores(conf);
        if (settings.device().isGpu()) {
            conf.setIfMissing("spark.task.resource.gpu.amount", "1");
        }
        conf.set(JAVA_OPTIONS, (OUR_OPTIONS + " " + conf.get(JAVA_OPTIONS, "")).strip());
        Matcher own = OWN_CLUSTER.matcher(conf.get(MASTER));
        if (own.matches()) {
            addOwnCluster(conf, own.group(3));
        }
        return conf;
    }

    /**
     * Refuses executors with fewer cores than a training takes, with what to change: Spark would end with a stack trace. On YARN and
     * Kubernetes an executor has one core unless it is told, so there it is given as many as a training takes.
     */
    private static void requireCores(SparkConf conf) {
        int needed = conf.getInt(TASK_CORES, 1);
        String master = conf.get(MASTER);
        if (master.equals("yarn") || master.startsWith("k8s://")) {
            conf.setIfMissing(EXECUTOR_CORES, Integer.toString(needed));
        }
        Matcher cluster = OWN_CLUSTER.matcher(master);
        Matcher process = OWN_PROCESS.matcher(master);
        if (cluster.matches()) {
            String better = "--on 'local-cluster[%s,%d,%s]'".formatted(cluster.group(1), needed, cluster.group(3));
            requireCores(master, Integer.parseInt(cluster.group(2)), needed, better);
        } else if (process.matches()) {
            requireCores(master, Integer.parseInt(process.group(1)), needed, "--on 'local[%d]'".formatted(needed));
        } else if (conf.contains(EXECUTOR_CORES)) {
            String better = "%s=%d".formatted(EXECUTOR_CORES, needed);
            requireCores(master, conf.getInt(EXECUTOR_CORES, 1), needed, better);
        }
    }

    private static void requireCores(String master, int cores, int needed, String better) {
        if (cores < needed) {
            throw new IllegalArgumentException(
                    "a training takes %d cores (study.threads or %s), but an executor of %s has only %d: give executors more with %s, or set study.threads=%4$d"
                            .formatted(needed, TASK_CORES, master, cores, better));
        }
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
