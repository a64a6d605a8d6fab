package dev.espalier.train.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.train.journal.Metric.Direction;
import dev.espalier.train.journal.Metric.Unit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class MetricTest {
    private static final Metric ERROR = new Metric("rmse", Unit.LABEL, Direction.LOWER);
    private static final Metric SHARE = Metric.share("exact_match");

    @Test
    void sharesArePercentagesAndOtherNumbersHaveFourDigits() {
        assertEquals("97.2 %", SHARE.write(0.9716));
        assertEquals("97.16 %", SHARE.write(0.9716, 2));
        assertEquals("97.0 ± 1.4 %", SHARE.write(Spread.of(List.of(0.96, 0.98))));
        assertEquals("0.01235", ERROR.write(0.0123456));
        assertEquals("123500", ERROR.write(123456));
        assertEquals("1.5e-7", ERROR.write(1.5e-7));
        assertEquals("0", ERROR.write(0));
        assertEquals("–", ERROR.write(Double.NaN));
        assertEquals("2 ± 1.414", ERROR.write(Spread.of(List.of(1.0, 3.0))));
        assertEquals("exact match", SHARE.words());
    }

    @Test
    void theDirectionDecidesWhatIsBetter() {
        assertTrue(SHARE.isBetter(0.9, 0.8));
        assertTrue(ERROR.isBetter(0.8, 0.9));
        assertFalse(ERROR.isBetter(0.8, 0.8));
    }

    /** Only tasks know what is measured: whoever prints, draws or stops a training is told. */
    @Test
    void nobodyElseKnowsAMetricByName() throws IOException {
        Pattern name = Pattern.compile("\"[a-z_ %]*(accuracy|f1|exact_match|exact_spans|rmse|mae|r2)[a-z_ %]*\"");
        Path repository = Path.of("").toAbsolutePath().getParent();
        for (String package_ : List.of("dev/espalier/train/run", "dev/espalier/report", "dev/espalier/cli")) {
            List<Path> folders;
            try (Stream<Path> modules = Files.list(repository)) {
                folders = modules.map(module -> module.resolve("src/main/java").resolve(package_))
                        .filter(Files::isDirectory)
                        .toList();
            }
            assertFalse(folders.isEmpty(), package_);
            for (Path folder : folders) {
                try (Stream<Path> files = Files.list(folder)) {
                    for (Path file : files.filter(Files::isRegularFile).toList()) {
                        assertFalse(name.matcher(Files.readString(file)).find(), file.toString());
                    }
                }
            }
        }
    }
}
