package dev.espalier.train.run;

import dev.espalier.engine.Device;
import dev.espalier.engine.Network;
import dev.espalier.train.journal.Provenance;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Finds out where a run comes from. */
public final class Origin {
    private static final String UNKNOWN = "unknown";
    private static final String NONE = "none";

    private Origin() {}

    /**
     * Where a run comes from that starts now.
     *
     * @param seed what all that is random depends on
     * @param kernel what the optimizer's steps run on
     * @param options where models are trained
     * @param engine whether there is an engine at all; without one, none is started
     * @return the provenance
     */
    public static Provenance of(long seed, String kernel, RunOptions options, boolean engine) {
        return provenance(seed, kernel, options.device(), engine ? Network.engine() : NONE);
    }

    static Provenance provenance(long seed, String kernel, Device device) {
        return provenance(seed, kernel, device, Network.engine());
    }

    private static Provenance provenance(long seed, String kernel, Device device, String engine) {
        String version = Origin.class.getPackage().getImplementationVersion();
        return new Provenance(
                version == null ? UNKNOWN : version,
                commit(),
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
                seed,
                Runtime.version() + ", " + System.getProperty("java.vendor"),
                System.getProperty("os.name") + " " + System.getProperty("os.version"),
                System.getProperty("os.arch"),
                Runtime.getRuntime().availableProcessors(),
                engine,
                kernel,
                device.toString());
    }

    private static String commit() {
        try {
            Path program = Path.of(Origin.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
            return commit(Objects.requireNonNullElse(program.getParent(), program), stamp());
        } catch (IOException | URISyntaxException _) {
            return UNKNOWN; // no file: nothing to be known
        }
    }

    /** Of the checkout that a folder lies in; where there is none, or no git, what the build was stamped with. */
    static String commit(Path folder, Optional<String> stamp) {
        return checkedOut(folder).or(() -> stamp).orElse(UNKNOWN);
    }

    /** What {@code .ci/commit} wrote beside this class; nothing if somebody else compiled it. */
    static Optional<String> stamp() throws IOException {
        try (InputStream file = Origin.class.getResourceAsStream("commit")) {
            return file == null
                    ? Optional.empty()
                    : Optional.of(new String(file.readAllBytes(), StandardCharsets.UTF_8).strip());
        }
    }

    private static Optional<String> checkedOut(Path folder) {
        try {
            Process git = new ProcessBuilder(
                            "git",
                            "-C",
                            folder.toString(),
                            "describe",
                            "--always",
                            "--dirty",
                            "--abbrev=40",
                            "--exclude=*")
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .redirectInput(new File("/dev/null"))
                    .start();
            String answer = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return git.waitFor(10, TimeUnit.SECONDS) && git.exitValue() == 0 && !answer.isEmpty()
                    ? Optional.of(answer)
                    : Optional.empty();
        } catch (IOException _) {
            return Optional.empty(); // no git
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
