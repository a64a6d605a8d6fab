package dev.espalier.train.study;

import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.run.TrainingListener;
import dev.espalier.train.study.Outcome.End;
import dev.espalier.train.study.Plan.Branch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/** Keeps the folders around those of seeds: each has the recipe for all its seeds, and is told of as an ended run whenever one of them ends. */
public final class BranchFolders implements StudyListener {
    private final Path root;
    private final TrainingListener told;
    private final Map<String, Branch> branches = new HashMap<>();

    /**
     * A keeper.
     *
     * @param plan the study, in a folder of this machine
     * @param told who is told of folders that ended
     */
    public BranchFolders(Plan plan, TrainingListener told) {
        this.root = Storage.local(plan.root()).orElseThrow();
        this.told = told;
        for (Branch branch : plan.branches()) {
            if (branch.hasSeedFolders()) {
                branch.trials().forEach(trial -> branches.put(trial.name(), branch));
            }
        }
    }

    @Override
    public void onEnd(Trial trial, Outcome outcome, Supplier<StudyResult> soFar) throws IOException {
        Branch branch = branches.get(trial.name());
        if (branch != null && (outcome.end() == End.FINISHED || outcome.end() == End.GIVEN_UP)) {
            RunFolder around = new RunFolder(root.resolve(branch.name()));
            Files.createDirectories(around.path());
            RunFolder.replace(around.recipe(), branch.recipe().toToml());
            told.onEnd(around);
        }
    }

    @Override
    public void onNote(String text) {
        told.onNote(text);
    }
}
