package dev.espalier.reproduce;

import dev.espalier.train.journal.Spread;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * A row of one of the paper's tables of trained models.
 *
 * @param name what the paper calls it
 * @param recipe the name of the recipe that is the row's protocol, one of those that are shipped
 * @param small what a run at small scale has instead, as on the command line: {@code section.key=value}
 * @param paper what the paper found, as percentages; a figure that it does not give is not there
 * @param programs versions of the paper's program that do the row otherwise than the text, see {@link #programRows}
 */
record PaperRow(
        String name, String recipe, List<String> small, SequencedMap<Figure, Spread> paper, List<String> programs) {

    /** Folder of the recipes that follow the paper's program instead of its text. */
    private static final String PROGRAM = "program/";

    /** Rows of the matrices of BERT-base, its head included. */
    private static final int BERT_BASE_GROUPS = 83_712;

    /** Dimensions of the embeddings of words, of positions and of the two texts. */
    private static final int EMBEDDING_GROUPS = 3 * 768;

    /** What the paper's means are over. */
    private static final int RUNS = 3;

    /** What is found out about a model. All are shares of one; NaN where it has no such thing. */
    enum Figure {
        /** Share of groups that are not zero. */
        GROUP_SPARSITY("group sparsity") {
            @Override
            double of(RowResult result) {
                return result.groupsLeft();
            }
        },
        /**
         * The same for BERT as the paper seems to count: its 86k groups are our 83,712 and the dimensions of three tables of
         * embeddings. These are frozen, so none of their groups is ever zero.
         */
        GROUP_SPARSITY_WITH_EMBEDDINGS("group sparsity, embeddings counted") {
            @Override
            double of(RowResult result) {
                return result.groups() == BERT_BASE_GROUPS
                        ? (result.groupsLeft() * BERT_BASE_GROUPS + EMBEDDING_GROUPS)
                                / (BERT_BASE_GROUPS + EMBEDDING_GROUPS)
                        : Double.NaN;
            }
        },
        /** Share of test images that are classified right. */
        ACCURACY("test accuracy") {
            @Override
            double of(RowResult result) {
                return result.score("accuracy");
            }
        },
        /** Share of questions with exactly the right answer. */
        EXACT_MATCH("EM") {
            @Override
            double of(RowResult result) {
                return result.score("exact_match");
            }
        },
        /** Mean overlap of given and right answers. */
        F1("F1") {
            @Override
            double of(RowResult result) {
                return result.score("f1");
            }
        };

        private final String label;

        Figure(String label) {
            this.label = label;
        }

        String label() {
            return label;
        }

        /** What a run came to. */
        abstract double of(RowResult result);
    }

    /** Copies what it is given. */
    PaperRow {
        small = List.copyOf(small);
        paper = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(paper));
        programs = List.copyOf(programs);
    }

    /**
     * What it is called on the command line: its recipe without model and data, such as {@code lasso-proximal}, or
     * {@code program-lasso-proximal}.
     */
    String shortName() {
        return (isProgram() ? "program-" : "") + recipe.split("-", 3)[2];
    }

    /** Whether it is done as the paper's program does it, where that is otherwise than the text. */
    boolean isProgram() {
        return recipe.startsWith(PROGRAM);
    }

    /**
     * The same row as the paper's program does it: one row for each of {@link #programs}, whose recipe lies in the folder
     * {@code program}. A version other than {@code ""} ends the recipe's name.
     */
    List<PaperRow> programRows() {
        return programs.stream()
                .map(version -> new PaperRow(
                        name + ", as the program does" + (version.isEmpty() ? "" : " (values by " + version + ")"),
                        PROGRAM + recipe + (version.isEmpty() ? "" : "-" + version),
                        small,
                        paper,
                        List.of()))
                .toList();
    }

    /**
     * The same with what the paper's program does.
     *
     * @param versions the endings of its recipes; none for one recipe of the row's own name
     */
    PaperRow program(String... versions) {
        return new PaperRow(name, recipe, small, paper, versions.length == 0 ? List.of("") : List.of(versions));
    }

    /** A row of the paper without any figures yet. */
    static PaperRow of(String name, String recipe, String... small) {
        return new PaperRow(name, recipe, List.of(small), new LinkedHashMap<>(), List.of());
    }

    /** The same with a figure of the paper that has no deviation, in percent. */
    PaperRow with(Figure figure, double percent) {
        return with(figure, Quote.percent(percent));
    }

    /** The same with a figure of the paper over three runs, in percent. */
    PaperRow with(Figure figure, double percent, double deviation) {
        return with(figure, Quote.percent(percent, deviation, RUNS));
    }

    private PaperRow with(Figure figure, Spread spread) {
        SequencedMap<Figure, Spread> more = new LinkedHashMap<>(paper);
        more.put(figure, spread);
        return new PaperRow(name, recipe, small, more, programs);
    }

    /** What the paper has for a figure. */
    Spread quote(Figure figure) {
        return paper.getOrDefault(figure, Quote.NONE);
    }

    /** The same with more that is different at small scale. */
    PaperRow atSmallScale(List<String> common) {
        List<String> all = new ArrayList<>(common);
        all.addAll(small);
        return new PaperRow(name, recipe, all, paper, programs);
    }
}
