package dev.espalier.cli;

import java.io.PrintWriter;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier completion}: what a shell has to know to complete what is typed. */
@Command(
        name = "completion",
        description = {
            "Print a completion script for bash, zsh or fish.",
            "Completes commands, options, keys of recipes and files.",
            "For bash: source <(./espalier completion bash). For zsh: source <(./espalier completion zsh). For fish: ./espalier completion fish | source.",
        })
final class CompletionCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before run()
    private CommandSpec spec;

    @Parameters(paramLabel = "SHELL", description = "The shell: ${COMPLETION-CANDIDATES}.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before run()
    private Shell shell;

    /** The shells that are known. */
    enum Shell {
        BASH,
        ZSH,
        FISH;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Override
    public void run() {
        Completion completion = new Completion(spec.root());
        PrintWriter out = spec.commandLine().getOut();
        out.print(
                switch (shell) {
                    case BASH -> completion.bash();
                    case ZSH -> completion.zsh();
                    case FISH -> completion.fish();
                });
        out.flush();
    }
}
