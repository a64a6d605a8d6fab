package dev.espalier.core.user;

import java.nio.file.Path;
import java.util.Map;

/** The folder for what can be made or fetched again, and would be a pity to: compiled kernels, libtorch for CUDA. */
public final class UserCache {
    /** The variable that names another folder. */
    public static final String VARIABLE = "ESPALIER_CACHE";

    private UserCache() {}

    /**
     * {@return the folder; it may not be there yet}
     *
     * @param environment the variables that say where
     */
    public static Path folder(Map<String, String> environment) {
        String named = environment.get(VARIABLE);
        if (named != null) {
            return Path.of(named);
        }
        String shared = environment.get("XDG_CACHE_HOME");
        Path caches = shared == null ? Path.of(System.getProperty("user.home"), ".cache") : Path.of(shared);
        return caches.resolve("espalier");
    }
}
