package dev.espalier.report;

import dev.espalier.train.journal.Comparison;
import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A page on a run, or one that compares several: one file that holds all it needs.
 *
 * <pre>{@code
 * Report.of(folder).write(folder.report());
 * }</pre>
 *
 * <p>A run that is not finished has a report too, with what there is so far. If there is a folder {@code baseline} in the
 * run's folder, it is the dense run that this one is compared with.
 */
public final class Report {
    private final Page page;

    private Report(Page page) {
        this.page = page;
    }

    /**
     * On one run.
     *
     * @param folder the run's folder
     * @return the report
     * @throws IOException if the folder cannot be read
     * @throws IllegalArgumentException if there is no run in the folder
     */
    public static Report of(RunFolder folder) throws IOException {
        return new Report(RunPage.of(RunData.read(folder)));
    }

    /**
     * On several runs, side by side; on one run if there is just one.
     *
     * @param folders the runs' folders
     * @return the report
     * @throws IOException if a folder cannot be read
     * @throws IllegalArgumentException if there is no run in a folder, or no folder at all
     */
    public static Report of(List<RunFolder> folders) throws IOException {
        if (folders.isEmpty()) {
            throw new IllegalArgumentException("no runs to report on: give at least one folder");
        }
        if (folders.size() == 1) {
            return of(folders.getFirst());
        }
        List<RunData> runs = new ArrayList<>();
        for (RunFolder folder : folders) {
            runs.add(RunData.read(folder));
        }
        return new Report(ComparisonPage.of(runs));
    }

    /**
     * On a smaller model beside its original.
     *
     * @param comparison what was found
     * @return the report
     */
    public static Report of(Comparison comparison) {
        return new Report(FidelityPage.of(comparison));
    }

    /**
     * Writes the page.
     *
     * @param file where to; replaced if it exists
     * @throws IOException if it cannot be written
     */
    public void write(Path file) throws IOException {
        RunFolder.replace(file, html());
    }

    /** {@return what it says, for another page to show} */
    public ReportView view() {
        return ReportView.of(page);
    }

    String html() {
        return page.toHtml().markup();
    }
}
