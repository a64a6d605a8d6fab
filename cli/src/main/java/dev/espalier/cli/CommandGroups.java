package dev.espalier.cli;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.UsageMessageSpec;

/** The list of commands in {@code espalier --help}: in groups, one line for each. */
final class CommandGroups {
    /** Headings and their commands, in the order in which they are printed. */
    static final List<Group> ALL = List.of(
            new Group("Make a model smaller", "shrink", "prune", "convert", "compare", "inputs", "inspect", "survey"),
            new Group("Train", "train", "sweep", "study", "report", "ui", "demo"),
            new Group("Use", "predict", "evaluate", "answer"),
            new Group("Research", "reproduce", "prox", "bench"),
            new Group("Set-up", "gpu", "data", "completion", "help"));

    /**
     * Commands under one heading.
     *
     * @param heading the heading, without a colon
     * @param commands their names
     */
    record Group(String heading, List<String> commands) {
        Group(String heading, String... commands) {
            this(heading, List.of(commands));
        }
    }

    private CommandGroups() {}

    /** Has a command line print its commands in groups. */
    static CommandLine in(CommandLine program) {
        program.getCommandSpec().usageMessage().commandListHeading("");
        program.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, CommandGroups::list);
        return program;
    }

    private static String list(Help help) {
        StringBuilder text = new StringBuilder();
        Map<String, Help> commands = help.subcommands();
        for (Group group : ALL) {
            text.append(String.format(Locale.ROOT, "%n%s:%n", group.heading()));
            for (String name : group.commands()) {
                Help command = commands.get(name);
                if (command != null) {
                    text.append(String.format(Locale.ROOT, "  %-12s%s%n", name, summary(command)));
                }
            }
        }
        return text.toString();
    }

    /** The first line of a command's help. */
    static String summary(Help command) {
        UsageMessageSpec usage = command.commandSpec().usageMessage();
        return usage.header().length > 0 ? usage.header()[0] : usage.description()[0];
    }
}
