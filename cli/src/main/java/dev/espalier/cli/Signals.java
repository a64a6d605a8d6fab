package dev.espalier.cli;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * Signals of the operating system. Only {@code sun.misc.Signal} knows of them; javac warns wherever that is named, and cannot be asked not to,
 * so it is not named in Java.
 */
final class Signals {
    private Signals() {}

    /** A signal that is ours, until it is given back to whom it was taken from. */
    @FunctionalInterface
    interface Taken {
        void giveBack();
    }

    /**
     * Does something instead of what the JVM does when a signal arrives. One that is ignored, as Ctrl-C is by what a script starts in the background,
     * stays so; where the JVM leaves signals alone ({@code -Xrs}), nothing is taken.
     *
     * @param name such as {@code INT}
     * @param action done whenever it arrives, by a thread of its own
     */
    static Taken take(String name, Runnable action) {
        try {
            Class<?> type = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Method handle = type.getMethod("handle", type, handler);
            Object signal = type.getConstructor(String.class).newInstance(name);
            Object ours = Proxy.newProxyInstance(handler.getClassLoader(), new Class<?>[] {handler}, (_, _, _) -> {
                action.run();
                return null;
            });
            Object before = handle.invoke(null, signal, ours);
            return () -> invoke(handle, signal, before);
        } catch (ReflectiveOperationException _) {
            return () -> {};
        }
    }

    private static void invoke(Method handle, Object signal, Object handler) {
        try {
            handle.invoke(null, signal, handler);
        } catch (IllegalAccessException | InvocationTargetException failure) {
            throw new IllegalStateException(failure);
        }
    }
}
