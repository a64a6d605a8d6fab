package dev.espalier.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * Java in the documentation is a whole program, which is compiled and run, or a piece of an example, which the tests run: an
 * HTML comment {@code from FILE#PIECE} names it, and the file has it between the comments {@code docs: PIECE} and
 * {@code docs: end}.
 */
final class JavaSamples {
    private static final Pattern ORIGIN =
            Pattern.compile("from (examples/(?:\\w+/)?src/main/java/(.+)\\.java)#([\\w-]+)");

    /** A sample that is a project of its own has a test of its own, which runs it ({@link OwnProject}). */
    private static final Pattern OWN_PROJECT = Pattern.compile("from examples/\\w+/src/");

    private static final Pattern MAIN = Pattern.compile("\\bvoid main\\(");
    private static final Pattern PUBLIC_CLASS = Pattern.compile("\\bpublic (?:final )?class (\\w+)");

    private JavaSamples() {}

    /** Checks a block, and returns what the program that it is, or belongs to, prints. */
    static String run(Block block) throws Exception {
        Matcher origin = ORIGIN.matcher(block.note());
        if (origin.matches()) {
            String source = Files.readString(Documentation.ROOT.resolve(origin.group(1)));
            String piece = piece(source, origin.group(3));
            assertEquals(
                    piece,
                    block.text(),
                    () -> block.place() + " is not what it says it is, " + block.note() + ", which is\n" + piece);
            return OWN_PROJECT.matcher(block.note()).find()
                    ? ""
                    : Programs.outputOf(Class.forName(origin.group(2).replace('/', '.')));
        }
        assertTrue(
                MAIN.matcher(block.text()).find(),
                () -> block.place()
                        + " is no program: give it a main method, or put it into an example and name it in a"
                        + " comment above the block, <!-- from examples/src/main/java/….java#PIECE -->");
        return Programs.run(compile(block));
    }

    /** The lines between two comments, moved to the left margin. */
    static String piece(String source, String name) {
        List<String> lines = new ArrayList<>();
        boolean inside = false;
        for (String line : source.lines().toList()) {
            if (line.strip().equals("// docs: end")) {
                inside = false;
            } else if (line.strip().equals("// docs: " + name)) {
                inside = true;
            } else if (inside) {
                lines.add(line);
            }
        }
        assertTrue(!lines.isEmpty(), () -> "there is no piece // docs: " + name);
        return String.join("\n", lines).stripIndent() + "\n";
    }

    private static Class<?> compile(Block block) throws Exception {
        String name = block.file()
                .map(file -> file.toString().replace(".java", ""))
                .orElseGet(() -> {
                    Matcher type = PUBLIC_CLASS.matcher(block.text());
                    return type.find() ? type.group(1) : "Sample";
                });
        Path classes = Files.createTempDirectory("espalier-sample");
        StringWriter messages = new StringWriter();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        boolean sound = compiler.getTask(
                        messages,
                        null,
                        null,
                        List.of(
                                "-d",
                                classes.toString(),
                                "-proc:none",
                                "-Xlint:all",
                                "-Werror",
                                "-classpath",
                                System.getProperty("java.class.path")),
                        null,
                        List.of(new Source(name, block.text())))
                .call();
        assertTrue(sound, () -> block.place() + " does not compile:\n" + messages);
        return load(classes, name);
    }

    /** The loader stays open: a program may load classes as long as its objects live. */
    @SuppressWarnings("resource")
    private static Class<?> load(Path classes, String name) throws IOException, ClassNotFoundException {
        URLClassLoader loader =
                new URLClassLoader(new URL[] {classes.toUri().toURL()}, JavaSamples.class.getClassLoader());
        return loader.loadClass(name);
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String name, String text) {
            super(URI.create("sample:///" + name + Kind.SOURCE.extension), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }
}
