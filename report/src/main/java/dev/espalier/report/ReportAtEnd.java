package dev.espalier.report;

import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.run.TrainingListener;
import java.io.IOException;

/** Writes the report of every run that ends, and of every experiment whose run ends. */
public final class ReportAtEnd implements TrainingListener {
    /** A listener without a memory. */
    public ReportAtEnd() {}

    @Override
    public void onEnd(RunFolder run) throws IOException {
        Report.of(run).write(run.report());
    }
}
