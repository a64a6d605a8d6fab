package dev.espalier.ui;

import dev.espalier.train.journal.RunFolder;
import dev.espalier.ui.Refusal.Status;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The recipes in a folder and in the folders right below it, those of runs left out. */
final class Recipes {
    private static final String SUFFIX = ".toml";
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,80}");

    /** Longer files are no recipes. */
    private static final long LONGEST = 100_000;

    private final Home home;
    private final Path root;

    /**
     * A recipe.
     *
     * @param file where it is, from the folder that is shown
     * @param text what it says
     */
    record Listed(String file, String text) {}

    Recipes(Home home) {
        this.home = home;
        this.root = home.path();
    }

    List<Listed> look() throws IOException {
        List<Listed> recipes = new ArrayList<>();
        for (Path file : files()) {
            try {
                recipes.add(new Listed(root.relativize(file).toString(), Files.readString(file)));
            } catch (MalformedInputException _) {
                // Not a text, whatever it is called.
            }
        }
        return recipes;
    }

    private List<Path> files() throws IOException {
        List<Path> files = new ArrayList<>();
        List<Path> entries = entries(root);
        for (Path entry : entries) {
            if (Files.isDirectory(entry) && Files.isReadable(entry) && home.holds(entry)) {
                files.addAll(entries(entry));
            }
        }
        files.addAll(entries);
        return files.stream()
                .filter(file -> file.toString().endsWith(SUFFIX))
                .filter(Recipes::isRecipe)
                .filter(home::holds)
                .sorted()
                .toList();
    }

    private static List<Path> entries(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.toList();
        }
    }

    private static boolean isRecipe(Path file) {
        try {
            return Files.isRegularFile(file)
                    && Files.size(file) <= LONGEST
                    && !Files.exists(new RunFolder(file.resolveSibling("")).provenanceFile());
        } catch (IOException _) {
            return false;
        }
    }

    /** A recipe of the list. */
    Path find(String file) throws Refusal, IOException {
        return files().stream()
                .filter(known -> root.relativize(known).toString().equals(file))
                .findFirst()
                .orElseThrow(() -> new Refusal(
                        Status.NOT_FOUND, "there is no recipe " + file + " in " + root + ": choose one of the list"));
    }

    /** Where a new recipe goes. */
    Path fresh(String name) throws Refusal {
        String plain = name.endsWith(SUFFIX) ? name.substring(0, name.length() - SUFFIX.length()) : name;
        if (!NAME.matcher(plain).matches()) {
            throw new Refusal(
                    Status.BAD_REQUEST,
                    "'%s' cannot be the name of a recipe: take letters, digits, dots, hyphens and underscores, such as my-model"
                            .formatted(name));
        }
        Path file = root.resolve(plain + SUFFIX);
        if (Files.exists(file)) {
            throw new Refusal(
                    Status.CONFLICT,
                    "there is a recipe %s already: choose it in the list, or take another name".formatted(file));
        }
        return file;
    }
}
