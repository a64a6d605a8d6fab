package dev.espalier.examples;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** Runs main methods and keeps what they print. */
final class Programs {
    private static final Map<Class<?>, String> OUTPUTS = new HashMap<>();

    private Programs() {}

    /** What an example prints; it is run once, however many ask. */
    static synchronized String outputOf(Class<?> example) throws Exception {
        String output = OUTPUTS.get(example);
        if (output == null) {
            output = run(example);
            OUTPUTS.put(example, output);
        }
        return output;
    }

    /** Runs a program in the ways that {@code java} does: a static main with arguments, or one of an instance without. */
    static String run(Class<?> program) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream console = System.out;
        try (PrintStream captured = new PrintStream(bytes, true, StandardCharsets.UTF_8)) {
            System.setOut(captured);
            start(program);
        } catch (InvocationTargetException failed) {
            throw new AssertionError(program.getSimpleName() + " failed: " + failed.getCause(), failed.getCause());
        } finally {
            System.setOut(console);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private static void start(Class<?> program) throws ReflectiveOperationException {
        for (Method method : program.getDeclaredMethods()) {
            if (method.getName().equals("main")) {
                method.setAccessible(true);
                Object[] arguments = method.getParameterCount() == 0 ? new Object[0] : new Object[] {new String[0]};
                if (Modifier.isStatic(method.getModifiers())) {
                    method.invoke(null, arguments);
                } else {
                    var constructor = program.getDeclaredConstructor();
                    constructor.setAccessible(true);
                    method.invoke(constructor.newInstance(), arguments);
                }
                return;
            }
        }
        throw new AssertionError(program.getSimpleName() + " has no main method");
    }
}
