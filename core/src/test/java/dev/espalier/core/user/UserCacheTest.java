package dev.espalier.core.user;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class UserCacheTest {

    @Test
    void theEnvironmentSaysWhereItIs() {
        assertEquals(Path.of("/here"), UserCache.folder(Map.of("ESPALIER_CACHE", "/here", "XDG_CACHE_HOME", "/cache")));
        assertEquals(Path.of("/cache/espalier"), UserCache.folder(Map.of("XDG_CACHE_HOME", "/cache")));
        assertTrue(UserCache.folder(Map.of()).endsWith(".cache/espalier"));
    }
}
