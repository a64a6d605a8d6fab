package dev.espalier.cuda.driver;

import dev.espalier.core.user.UserCache;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Compiled kernels on disk, by the hash of their source and options; the options name the GPU's architecture. A cache that
 * cannot be read or written is no cache, and nothing worse.
 *
 * @param folder where they are
 */
record KernelCache(Path folder) {
    private static final System.Logger LOG = System.getLogger(KernelCache.class.getName());

    /** The user's cache. */
    static KernelCache ofUser(Map<String, String> environment) {
        return new KernelCache(UserCache.folder(environment));
    }

    private Path file(String source, List<String> options) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(source.getBytes(StandardCharsets.UTF_8));
            digest.update(String.join("\0", options).getBytes(StandardCharsets.UTF_8));
            return folder.resolve(HexFormat.of().formatHex(digest.digest(), 0, 16) + ".cubin");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    Optional<byte[]> get(String source, List<String> options) {
        Path file = file(source, options);
        try {
            return Files.isRegularFile(file) ? Optional.of(Files.readAllBytes(file)) : Optional.empty();
        } catch (IOException e) {
            LOG.log(Level.WARNING, "cannot read the compiled kernel " + file + ", so it is compiled again: " + e);
            return Optional.empty();
        }
    }

    void put(String source, List<String> options, byte[] code) {
        Path file = file(source, options);
        try {
            Files.createDirectories(folder);
            Path temporary = Files.createTempFile(folder, "kernel", ".tmp");
            Files.write(temporary, code);
            Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            LOG.log(
                    Level.WARNING,
                    "cannot keep the compiled kernel in " + file + ", so the next start compiles it: " + e);
        }
    }
}
