package dev.espalier.settings;

import java.io.Serial;
import java.util.List;
import java.util.stream.Collectors;

/** Settings that cannot be followed, with everything that is wrong in them. */
public final class SettingsException extends IllegalArgumentException {
    @Serial
    private static final long serialVersionUID = 1;

    private final transient List<Problem> problems;

    SettingsException(String source, List<Problem> problems) {
        super(problems.stream()
                .sorted(Problem.READING_ORDER)
                .map(problem -> "\n  " + problem)
                .collect(Collectors.joining(
                        "",
                        source + (problems.size() == 1 ? " has a problem:" : " has " + problems.size() + " problems:"),
                        "")));
        this.problems = problems.stream().sorted(Problem.READING_ORDER).toList();
    }

    /**
     * Everything that is wrong.
     *
     * @return at least one problem, in the order of the file
     */
    public List<Problem> problems() {
        return problems;
    }
}
