package dev.espalier.cli;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts this program again, in a process of its own: by the same JVM, options and class path. */
public final class ThisProgram {
    /** Options that are about one JVM: where its standard error is, and what it leaves for others to start faster by. */
    private static final List<String> OWN = List.of(
            "-Despalier.stderr",
            "-agentlib:",
            "-javaagent:",
            "-XX:AOTMode",
            "-XX:AOTCacheOutput",
            "-XX:ArchiveClassesAtExit");

    private ThisProgram() {}

    /**
     * The command that starts it.
     *
     * @param options what else the JVM is told
     * @param arguments what the program is to do
     * @return the command's words
     */
    public static List<String> command(List<String> options, List<String> arguments) {
        List<String> words = new ArrayList<>();
        words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(option -> OWN.stream().noneMatch(option::startsWith))
                .forEach(words::add);
        words.addAll(options);
        words.addAll(List.of("-classpath", System.getProperty("java.class.path"), Main.class.getName()));
        words.addAll(arguments);
        return words;
    }
}
