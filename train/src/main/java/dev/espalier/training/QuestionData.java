package dev.espalier.training;

import dev.espalier.recipe.DataRecipe;
import dev.espalier.squad.Squad;
import dev.espalier.squad.WindowPlan;
import dev.espalier.squad.Windows;
import dev.espalier.squad.WordPiece;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The questions of a run.
 *
 * @param train what the model learns from
 * @param validation what it is watched by while it learns; the test part itself, if the recipe sets nothing aside
 * @param test what it is judged by in the end
 */
public record QuestionData(Windows train, Windows validation, Windows test) {
    /**
     * Loads what a recipe names. First both parts are limited, then validation is cut off the training part, by whole texts.
     *
     * @param recipe how much
     * @param source of what
     * @param tokenizer the model's
     * @return all of it, in memory
     * @throws IOException if a file cannot be read, or is not what it should be
     */
    public static QuestionData load(DataRecipe recipe, DataRecipe.Squad source, WordPiece tokenizer)
            throws IOException {
        WindowPlan plan = new WindowPlan(source.length(), source.stride(), source.questionLength());
        Squad train = limited(Squad.read(Path.of(source.dir(), source.trainFile())), recipe.trainLimit());
        Windows test = new Windows(
                limited(Squad.read(Path.of(source.dir(), source.testFile())), recipe.testLimit()), tokenizer, plan);
        if (recipe.validationFraction() == 0) {
            return new QuestionData(new Windows(train, tokenizer, plan), test, test);
        }
        Squad.Split split = train.holdOut(recipe.validationFraction(), recipe.splitSeed());
        return new QuestionData(
                new Windows(split.kept(), tokenizer, plan), new Windows(split.held(), tokenizer, plan), test);
    }

    private static Squad limited(Squad squad, int limit) {
        return limit == 0 ? squad : squad.atMost(limit);
    }
}
