package dev.espalier.examples;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The test of the documentation would notice. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class SamplesTest {
    private static final String HELLO = """
            ```java
            void main() {
                IO.println("hello 1");
                IO.println("and more");
            }
            ```
            """;

    private static void check(String page) throws Exception {
        Samples samples = new Samples();
        for (Block block : Block.of("page.md", page)) {
            samples.check(block);
        }
    }

    static Stream<Arguments> broken() {
        return Stream.of(
                Arguments.of("does not compile", "```java\nvoid main() { int x = \"\"; }\n```"),
                Arguments.of("does not compile", "```java\nvoid main() { List raw = new ArrayList(); }\n```"),
                Arguments.of(
                        "failed: java.lang.NumberFormatException",
                        "```java\nvoid main() { Integer.parseInt(\"x\"); }\n```"),
                Arguments.of("is no program", "```java\nint x = 1;\n```"),
                Arguments.of("does not print", HELLO + "<!-- output -->\n```\nhello 2\n```"),
                Arguments.of("does not print", HELLO + "<!-- output, numbers vary -->\n```\nhullo 2\n```"),
                Arguments.of("does not print", HELLO + "<!-- output -->\n```\nand more\nhello 1\n```"),
                Arguments.of("does not print", "```sh\n./espalier bench\n```\n<!-- output -->\n```\nfast\n```"),
                Arguments.of("is not what it says it is", """
                        <!-- from examples/src/main/java/dev/espalier/examples/TrainOwnModel.java#train -->
                        ```java
                        Recipe recipe = null;
                        ```
                        """),
                Arguments.of("no piece", """
                        <!-- from examples/src/main/java/dev/espalier/examples/TrainOwnModel.java#nothing -->
                        ```java
                        Recipe recipe = null;
                        ```
                        """),
                Arguments.of("--plann", "```sh\n./espalier prune MODEL.onnx --plann\n```"),
                Arguments.of("page.md:1", "```sh\n./espalier bench --modell VGG16\n```"),
                Arguments.of("page.md:1", "```sh\n./espalier pruna MODEL.onnx\n```"),
                Arguments.of("no such file", "```sh\n./espalier inspect nowhere.onnx\n```"),
                Arguments.of("not a JSON object", "```sh\necho '{' | ./espalier prox\n```"),
                Arguments.of(
                        "data.dri is no key",
                        "```sh\n./espalier train recipes/bert-squad-baseline.toml --set data.dri=squad\n```"),
                Arguments.of("a module nowhere", "```sh\nmvn -pl nowhere test\n```"),
                Arguments.of("NoExample", "```sh\nmvn -Dexample=NoExample test\n```"),
                Arguments.of("a profile none", "```sh\nmvn -Pnone test\n```"),
                Arguments.of("no treatment", "```sh\nrm -r everything\n```"),
                Arguments.of("no treatment", "```cobol\nSTOP RUN.\n```"),
                Arguments.of("must name a file", "```xml\n<project/>\n```"),
                Arguments.of(
                        "is not in examples/standalone/pom.xml",
                        "<!-- from examples/standalone/pom.xml -->\n```xml\n<version>0.0</version>\n```"),
                Arguments.of("training.epoch is no key", "```toml\n[training]\nepoch = 1\n```"),
                Arguments.of("is no sample", "```json\n{}\n```"),
                Arguments.of("looks like code", "```\n./espalier demo\n```"),
                Arguments.of("looks like code", "```\nint x = 1;\n```"),
                Arguments.of("never closed", "```java\nvoid main() {}\n"));
    }

    @ParameterizedTest
    @MethodSource("broken")
    void aBrokenSampleFails(String reason, String page) {
        Throwable failure = assertThrows(Throwable.class, () -> check(page));
        assertTrue(failure.toString().contains(reason), failure::toString);
    }

    @Test
    void soundSamplesPass() {
        assertDoesNotThrow(() -> check(HELLO
                + "<!-- output -->\n```\nhello 1\n```\n\n"
                + "<!-- output, numbers vary -->\n\n```\nhello   2.5\n```\n```\nr = 1\n```\n"));
    }

    @Test
    void commandsAreReadAsAShellReadsThem() {
        Block block = new Block("page.md:1", "sh", "", "a 'b c' \"d\"e # f\necho '{\"x\": 1}' | g \\\n  h#i\n# j\n");
        assertEquals(
                List.of(new Command(List.of("a", "b c", "de"), ""), new Command(List.of("g", "h#i"), "{\"x\": 1}\n")),
                Command.of(block));
    }

    @Test
    void aPieceIsMovedToTheMargin() {
        assertEquals(
                "a {\n    b\n}\n",
                JavaSamples.piece("x\n    // docs: one\n    a {\n        b\n    }\n    // docs: end\ny\n", "one"));
    }
}
