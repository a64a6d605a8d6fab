package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code espalier data}; what a download does in the end is tested where it lives. */
final class DataCommandTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @Test
    void whatAMirrorServesMustBeTheOfficialArchive() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            try (exchange) {
                exchange.sendResponseHeaders(200, 5);
                exchange.getResponseBody().write(new byte[5]);
            }
        });
        server.start();
        try {
            Answer answer = Answer.to(
                    "data",
                    "cifar10",
                    folder,
                    "--from",
                    "http://127.0.0.1:" + server.getAddress().getPort() + "/a");
            assertEquals(1, answer.exitStatus());
            assertTrue(
                    answer.err().contains("c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"),
                    answer.err());
            assertFalse(Files.exists(folder.resolve("cifar-10-batches-bin")));
        } finally {
            server.stop(0);
        }
    }

    @Test
    void withoutANetworkItSaysWhatToDownload() {
        // Nobody serves the port 9, discard.
        Answer answer = Answer.to("data", "cifar10", folder, "--from", "http://127.0.0.1:9/cifar-10-binary.tar.gz");
        assertEquals(1, answer.exitStatus());
        assertTrue(answer.err().contains("by hand"), answer.err());
        assertTrue(answer.err().contains(folder.toString()), answer.err());
    }

    @Test
    void aDataSetMustBeNamedAndAUrlMustBeOne() {
        assertEquals(2, Answer.to("data").exitStatus());
        Answer unknown = Answer.to("data", "cifar11", folder);
        assertEquals(2, unknown.exitStatus());
        assertTrue(unknown.err().contains("CIFAR10"), unknown.err());
        for (String from :
                List.of("ftp://mirror/x", "http://mirror.example/x", "http://127.0.0.1.example/x", "file:///x", "x")) {
            Answer answer = Answer.to("data", "cifar10", folder, "--from", from);
            assertEquals(2, answer.exitStatus(), from);
            assertTrue(answer.err().contains(from + " is refused: it must start with https://"), answer.err());
        }
    }
}
