package dev.espalier.spark;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A folder that executors find Spark's JARs in: links to those of this class path. */
final class SparkHome {
    private SparkHome() {}

    /** Makes it where the environment says that it is. */
    static void make() throws IOException {
        Path jars = Path.of(System.getenv("SPARK_HOME"), "jars");
        Files.createDirectories(jars);
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            Path jar = Path.of(entry);
            Path link = jars.resolve(jar.getFileName());
            if (entry.endsWith(".jar") && !Files.exists(link)) {
                Files.deleteIfExists(link);
                Files.createSymbolicLink(link, jar.toAbsolutePath());
            }
        }
    }
}
