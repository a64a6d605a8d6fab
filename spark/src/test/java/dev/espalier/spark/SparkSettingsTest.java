package dev.espalier.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.engine.Device;
import dev.espalier.train.study.LauncherProvider;
import dev.espalier.train.study.LauncherProvider.Settings;
import java.util.List;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

final class SparkSettingsTest {
    private static Settings settings(int threads, Device device) {
        return new Settings("a study", threads, device, _ -> {});
    }

    @Test
    void mastersAreKnownAndFound() {
        for (String on : List.of(
                "spark", "spark://host:7077", "yarn", "k8s://https://host", "local-cluster[2,1,1024]", "local[2]")) {
            assertTrue(LauncherProvider.of(on).isPresent(), on);
        }
        assertFalse(LauncherProvider.of("local").isPresent());
        assertFalse(LauncherProvider.of("process").isPresent());
    }

    @Test
    void aTrialHasItsThreadsAndItsGpu() {
        SparkConf conf = SparkSettings.of("yarn", settings(4, Device.gpu(0)));
        assertEquals("yarn", conf.get("spark.master"));
        assertEquals("a study", conf.get("spark.app.name"));
        assertEquals("4", conf.get("spark.task.cpus"));
        assertEquals("1", conf.get("spark.task.resource.gpu.amount"));
        assertFalse(SparkSettings.of("yarn", settings(0, Device.CPU)).contains("spark.task.cpus"));
    }

    @Test
    void whatUsersSetStays() {
        System.setProperty("spark.task.cpus", "7");
        System.setProperty("spark.executor.extraJavaOptions", "-Xss4m");
        try {
            SparkConf conf = SparkSettings.of("yarn", settings(4, Device.CPU));
            assertEquals("7", conf.get("spark.task.cpus"));
            assertTrue(conf.get("spark.executor.extraJavaOptions").endsWith(" -Xss4m"));
        } finally {
            System.clearProperty("spark.task.cpus");
            System.clearProperty("spark.executor.extraJavaOptions");
        }
    }

    @Test
    void withoutAMasterOrAHomeTheMendIsTold() {
        IllegalArgumentException master =
                assertThrows(IllegalArgumentException.class, () -> SparkSettings.of("spark", settings(1, Device.CPU)));
        assertTrue(String.valueOf(master.getMessage()).contains("spark-submit --master"));
        IllegalArgumentException home =
                assertThrows(IllegalArgumentException.class, () -> SparkSettings.requireHome(null));
        assertTrue(String.valueOf(home.getMessage()).contains("SPARK_HOME"));
    }

    @Test
    void executorsWithTooFewCoresAreRefusedWithWhatIsNeeded() {
        assertRefused("local-cluster[2,1,768]", "--on 'local-cluster[2,4,768]'");
        assertRefused("local[1]", "--on 'local[4]'");
        assertRefused("local[3, 2]", "--on 'local[4]'");
        System.setProperty("spark.executor.cores", "2");
        try {
            assertRefused("spark://host:7077", "spark.executor.cores=4");
            assertRefused("yarn", "spark.executor.cores=4");
        } finally {
            System.clearProperty("spark.executor.cores");
        }
        assertEquals("4", SparkSettings.of("local[4]", settings(4, Device.CPU)).get("spark.task.cpus"));
        // Executors have one core there, unless they are told.
        assertEquals(
                "4",
                SparkSettings.of("k8s://https://host", settings(4, Device.CPU)).get("spark.executor.cores"));
    }

    private static void assertRefused(String on, String mend) {
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> SparkSettings.of(on, settings(4, Device.CPU)));
        String message = String.valueOf(refused.getMessage());
        assertTrue(message.contains(mend), message);
        assertTrue(message.contains("takes 4 cores") && message.contains("study.threads"), message);
    }

    @Test
    void whatNoExecutorCouldCarryOutSaysWhy() {
        assertTrue(SparkLauncher.reason(8, "ExecutorLostFailure (executor 3 exited)")
                .startsWith("8 executors were lost while they carried it out"));
        String missing = SparkLauncher.reason(8, "java.lang.ClassNotFoundException: dev.espalier.spark.TrialTask");
        assertTrue(missing.contains("spark.jars"), missing);
        String other = SparkLauncher.reason(8, "java.lang.UnsupportedClassVersionError");
        assertFalse(other.contains("spark.jars") || other.contains("lost"), other);
    }
}
