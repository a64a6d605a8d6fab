package org.example;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.TensorInfo;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Says of rows of a table which classes they belong to, by a model that was trained on such a table, with nothing but ONNX Runtime:
 * all that it takes is in the file. The first argument is the file, the second the row, or one in each line: cells in the order of
 * the columns, without the label.
 */
public final class ServeRow {
    private ServeRow() {}

    /**
     * Prints the classes.
     *
     * @param arguments the ONNX file, and rows as lines of CSV
     * @throws OrtException if ONNX Runtime refuses the file
     */
    public static void main(String[] arguments) throws OrtException {
        for (String line : arguments[1].lines().toList()) {
            print(arguments[0], List.of(line.split(",", -1)));
        }
    }

    private static void print(String file, List<String> cells) throws OrtException {
        // docs: serve
        OrtEnvironment environment = OrtEnvironment.getEnvironment();
        try (OrtSession session = fastest(environment, file)) {
            Map<String, String> notes = session.getMetadata().getCustomMetadata();
            List<String> columns = names(notes, "espalier.columns");
            float[][] row = new float[1][columns.size()];
            for (int i = 0; i < columns.size(); i++) {
                row[0][i] = number(notes, columns.get(i), cells.get(i));
            }
            try (OnnxTensor input = OnnxTensor.createTensor(environment, row);
                    OrtSession.Result result = session.run(Map.of("features", input))) {
                float[] said = ((float[][]) result.get(0).getValue())[0];
                int best = IntStream.range(0, said.length).reduce(0, (a, b) -> said[b] > said[a] ? b : a);
                System.out.println(names(notes, "espalier.classes").get(best));
            }
        }
        // docs: end
    }

    // docs: names
    private static List<String> names(Map<String, String> notes, String key) {
        return notes.getOrDefault(key, "").lines().toList();
    }
    // docs: end

    // docs: cells
    private static final Set<String> MISSING = Set.of("", "na", "n/a", "nan", "null", "none", "?");

    private static float number(Map<String, String> notes, String column, String cell) {
        List<String> categories = names(notes, "espalier.categories." + column);
        if (!categories.isEmpty()) {
            return categories.indexOf(cell); // an empty cell may be one of them; -1 is none
        }
        if (MISSING.contains(cell.toLowerCase(Locale.ROOT))) {
            return Float.NaN;
        }
        String dates = notes.get("espalier.dates." + column);
        return dates == null ? Float.parseFloat(cell) : days(cell.replace(' ', 'T'), dates.equals("UTC"));
    }

    private static float days(String iso, boolean utc) {
        LocalDateTime time = utc
                ? OffsetDateTime.parse(iso).withOffsetSameInstant(ZoneOffset.UTC).toLocalDateTime()
                : iso.contains("T") ? LocalDateTime.parse(iso) : LocalDate.parse(iso).atStartOfDay();
        long day = time.toLocalDate().toEpochDay();
        float days = (float) (day + time.toLocalTime().toNanoOfDay() / 86_400e9);
        return Math.floor(days) > day ? Math.nextDown(days) : days; // 23:59 stays on its day
    }
    // docs: end

    // docs: fastest
    private static OrtSession fastest(OrtEnvironment environment, String file) throws OrtException {
        int fastest = 1;
        double shortest = Double.MAX_VALUE;
        for (int threads : new int[] {1, Runtime.getRuntime().availableProcessors()}) {
            try (OrtSession session = open(environment, file, threads)) {
                double milliseconds = milliseconds(environment, session);
                System.out.printf("%d threads: %.3f ms a row%n", threads, milliseconds);
                if (milliseconds < 0.9 * shortest) {
                    shortest = milliseconds;
                    fastest = threads;
                }
            }
        }
        return open(environment, file, fastest);
    }

    private static OrtSession open(OrtEnvironment environment, String file, int threads) throws OrtException {
        try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
            options.setIntraOpNumThreads(threads);
            return environment.createSession(file, options);
        }
    }

    private static double milliseconds(OrtEnvironment environment, OrtSession session) throws OrtException {
        TensorInfo features = (TensorInfo) session.getInputInfo().get("features").getInfo();
        float[][] row = new float[1][(int) features.getShape()[1]];
        double shortest = Double.MAX_VALUE;
        try (OnnxTensor input = OnnxTensor.createTensor(environment, row)) {
            for (int run = 0; run < 50; run++) {
                long start = System.nanoTime();
                session.run(Map.of("features", input)).close();
                shortest = Math.min(shortest, (System.nanoTime() - start) / 1e6);
            }
        }
        return shortest;
    }
    // docs: end
}
