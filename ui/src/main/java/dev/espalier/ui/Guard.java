package dev.espalier.ui;

import com.sun.net.httpserver.Headers;
import dev.espalier.ui.Refusal.Status;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/**
 * Who may ask. Whatever runs on this machine can reach the port, and so can any page in the user's browser: what tells them from the
 * user is a secret that only the printed address has. The browser keeps it as a cookie.
 *
 * @param token the secret
 * @param cookie what the cookie is called: cookies do not know ports, so its name does
 */
record Guard(String token, String cookie) {
    private static final int BYTES = 24;
    private static final Set<String> NAMES = Set.of("127.0.0.1", "localhost", "[::1]");
    private static final String ADDRESS = "open the address that was printed when it started";

    static Guard of(int port) {
        byte[] secret = new byte[BYTES];
        new SecureRandom().nextBytes(secret);
        return new Guard(HexFormat.of().formatHex(secret), "espalier-" + port);
    }

    /**
     * Refuses what was sent to another name. Such a name can be made to point here by whoever owns it (DNS rebinding), and a page of
     * theirs would then be of the same origin. The port may be any: it is another one at the far end of a tunnel.
     */
    void requireHost(Headers headers) throws Refusal {
        // Of two, a program in between might read one, and we the other.
        String host = String.join(" and ", headers.getOrDefault("Host", List.of()));
        if (!NAMES.contains(host.replaceFirst(":\\d+$", ""))) {
            throw new Refusal(Status.FORBIDDEN, "this page is for localhost, not for " + host + ": " + ADDRESS);
        }
    }

    /** Refuses what another page sent, even one that another program serves on this machine. */
    void requireOwnOrigin(Headers headers) throws Refusal {
        String origin = headers.getFirst("Origin");
        if (!("http://" + headers.getFirst("Host")).equals(origin)) {
            throw new Refusal(Status.FORBIDDEN, "this was sent by another page (" + origin + "): " + ADDRESS);
        }
    }

    boolean isToken(String given) {
        // In constant time, lest it be guessed letter by letter.
        return MessageDigest.isEqual(bytes(token), bytes(given));
    }

    void requireToken(Headers headers) throws Refusal {
        boolean known = headers.getOrDefault("Cookie", List.of()).stream()
                .flatMap(line -> Arrays.stream(line.split(";\\s*", -1)))
                .filter(pair -> pair.startsWith(cookie + "="))
                .anyMatch(pair -> isToken(pair.substring(cookie.length() + 1)));
        if (!known) {
            throw new Refusal(Status.FORBIDDEN, "the secret of this page is missing or old: " + ADDRESS);
        }
    }

    /** What makes the browser keep the secret, out of reach of scripts and of other sites. */
    String setCookie() {
        return cookie + "=" + token + "; Path=/; HttpOnly; SameSite=Strict";
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
