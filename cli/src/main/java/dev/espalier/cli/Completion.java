package dev.espalier.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import picocli.CommandLine;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Scripts by which a shell completes what is typed. All that they know is read off the commands: their names and options, what an option
 * or argument takes ({@code completionCandidates}, an enum's constants, a label such as {@code small|full}), and whether that is a file.
 * The words are in the script, so that a shell need not ask.
 *
 * @param program the command that all others are commands of
 */
record Completion(CommandSpec program) {
    /** What files are called that an argument of that label names; a folder may stand for one, or hold it. */
    private static final Map<String, String> ENDINGS = Map.of("RECIPE", ".toml", "MODEL", ".onnx");

    /** Labels of folders. */
    private static final List<String> FOLDERS = List.of("DIR", "RUN");

    /** What an argument can be. */
    private sealed interface Candidates {
        /** One of some words; of {@code key=value}, the key comes first. */
        record Words(List<String> words) implements Candidates {}

        /** A file whose name has that ending, or a folder. */
        record Files(String ending) implements Candidates {}

        /** A folder. */
        record Folders() implements Candidates {}

        /** Nobody knows. */
        record Anything() implements Candidates {}
    }

    private static final String BASH = """
            # Completion for espalier: written by 'espalier completion', from its commands and the keys of recipes.
            _espalier() {
                local line=${COMP_LINE:0:$COMP_POINT} word=${COMP_WORDS[$COMP_CWORD]}
                local token= typed= program= command= previous= each
                COMPREPLY=()
                case $line in
                    *[[:space:]]) ;;
                    *) token=${line##*[[:space:]]} ;;
                esac
                line=${line%"$token"}
                while [ -n "$line" ]; do
                    each=${line%%[[:space:]]*}
                    line=${line#"$each"}
                    line=${line#[[:space:]]}
                    [ -n "$each" ] || continue
                    previous=$each
                    case $each in
                        -*) ;;
                        *) if [ -z "$program" ]; then program=$each; elif [ -z "$command" ]; then command=$each; fi ;;
                    esac
                done
                # The shell may have cut the token at a =, and then wants only what comes after that.
                [ "$word" != = ] || word=
                typed=${token%"$word"}
                case $token in
                    --*=*)
                        previous=${token%%=*}
                        token=${token#*=}
                        typed=${typed#"$previous="}
                        ;;
                esac
                case $command:$previous in
            @OPTIONS@        *)
                        case $command:$token in
            @NAMES@            *)
                                case $command in
            @ARGUMENTS@                esac
                                ;;
                        esac
                        ;;
                esac
            }

            # Lines that begin with the token; as long as that has no =, nothing behind theirs.
            _espalier_words() {
                local each before=
                while IFS= read -r each; do
                    case $each in
                        "$token"?* | "${token%=}") ;;
                        *) continue ;;
                    esac
                    case $token:$each in
                        *=*:*) ;;
                        *=*) each=${each%%=*}= ;;
                    esac
                    [ "$each" != "$before" ] || continue
                    before=$each
                    case $each in
                        *=) compopt -o nospace 2>/dev/null ;;
                    esac
                    COMPREPLY+=("${each#"$typed"}")
                done
            }

            # Folders and, unless it is for these only, files whose names end so.
            _espalier_files() {
                local each
                compopt -o filenames 2>/dev/null
                while IFS= read -r each; do
                    COMPREPLY+=("${each#"$typed"}")
                done < <(compgen -d -- "$token"; [ "$1" = / ] || compgen -f -X "!*$1" -- "$token")
            }

            complete -F _espalier espalier
            """;

    String bash() {
        // Commands share options, and the keys of recipes are many.
        Map<Candidates, List<String>> options = new LinkedHashMap<>();
        StringBuilder names = new StringBuilder();
        StringBuilder arguments = new StringBuilder();
        for (CommandSpec command : commands()) {
            String name = command == program ? "" : command.name();
            for (OptionSpec option : options(command)) {
                if (takesArgument(option)) {
                    List<String> patterns = options.computeIfAbsent(candidates(option), _ -> new ArrayList<>());
                    Arrays.stream(option.names()).map((name + ":")::concat).forEach(patterns::add);
                }
            }
            List<String> all = options(command).stream()
                    .flatMap(option -> Arrays.stream(option.names()))
                    .toList();
            names.append(branch(12, name + ":-*", List.of(new Candidates.Words(all))));
            arguments.append(branch(16, "'" + name + "'", arguments(command)));
        }
        return BASH.replace(
                        "@OPTIONS@",
                        options.entrySet().stream()
                                .map(each -> branch(8, String.join(" | ", each.getValue()), List.of(each.getKey())))
                                .collect(Collectors.joining()))
                .replace("@NAMES@", names)
                .replace("@ARGUMENTS@", arguments);
    }

    /** One branch of a {@code case}. */
    private static String branch(int indent, String pattern, List<Candidates> candidates) {
        String margin = " ".repeat(indent);
        StringBuilder branch = new StringBuilder(margin).append(pattern).append(")\n");
        for (Candidates each : candidates) {
            branch.append(
                    switch (each) {
                        case Candidates.Words(List<String> words) ->
                            margin + "    _espalier_words <<'END'\n" + String.join("\n", words) + "\nEND\n";
                        case Candidates.Files(String ending) -> margin + "    _espalier_files '" + ending + "'\n";
                        case Candidates.Folders() -> margin + "    _espalier_files /\n";
                        case Candidates.Anything() -> "";
                    });
        }
        return branch.append(margin).append("    ;;\n").toString();
    }

    /** zsh runs what is written for bash, but a script cannot tell it of single words that no space comes after them. */
    String zsh() {
        return "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"
                + bash().replace("complete -F", "complete -o nospace -F");
    }

    String fish() {
        List<String> lines = new ArrayList<>(List.of(
                "# Completion for espalier: written by 'espalier completion', from its commands and the keys of recipes.",
                "complete -c espalier -f"));
        for (CommandSpec command : commands()) {
            String where = command == program
                    ? "complete -c espalier -n __fish_use_subcommand"
                    : "complete -c espalier -n '__fish_seen_subcommand_from " + command.name() + "'";
            for (OptionSpec option : options(command)) {
                String names = Arrays.stream(option.names())
                        .map(name -> name.startsWith("--") ? " -l " + name.substring(2) : " -s " + name.substring(1))
                        .collect(Collectors.joining());
                String takes = takesArgument(option) ? " -x" + fish(candidates(option)) : "";
                lines.add(where + names + takes + " -d " + quoted(summary(option.description())));
            }
            if (command == program) {
                subcommands()
                        .forEach(each -> lines.add(where + " -a "
                                + each.name() + " -d "
                                + quoted(summary(each.usageMessage().description()))));
            } else {
                arguments(command).stream()
                        .map(Completion::fish)
                        .filter(what -> !what.isEmpty())
                        .forEach(what -> lines.add(where + what));
            }
        }
        return String.join("\n", lines) + "\n";
    }

    private static String fish(Candidates candidates) {
        return switch (candidates) {
            case Candidates.Words(List<String> words) -> " -a " + quoted(String.join(" ", words));
            case Candidates.Files(String ending) ->
                " -a '(__fish_complete_suffix " + quoted(ending).replace("'", "\"") + ")'";
            case Candidates.Folders() -> " -a '(__fish_complete_directories)'";
            case Candidates.Anything() -> "";
        };
    }

    private static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }

    /** The first sentence, without what picocli would put in. */
    private static String summary(String... description) {
        return Stream.of(description)
                .findFirst()
                .map(text -> text.replaceFirst("[;:,]? ?\\$\\{.*", "")
                        .replaceFirst("[.;:] .*", "")
                        .replaceFirst("\\.$", ""))
                .orElse("");
    }

    private List<CommandSpec> commands() {
        return Stream.concat(Stream.of(program), subcommands()).toList();
    }

    /** Those that are for people. */
    private Stream<CommandSpec> subcommands() {
        return program.subcommands().values().stream()
                .map(CommandLine::getCommandSpec)
                .filter(command -> !command.usageMessage().hidden());
    }

    private static List<OptionSpec> options(CommandSpec command) {
        return command.options().stream().filter(option -> !option.hidden()).toList();
    }

    private static boolean takesArgument(OptionSpec option) {
        return option.arity().max() > 0;
    }

    /** What can stand behind a command, be it the first argument or a later one. */
    private List<Candidates> arguments(CommandSpec command) {
        if (command == program || command.userObject() instanceof HelpCommand) {
            return List.of(
                    new Candidates.Words(subcommands().map(CommandSpec::name).toList()));
        }
        return command.positionalParameters().stream()
                .filter(argument -> !argument.hidden())
                .map(Completion::candidates)
                .toList();
    }

    private static Candidates candidates(ArgSpec argument) {
        Optional<Iterable<String>> known = Optional.ofNullable(argument.completionCandidates());
        String label = argument.paramLabel();
        if (known.isPresent()) {
            return new Candidates.Words(StreamSupport.stream(known.orElseThrow().spliterator(), false)
                    .toList());
        }
        if (label.contains("|")) {
            // Capital letters stand for something, as in gpu:N.
            return new Candidates.Words(Arrays.stream(label.split("\\|", -1))
                    .filter(word -> word.matches("[a-z0-9-]+"))
                    .toList());
        }
        if (!argument.auxiliaryTypes()[0].equals(Path.class)) {
            return new Candidates.Anything();
        }
        return FOLDERS.contains(label)
                ? new Candidates.Folders()
                : new Candidates.Files(ENDINGS.getOrDefault(label, ""));
    }
}
