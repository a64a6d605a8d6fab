package dev.espalier.train.study;

import dev.espalier.core.check.Check;
import dev.espalier.engine.Device;
import java.io.IOException;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Consumer;

/** Who knows machines that trials can be carried out on: a service, so that Spark is on the class path only where it is wanted. */
public interface LauncherProvider {

    /**
     * {@return whether it knows a place}
     *
     * @param on what a user calls it, {@code local-cluster[2,1,4096]} for one
     */
    boolean knows(String on);

    /**
     * Opens what carries trials out there.
     *
     * @param on a place that it knows
     * @param settings what does not depend on the place
     * @return a launcher, to be closed
     * @throws IOException if the place cannot be reached
     */
    Launcher open(String on, Settings settings) throws IOException;

    /**
     * What holds for all trials, wherever they are carried out.
     *
     * @param name what a cluster calls the study
     * @param threads how many cores a trial is given; 0 for as many as the place gives by itself
     * @param device where the models are: for a GPU, each trial is given one
     * @param told told what a user should know, a sentence at a time, by any thread
     */
    record Settings(String name, int threads, Device device, Consumer<String> told) {
        /** Checks the number. */
        public Settings {
            Check.atLeast("threads", threads, 0);
        }
    }

    /**
     * Looks for somebody who knows a place.
     *
     * @param on what a user calls it
     * @return who knows it; empty if nobody does whose JAR is on the class path
     */
    static Optional<LauncherProvider> of(String on) {
        return ServiceLoader.load(LauncherProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(provider -> provider.knows(on))
                .findFirst();
    }
}
