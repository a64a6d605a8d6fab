package dev.espalier;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/**
 * No file makes code run. What turns data into objects of its own choosing, or into code, is called nowhere in our modules; where something
 * near to it is needed, the place is named here with the reason.
 *
 * <p>The module {@code spark} is not on this class path. Spark sends its tasks as serialized objects, between the machines of one cluster.
 */
final class ForeignCodeTest {
    /**
     * What is feared.
     *
     * @param what in words
     * @param test whether a call is that
     */
    private record Danger(String what, Predicate<JavaAccess<?>> test) {
        /** Where it occurs, as {@code class: danger}. */
        Stream<String> in(Iterable<JavaClass> classes) {
            return StreamSupport.stream(classes.spliterator(), false)
                    .filter(type -> type.getAccessesFromSelf().stream().anyMatch(test))
                    .map(type -> type.getName() + ": " + what);
        }
    }

    private static boolean inPackage(JavaAccess<?> access, String... packages) {
        String name = access.getTargetOwner().getPackageName();
        return Stream.of(packages).anyMatch(root -> name.equals(root) || name.startsWith(root + "."));
    }

    private static boolean is(JavaAccess<?> access, String owner, String... methods) {
        return List.of(methods).contains(access.getTarget().getName())
                && access.getTargetOwner().isAssignableTo(owner);
    }

    private static final Danger OBJECTS = new Danger(
            "Java's own serialization, which makes any object that a file names",
            access -> Stream.of("java.io.ObjectInputStream", "java.beans.XMLDecoder", "java.rmi.MarshalledObject")
                    .anyMatch(access.getTargetOwner()::isAssignableTo));
    private static final Danger CLASSES_BY_NAME = new Danger(
            "a class by its name",
            access -> is(access, "java.lang.Class", "forName")
                    || is(access, "java.lang.ClassLoader", "loadClass", "defineClass")
                    || is(
                            access,
                            "java.lang.invoke.MethodHandles$Lookup",
                            "findClass",
                            "defineClass",
                            "defineHiddenClass")
                    || access.getTargetOwner().isAssignableTo("java.net.URLClassLoader"));

    private static final List<Danger> DANGERS = List.of(
            OBJECTS,
            CLASSES_BY_NAME,
            new Danger(
                    "a script engine",
                    access -> inPackage(access, "javax.script", "jdk.jshell", "groovy", "org.mozilla.javascript")),
            new Danger(
                    "a compiler",
                    access -> inPackage(access, "javax.tools", "com.sun.tools.javac", "java.lang.classfile")),
            new Danger(
                    "JSON that names classes",
                    access -> is(
                            access,
                            "java.lang.Object",
                            "activateDefaultTyping",
                            "activateDefaultTypingAsProperty",
                            "enableDefaultTyping",
                            "setDefaultTyping")),
            new Danger("a lookup in a directory", access -> inPackage(access, "javax.naming", "java.rmi")),
            new Danger(
                    "a reader of models that DJL has, TorchScript among them: that is code",
                    access -> is(access, "ai.djl.Model", "load") || inPackage(access, "ai.djl.repository")));

    /** Places that are no danger, and why. */
    private static final Map<String, String> KNOWN = Map.of(
            "dev.espalier.cli.Signals: " + CLASSES_BY_NAME.what(), "sun.misc.Signal, whose name is in the source");

    @Test
    void noFileMakesCodeRun() {
        Set<String> found = DANGERS.stream()
                .flatMap(danger -> danger.in(ArchitectureTest.CLASSES))
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(new TreeSet<>(KNOWN.keySet()), found);
    }

    /** A record or an enum is never made by {@code readObject} here; and none of ours has a method that would be run by it. */
    @Test
    void nothingOfOursRunsWhenItIsRead() {
        List<String> found = ArchitectureTest.CLASSES.stream()
                .flatMap(type -> type.getMethods().stream())
                .filter(method -> Set.of("readObject", "readResolve", "readExternal", "finalize")
                        .contains(method.getName()))
                .map(method -> method.getFullName())
                .toList();
        assertEquals(List.of(), found);
    }

    /** JSON names classes only where a sealed type lists them: {@code @JsonTypeInfo} with names, never with classes. */
    @Test
    void jsonNamesNoClasses() {
        List<String> found = ArchitectureTest.CLASSES.stream()
                .flatMap(type -> type.getAnnotations().stream())
                .filter(annotation -> annotation.getRawType().getSimpleName().equals("JsonTypeInfo"))
                .filter(annotation ->
                        !annotation.get("use").map(Object::toString).orElse("").endsWith("NAME"))
                .map(annotation -> annotation.getOwner().getDescription())
                .toList();
        assertEquals(List.of(), found);
    }

    /** Does what must not be done. */
    static final class Careless {
        Object read(InputStream file) throws IOException, ReflectiveOperationException {
            try (ObjectInputStream objects = new ObjectInputStream(file)) {
                return Class.forName(objects.readUTF()).getConstructor().newInstance();
            }
        }
    }

    @Test
    void whatIsFearedWouldBeFound() {
        JavaClasses careless = new ClassFileImporter().importClasses(Careless.class);
        List<String> found =
                DANGERS.stream().flatMap(danger -> danger.in(careless)).toList();
        assertEquals(
                List.of(
                        Careless.class.getName() + ": " + OBJECTS.what(),
                        Careless.class.getName() + ": " + CLASSES_BY_NAME.what()),
                found);
    }
}
