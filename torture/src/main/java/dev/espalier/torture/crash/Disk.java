package dev.espalier.torture.crash;

import dev.espalier.torture.Folders;
import dev.espalier.torture.crash.Fault.Operation;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A folder of a real disk that fails as it is told, and knows what a cut of the power would leave: of each file what was in it when it was
 * last forced, and of each folder the names that it had when it was last forced.
 *
 * <p>All operations of a {@link FaultyFileSystem} are told to it beforehand, and count from 0.
 */
final class Disk {
    /** What is in a file, whatever it is called. */
    private static final class Node {
        private byte[] forced = {};
        /** What was in it when it lost its last name. */
        private byte[] last = {};
    }

    private final Path root;
    private final long at;
    private final @Nullable Fault fault;
    private final long patience;

    private final List<Operation> operations = new ArrayList<>();
    private final Map<Path, Node> names = new HashMap<>();
    private final Map<Path, Node> forcedNames = new HashMap<>();
    private final Set<Path> folders = new HashSet<>();
    private final Set<Path> forcedFolders = new HashSet<>();
    private boolean full;
    private boolean dead;
    private long cutAt = Long.MAX_VALUE;

    /**
     * A disk that fails.
     *
     * @param root the folder that the disk knows; what is around it is there, and stays
     * @param at which operation fails
     * @param fault how; null if none does
     * @param patience how many operations after a lie the power is cut
     */
    Disk(Path root, long at, @Nullable Fault fault, long patience) {
        this.root = root;
        this.at = at;
        this.fault = fault;
        this.patience = patience;
    }

    /** Ends everything that uses the disk, as an end of the process does. */
    static final class Death extends Error {
        private static final long serialVersionUID = 1;

        Death() {
            super("the process ended here", null, false, false);
        }
    }

    /** What was done, in order. */
    synchronized List<Operation> operations() {
        return List.copyOf(operations);
    }

    /** Whether the process has ended. */
    synchronized boolean isDead() {
        return dead;
    }

    /**
     * Told before an operation.
     *
     * @return the fault that the operation has to play itself, as it is one of how much is written or forced; null if there is none
     */
    synchronized @Nullable Fault before(Operation operation, Path file) throws IOException {
        if (dead) {
            throw new Death();
        }
        long number = operations.size();
        operations.add(operation);
        if (number >= cutAt) {
            cut(Fault.CUT);
        }
        if (full && Fault.FULL.strikes(operation)) {
            throw new FileSystemException(file.toString(), null, "No space left on device");
        }
        if (number != at || fault == null) {
            return null;
        }
        switch (fault) {
            case ERROR -> throw new FileSystemException(file.toString(), null, "Input/output error");
            case FULL -> {
                full = true;
                throw new FileSystemException(file.toString(), null, "No space left on device");
            }
            case KILL -> die();
            case CUT, CONTENTS_LOST, RENAMES_LOST -> cut(fault);
            case LIE -> cutAt = number + patience;
            case SHORT, TORN -> {}
        }
        return fault;
    }

    /** Ends the process; what it has done stays. */
    synchronized void die() {
        dead = true;
        throw new Death();
    }

    synchronized Object node(Path file) {
        return names.computeIfAbsent(file, _ -> new Node());
    }

    synchronized void madeFolder(Path folder) {
        folders.add(folder);
    }

    synchronized void forced(Object node) throws IOException {
        Node file = (Node) node;
        file.forced = contents(file);
    }

    synchronized void settled(Path folder) {
        forcedNames.keySet().removeIf(file -> folder.equals(file.getParent()));
        names.forEach((file, node) -> {
            if (folder.equals(file.getParent())) {
                forcedNames.put(file, node);
            }
        });
        folders.stream().filter(inner -> folder.equals(inner.getParent())).forEach(forcedFolders::add);
    }

    /** Told before a file is deleted, or another takes its place. */
    synchronized void removing(Path file) throws IOException {
        Node node = names.get(file);
        if (node != null) {
            node.last = contents(node);
            names.remove(file);
        }
    }

    synchronized void renamed(Path from, Path to) {
        Node node = names.remove(from);
        if (node != null) {
            names.put(to, node);
        }
    }

    private byte[] contents(Node node) throws IOException {
        for (Map.Entry<Path, Node> name : names.entrySet()) {
            if (name.getValue() == node) {
                return Files.exists(name.getKey()) ? Files.readAllBytes(name.getKey()) : node.last;
            }
        }
        return node.last;
    }

    /** Leaves what a cut of the power leaves, and ends the process. */
    private void cut(Fault how) throws IOException {
        Map<Path, byte[]> left = new HashMap<>();
        for (Map.Entry<Path, Node> name : (how == Fault.CONTENTS_LOST ? names : forcedNames).entrySet()) {
            left.put(name.getKey(), how == Fault.RENAMES_LOST ? contents(name.getValue()) : name.getValue().forced);
        }
        Set<Path> leftFolders = new HashSet<>(how == Fault.CONTENTS_LOST ? folders : forcedFolders);
        Folders.delete(root);
        for (Path folder : leftFolders.stream().sorted().toList()) {
            if (Files.isDirectory(Objects.requireNonNull(folder.getParent()))) {
                Files.createDirectories(folder);
            }
        }
        for (Map.Entry<Path, byte[]> file : left.entrySet()) {
            if (Files.isDirectory(Objects.requireNonNull(file.getKey().getParent()))) {
                Files.write(file.getKey(), file.getValue());
            }
        }
        die();
    }
}
