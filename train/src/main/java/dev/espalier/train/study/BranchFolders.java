package dev.espalier.train.study;

import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.run.TrainingListener;
import dev.espalier.train.study.Outcome.End;
import dev.espalier.train.study.Plan.Branch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Keeps the folders around those of seeds: each has the recipe for all its seeds, and is told of as an ended run whenever one of them ends.
 *
 * @param plan the study, in a folder of this machine
 * @param told who is told of folders that ended
 */
public record BranchFolders(Plan plan, TrainingListener told) implements StudyListener {
    @Override
    public void onEnd(Trial trial, Outcome outcome, StudyResult soFar) throws IOException {
        if (outcome.end() != End.FINISHED && outcome.end() != End.GIVEN_UP) {
            return;
        }
        for (Branch branch : plan.branches()) {
            if (branch.hasSeedFolders()
                    && branch.trials().stream().anyMatch(one -> one.name().equals(trial.name()))) {
                Path root = Storage.local(plan.root()).orElseThrow();
                RunFolder around = new RunFolder(root.resolve(branch.name()));
                Files.createDirectories(around.path());
                RunFolder.replace(around.recipe(), branch.recipe().toToml());
                told.onEnd(around);
            }
        }
    }

    @Override
    public void onNote(String text) {
        told.onNote(text);
    }
}
