package dev.espalier.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Every sample of the documentation is compiled and run, from top to bottom of each page. */
final class DocumentationTest {

    @TestFactory
    Stream<DynamicNode> everySampleWorks() throws IOException {
        Sandbox.prepare();
        Samples samples = new Samples();
        List<DynamicNode> nodes = new ArrayList<>();
        for (Path page : Documentation.pages()) {
            Stream<DynamicTest> tests = Block.of(page.toString(), Documentation.text(page)).stream()
                    .map(block -> DynamicTest.dynamicTest(
                            block.place() + " " + block.language(), () -> samples.check(block)));
            nodes.add(DynamicContainer.dynamicContainer(page.toString(), tests));
        }
        nodes.add(DynamicTest.dynamicTest(
                "every exception from running is still needed",
                () -> assertEquals(ShellSamples.NOT_RUN.keySet(), samples.exceptionsUsed())));
        return nodes.stream();
    }
}
