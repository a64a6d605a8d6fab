package dev.espalier.data.image;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.espalier.data.TestData;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Random;
import java.util.SequencedMap;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Against a server of its own: no test needs a network. */
final class Cifar10DownloadTest {
    private static final int RECORDS = 2;
    private static final int RECORD = 3073;
    private static final long MOST = 10_000;

    @TempDir
    Path folder;

    private final SequencedMap<String, byte[]> contents = new LinkedHashMap<>();
    private final SequencedMap<String, String> checksums = new LinkedHashMap<>();
    private final List<String> ranges = new ArrayList<>();
    private byte[] archive = {};
    private boolean knowsRanges = true;
    private int status;
    private final HttpServer server;

    Cifar10DownloadTest() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    }

    @BeforeEach
    void serve() throws IOException {
        Random random = new Random(3);
        for (String name : Cifar10Files.checksums().keySet()) {
            byte[] content = new byte[RECORDS * RECORD];
            random.nextBytes(content);
            for (int i = 0; i < RECORDS; i++) {
                content[i * RECORD] = (byte) i;
            }
            contents.put(name, content);
            checksums.put(name, sum(content));
        }
        archive = archive(contents);
        server.createContext("/", this::answer);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private static String sum(byte[] content) {
        return HexFormat.of().formatHex(Cifar10Files.sha256().digest(content));
    }

    private void answer(HttpExchange exchange) throws IOException {
        String range = exchange.getRequestHeaders().getFirst("Range");
        ranges.add(String.valueOf(range));
        int from = range == null || !knowsRanges
                ? 0
                : Integer.parseInt(range.replace("bytes=", "").replace("-", ""));
        try (exchange) {
            if (status != 0 || from >= archive.length) {
                exchange.sendResponseHeaders(status == 0 ? 416 : status, -1);
                return;
            }
            exchange.sendResponseHeaders(from > 0 ? 206 : 200, archive.length - from);
            exchange.getResponseBody().write(archive, from, archive.length - from);
        }
    }

    private static byte[] archive(SequencedMap<String, byte[]> files) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
            gzip.write(entry("cifar-10-batches-bin/", '5', new byte[0]));
            gzip.write(entry("cifar-10-batches-bin/readme.html", '0', "read me".getBytes(StandardCharsets.UTF_8)));
            for (var file : files.entrySet()) {
                gzip.write(entry("cifar-10-batches-bin/" + file.getKey(), '0', file.getValue()));
            }
            gzip.write(new byte[1024]);
        }
        return bytes.toByteArray();
    }

    /** A header and its content, as tar writes them. */
    private static byte[] entry(String name, char type, byte[] content) {
        byte[] entry = new byte[512 + Math.ceilDiv(content.length, 512) * 512];
        put(entry, 0, name);
        put(entry, 100, "0000644\0");
        put(entry, 124, "%011o\0".formatted(content.length));
        put(entry, 136, "00000000000\0");
        put(entry, 156, String.valueOf(type));
        put(entry, 257, "ustar\00000");
        System.arraycopy(content, 0, entry, 512, content.length);
        return summed(entry);
    }

    /** With the sum of its header, which stands for blanks while it is computed. */
    private static byte[] summed(byte[] entry) {
        put(entry, 148, "        ");
        int sum = 0;
        for (int i = 0; i < 512; i++) {
            sum += Byte.toUnsignedInt(entry[i]);
        }
        put(entry, 148, "%06o\0 ".formatted(sum));
        return entry;
    }

    private static void put(byte[] header, int at, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(bytes, 0, header, at, bytes.length);
    }

    private Cifar10Download download(String archiveSum, Cifar10Download.Progress progress) {
        URI from = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/cifar.tar.gz");
        return new Cifar10Download(new Cifar10Files(RECORDS, checksums), archiveSum, from, progress);
    }

    private Path download() throws IOException, InterruptedException {
        return download(sum(archive), (bytes, total) -> {}).into(folder);
    }

    private List<String> names(Path where) throws IOException {
        try (Stream<Path> files = Files.list(where)) {
            return files.map(file -> String.valueOf(file.getFileName()))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void missingFilesAreDownloadedAndUnpackedAndNothingElseIsLeft() throws Exception {
        List<Long> told = new ArrayList<>();
        Path where = folder.resolve("new");
        Path found = download(sum(archive), (bytes, total) -> {
                    told.add(bytes);
                    assertEquals(archive.length, total);
                })
                .into(where);
        assertEquals(where.resolve("cifar-10-batches-bin"), found);
        assertEquals(List.of("cifar-10-batches-bin"), names(where));
        assertEquals(contents.keySet().stream().sorted().toList(), names(found));
        for (var file : contents.entrySet()) {
            assertArrayEquals(file.getValue(), Files.readAllBytes(found.resolve(file.getKey())));
        }
        assertEquals((long) archive.length, told.getLast());
    }

    @Test
    void whatIsThereIsOnlyVerified() throws Exception {
        download();
        assertEquals(1, ranges.size());
        assertEquals(folder.resolve("cifar-10-batches-bin"), download());
        assertEquals(1, ranges.size());
        Files.write(folder.resolve("cifar-10-batches-bin/data_batch_3.bin"), new byte[RECORDS * RECORD]);
        TestData.assertRefused(this::download, "data_batch_3.bin", "SHA-256");
        assertEquals(1, ranges.size(), "a file that the user may have changed is not replaced");
    }

    @Test
    void aSingleMissingFileComesBackWhereTheOthersAre() throws Exception {
        for (var file : contents.entrySet()) {
            Files.write(folder.resolve(file.getKey()), file.getValue());
        }
        Files.delete(folder.resolve("data_batch_2.bin"));
        assertEquals(folder, download());
        assertEquals(contents.keySet().stream().sorted().toList(), names(folder));
    }

    @Test
    void anInterruptedDownloadGoesOn() throws Exception {
        Files.write(folder.resolve("cifar-10-binary.tar.gz.part"), Arrays.copyOf(archive, 1000));
        download();
        assertEquals(List.of("bytes=1000-"), ranges);
    }

    @Test
    void aDownloadStartsOverWhereTheServerCannotGoOn() throws Exception {
        knowsRanges = false;
        Files.write(folder.resolve("cifar-10-binary.tar.gz.part"), new byte[1000]);
        download();
        assertEquals(1, ranges.size());
    }

    @Test
    void aDownloadStartsOverWhereMoreIsThereThanThereShouldBe() throws Exception {
        Files.write(folder.resolve("cifar-10-binary.tar.gz.part"), new byte[archive.length + 1]);
        download();
        assertEquals(List.of("bytes=" + (archive.length + 1) + "-", "null"), ranges);
    }

    @Test
    void anArchiveThatTheUserPutThereIsUsedAndKept() throws Exception {
        Files.write(folder.resolve("cifar-10-binary.tar.gz"), archive);
        download();
        assertEquals(List.of(), ranges);
        assertEquals(List.of("cifar-10-batches-bin", "cifar-10-binary.tar.gz"), names(folder));
    }

    @Test
    void anotherArchiveIsRefusedAndPutAside() throws Exception {
        TestData.assertRefused(
                () -> download("c32a", (bytes, total) -> {}).into(folder), "tar.gz.wrong", sum(archive), "c32a");
        assertEquals(List.of("cifar-10-binary.tar.gz.wrong"), names(folder));
    }

    @Test
    void withoutAServerTheMessageSaysWhatToDo() throws Exception {
        status = 404;
        TestData.assertRefused(this::download, "404", "by hand", sum(archive), folder.toString());
        server.stop(0);
        TestData.assertRefused(this::download, "cannot load http://127.0.0.1", "by hand", sum(archive));
        assertEquals(List.of(), names(folder));
    }

    @Test
    void anArchiveCannotWriteElsewhere() throws IOException {
        for (String name : List.of("../outside", "/outside", "a/../../outside", ".")) {
            byte[] tar = entry(name, '0', new byte[] {1});
            assertThrows(
                    IOException.class,
                    () -> Cifar10Download.unpack(new ByteArrayInputStream(tar), folder.resolve("in"), MOST),
                    name);
        }
        assertFalse(Files.exists(folder.resolve("outside")));
    }

    /** The usual header ends a name at a zero, but one that comes before it may give any name. */
    @Test
    void aNameThatIsNoPathIsRefused() throws IOException {
        ByteArrayOutputStream tar = new ByteArrayOutputStream();
        tar.writeBytes(entry("header", 'x', "12 path=a\0b\n".getBytes(StandardCharsets.US_ASCII)));
        tar.writeBytes(entry("file", '0', new byte[] {1}));
        String message = String.valueOf(assertThrows(
                        IOException.class,
                        () -> Cifar10Download.unpack(new ByteArrayInputStream(tar.toByteArray()), folder, 1000))
                .getMessage());
        assertTrue(message.contains("holds a file that is refused"), message);
    }

    @Test
    void linksAreLeftOut() throws IOException {
        Path in = Files.createDirectories(folder.resolve("in"));
        for (char type : List.of('1', '2', '3', '4', '6')) {
            byte[] link = entry("link", type, new byte[0]);
            put(link, 157, "../outside");
            byte[] through = entry("link/file", '0', new byte[] {1});
            byte[] both = Arrays.copyOf(summed(link), link.length + through.length);
            System.arraycopy(through, 0, both, link.length, through.length);
            Cifar10Download.unpack(new ByteArrayInputStream(both), in, MOST);
            assertFalse(Files.isSymbolicLink(in.resolve("link")));
            assertEquals(1, Files.size(in.resolve("link/file")));
        }
        assertFalse(Files.exists(folder.resolve("outside")));
    }

    @Test
    void aBombIsRefusedBeforeItIsUnpacked() throws IOException {
        byte[] announced = entry("file", '0', new byte[700]);
        put(announced, 124, "77777777777\0"); // 8 GiB
        ByteArrayOutputStream many = new ByteArrayOutputStream();
        for (int i = 0; i < 100; i++) {
            many.write(entry("file" + i, '0', new byte[700]));
        }
        for (byte[] tar : List.of(summed(announced), many.toByteArray())) {
            String message = String.valueOf(assertThrows(
                            IOException.class,
                            () -> Cifar10Download.unpack(new ByteArrayInputStream(tar), folder, MOST))
                    .getMessage());
            assertTrue(message.contains("more than 10,000 bytes"), message);
        }
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(MOST / 700, files.count());
        }
    }

    @Test
    void aServerThatSendsWithoutEndIsLeft() throws Exception {
        archive = new byte[2_000_000];
        TestData.assertRefused(this::download, "longer than the official archive");
        assertEquals(List.of(), names(folder));
    }

    @Test
    void brokenArchivesAreRefused() throws IOException {
        byte[] whole = entry("file", '0', new byte[700]);
        Cifar10Download.unpack(new ByteArrayInputStream(whole), folder, MOST);
        assertEquals(700, Files.size(folder.resolve("file")));
        for (int length : new int[] {512, 600, 1211}) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThrows(
                    IOException.class,
                    () -> Cifar10Download.unpack(new ByteArrayInputStream(cut), folder, MOST),
                    () -> length + " bytes");
        }
        byte[] damaged = whole.clone();
        damaged[3]++;
        String message = String.valueOf(assertThrows(
                        IOException.class,
                        () -> Cifar10Download.unpack(new ByteArrayInputStream(damaged), folder, MOST))
                .getMessage());
        assertTrue(message.contains("checksum"), message);
    }
}
