package dev.espalier.spark;

import dev.espalier.train.study.Launcher;
import dev.espalier.train.study.LauncherProvider;
import java.util.regex.Pattern;

/** Knows what Spark calls masters, and {@code spark} for the one that {@code spark-submit} was given. */
public final class SparkLauncherProvider implements LauncherProvider {
    private static final Pattern MASTER =
            Pattern.compile("spark|spark://.+|yarn|k8s://.+|local-cluster\\[.+]|local\\[.+]");

    /** For the service. */
    public SparkLauncherProvider() {}

    @Override
    public boolean knows(String on) {
        return MASTER.matcher(on).matches();
    }

    @Override
    public Launcher open(String on, Settings settings) {
        return new SparkLauncher(SparkSettings.of(on, settings), settings.told());
    }
}
