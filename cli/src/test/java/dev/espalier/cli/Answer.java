package dev.espalier.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;

/** What a command line answers. */
record Answer(int exitStatus, String out, String err) {
    static Answer to(Object... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exitStatus = Main.commandLine()
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(Arrays.stream(arguments).map(Object::toString).toArray(String[]::new));
        return new Answer(exitStatus, out.toString(), err.toString());
    }
}
