package dev.espalier.graph.safetensors;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A file from anywhere gives its tensors or an IOException that says what is wrong with which of them: nothing else. */
class HostileFileTest {
    @TempDir
    private Path folder;

    private String refused(byte[] header, int data) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(8 + header.length + data).order(ByteOrder.LITTLE_ENDIAN);
        return refused(bytes.putLong(header.length).put(header).array());
    }

    private String refused(byte[] bytes) throws IOException {
        Path file = folder.resolve("hostile.safetensors");
        Files.write(file, bytes);
        String message = String.valueOf(
                assertThrows(IOException.class, () -> Safetensors.read(file)).getMessage());
        assertTrue(message.contains("hostile.safetensors"), message);
        return message;
    }

    // Eight bytes of data follow each header; ' stands for a quotation mark.
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{'x':{'dtype':'F32','shape':[2],'data_offsets':[0,16]}} | tensor x: F32[2] at bytes 0 to 16 reaches beyond",
                "{'x':{'dtype':'F32','shape':[1],'data_offsets':[0,4]}} | the tensors end at 4",
                "{'x':{'dtype':'F32','shape':[1],'data_offsets':[4,8]}} | tensor x: F32[1] at bytes 4 to 8 leaves a gap",
                "{'x':{'dtype':'F32','shape':[2],'data_offsets':[8,0]}} | ends before it starts",
                "{'x':{'dtype':'F32','shape':[3],'data_offsets':[0,8]}} | tensor x: F32[3] at bytes 0 to 8 needs 12 bytes",
                "{'x':{'dtype':'F64','shape':[],'data_offsets':[0,8]},'y':{'dtype':'F32','shape':[1],'data_offsets':[4,8]}} "
                        + "| tensor y: F32[1] at bytes 4 to 8 overlaps",
                "{'x':{'dtype':'F64','shape':[],'data_offsets':[0,8]},'y':{'dtype':'F64','shape':[],'data_offsets':[0,8]}} "
                        + "| overlaps",
                "{'x':{'dtype':'F32','shape':[4611686018427387904,4],'data_offsets':[0,8]}} | more elements than memory",
                "{'x':{'dtype':'F64','shape':[2305843009213693953],'data_offsets':[0,8]}} | more elements than memory",
                "{'x':{'dtype':'F32','shape':[-2],'data_offsets':[0,8]}} | tensor x: shape has a -2",
                "{'x':{'dtype':'F32','shape':[2.0],'data_offsets':[0,8]}} | tensor x: shape has a 2.0",
                "{'x':{'dtype':'F32','shape':[99999999999999999999],'data_offsets':[0,8]}} | that is no length",
                "{'x':{'dtype':'F32','shape':['2'],'data_offsets':[0,8]}} | that is no length",
                "{'x':{'dtype':'F32','shape':[[2]],'data_offsets':[0,8]}} | that is no length",
                "{'x':{'dtype':'F32','shape':2,'data_offsets':[0,8]}} | tensor x: shape is no list",
                "{'x':{'dtype':'F32','shape':[2],'data_offsets':[0,8,8]}} | must be two numbers",
                "{'x':{'dtype':'F8_E4M3','shape':[8],'data_offsets':[0,8]}} | tensor x: its dtype F8_E4M3 is not supported",
                "{'x':{'dtype':32,'shape':[2],'data_offsets':[0,8]}} | tensor x: its dtype (no text)",
                "{'x':{'dtype':'F32','shape':[2]}} | tensor x: its entry must have",
                "{'x':{'dtype':'F32','shape':[2],'data_offsets':[0,8],'more':1}} | unknown field more",
                "{'x':{'dtype':'F32','dtype':'F32','shape':[2],'data_offsets':[0,8]}} | tensor x: it has two types",
                "{'x':{'dtype':'F32','shape':[2],'data_offsets':[0,8]},'x':{'dtype':'F32','shape':[2],'data_offsets':[0,8]}} "
                        + "| tensor x is there twice",
                "{'x':[]} | tensor x: its entry is no JSON object",
                "{'x':null} | tensor x: its entry is no JSON object",
                "{'__metadata__':{'a':1}} | value that is no text: a",
                "{'__metadata__':{'a':{}}} | value that is no text: a",
                "{'__metadata__':{'a':'1','a':'2'}} | a name twice: a",
                "{'__metadata__':{},'__metadata__':{}} | __metadata__ is there twice",
                "{'__metadata__':[]} | __metadata__ is no JSON object",
                "{} {} | something follows",
                "{} | the tensors end at 0",
                "[] | no JSON object",
                "{'x' | no sound JSON",
                "{'x':{'dtype':'F32' | no sound JSON",
                "{x:1} | no sound JSON",
                "`` | no JSON object"
            })
    void aBadHeaderIsRefusedWithItsReason(String header, String reason) throws IOException {
        String message = refused(header.replace('\'', '"').getBytes(StandardCharsets.UTF_8), 8);
        assertTrue(message.contains(reason), message);
    }

    @Test
    void otherEncodingsThanUtf8AreRefused() throws IOException {
        assertTrue(refused("{\"\u00e9\":1}".getBytes(StandardCharsets.ISO_8859_1), 0)
                .contains("no UTF-8"));
        refused("{}".getBytes(StandardCharsets.UTF_16LE), 0);
    }

    @Test
    void deepNestingAndLongListsAreRefused() throws IOException {
        refused(("{\"x\":" + "[".repeat(100_000)).getBytes(StandardCharsets.UTF_8), 0);
        refused(("{\"x\":{\"dtype\":\"F32\",\"shape\":" + "[".repeat(100_000)).getBytes(StandardCharsets.UTF_8), 0);
        String ones = "1,".repeat(100_000) + "1";
        String header = "{\"x\":{\"dtype\":\"F32\",\"shape\":[" + ones + "],\"data_offsets\":[0,4]}}";
        assertTrue(refused(header.getBytes(StandardCharsets.UTF_8), 4).contains("more than 64 numbers"));
    }

    @Test
    void moreTensorsThanAnyModelHasAreRefused() throws IOException {
        StringBuilder header = new StringBuilder("{");
        for (int i = 0; i <= 1 << 18; i++) {
            header.append(i == 0 ? "" : ",").append('"').append(i);
            header.append("\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}");
        }
        byte[] bytes = header.append('}').toString().getBytes(StandardCharsets.UTF_8);
        assertTrue(refused(bytes, 0).contains("more than 262144 tensors"));
    }

    @Test
    void aHeaderThatIsLongerThanTheFileIsRefused() throws IOException {
        for (long length : new long[] {9, 1L << 40, Long.MAX_VALUE, -1, Long.MIN_VALUE}) {
            byte[] bytes = ByteBuffer.allocate(16)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(length)
                    .array();
            assertTrue(refused(bytes).contains(Long.toUnsignedString(length) + " bytes"));
        }
    }

    @Test
    void aHeaderBeyondTheFormatsLimitIsRefusedUnread() throws IOException {
        Path file = folder.resolve("large.safetensors");
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(200_000_000);
            sparse.writeLong(Long.reverseBytes(150_000_000));
        }
        String message = String.valueOf(
                assertThrows(IOException.class, () -> Safetensors.read(file)).getMessage());
        assertTrue(message.contains("at most 100000000"), message);
    }

    @Test
    void aFileThatIsCutOffIsRefused() throws IOException {
        byte[] whole = sound();
        for (int length = 0; length < whole.length; length += 7) {
            refused(Arrays.copyOf(whole, length));
        }
    }

    @Test
    void aFileWithDamagedBytesIsReadOrRefused() throws IOException {
        byte[] whole = sound();
        SplittableRandom random = new SplittableRandom(7);
        Path file = folder.resolve("damaged.safetensors");
        int read = 0;
        for (int trial = 0; trial < 400; trial++) {
            byte[] damaged = whole.clone();
            damaged[random.nextInt(8, 1000)] = (byte) random.nextInt(32, 127);
            Files.write(file, damaged);
            try {
                read += Safetensors.read(file).tensors().isEmpty() ? 0 : 1;
            } catch (IOException expected) {
                assertTrue(String.valueOf(expected.getMessage()).contains("damaged.safetensors"));
            }
        }
        // A damaged name or remark is a legal one, so some of the files are read; most are not.
        assertTrue(read > 0 && read < 500, "read " + read);
    }

    @Test
    void randomBytesAreRefused() throws IOException {
        SplittableRandom random = new SplittableRandom(8);
        for (int trial = 0; trial < 200; trial++) {
            byte[] bytes = new byte[random.nextInt(1, 300)];
            random.nextBytes(bytes);
            refused(bytes);
        }
    }

    private static byte[] sound() throws IOException {
        try (InputStream stream =
                Objects.requireNonNull(HostileFileTest.class.getResourceAsStream("python.safetensors"))) {
            return stream.readAllBytes();
        }
    }
}
