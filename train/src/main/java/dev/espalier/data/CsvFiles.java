package dev.espalier.data;

import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/** Tables of numbers with a column of labels. */
final class CsvFiles {
    private static final Pattern WHOLE = Pattern.compile("[+-]?[0-9]{1,18}");
    private static final Pattern NUMBER = Pattern.compile("[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?");

    private final DataSource.Csv source;

    private CsvFiles(DataSource.Csv source) {
        this.source = source;
    }

    static DataSplit load(DataSource.Csv source) throws IOException {
        return new CsvFiles(source).load();
    }

    private DataSplit load() throws IOException {
        boolean folder = Files.isDirectory(source.path());
        Path trainFile = folder ? find("train.csv").orElse(source.path().resolve("train.csv")) : source.path();
        if (!Files.isRegularFile(trainFile)) {
            throw DataException.in(
                    trainFile, "no such file: give a CSV file, or a folder with train.csv and perhaps test.csv");
        }
        Table train = read(trainFile);
        Map<String, Integer> classes = classes(train);
        Optional<Path> testFile = folder ? find("test.csv") : Optional.empty();
        if (testFile.isPresent()) {
            Table test = read(testFile.get());
            requireSameColumns(train, test);
            return new DataSplit(dataset(train, classes, "train"), dataset(test, classes, "test"));
        }
        return source.holdout().of(dataset(train, classes, ""), trainFile);
    }

    private Optional<Path> find(String name) {
        return List.of(name, name + ".gz").stream()
                .map(source.path()::resolve)
                .filter(Files::isRegularFile)
                .findFirst();
    }

    private static void requireSameColumns(Table train, Table test) throws DataException {
        if (!train.columns.equals(test.columns)) {
            throw DataException.in(
                    test.file,
                    1,
                    "the columns are %s, but those of %s are %s".formatted(test.columns, train.file, train.columns));
        }
    }

    @SuppressWarnings("ArrayRecordComponent") // passed on, never compared
    private record Row(long line, float[] features, String label) {}

    private record Table(Path file, List<String> columns, List<Row> rows) {}

    /** The classes in order: by value where all are whole numbers, by name otherwise. */
    private static Map<String, Integer> classes(Table table) throws DataException {
        List<String> names = table.rows.stream().map(Row::label).distinct().toList();
        boolean whole = names.stream().allMatch(name -> WHOLE.matcher(name).matches());
        Comparator<String> byName = Comparator.naturalOrder();
        Comparator<String> order =
                whole ? Comparator.<String>comparingLong(Long::parseLong).thenComparing(byName) : byName;
        if (names.size() < 2) {
            throw DataException.in(
                    table.file,
                    "all labels are " + names + ": there must be 2 classes or more; is it the right column?");
        }
        Map<String, Integer> classes = new LinkedHashMap<>();
        names.stream().sorted(order).forEach(name -> classes.put(name, classes.size()));
        return classes;
    }

    private static Dataset dataset(Table table, Map<String, Integer> classes, String part) throws DataException {
        int[] labels = new int[table.rows.size()];
        List<float[]> samples = new ArrayList<>(labels.length);
        for (Row row : table.rows) {
            Integer label = classes.get(row.label);
            if (label == null) {
                throw DataException.in(
                        table.file,
                        row.line,
                        "the class %s does not occur in the training part, which has %s"
                                .formatted(row.label, classes.keySet()));
            }
            labels[samples.size()] = label;
            samples.add(row.features);
        }
        String name = (table.file.getFileName() + " " + part).strip();
        SampleShape shape = new SampleShape.Vector(table.columns.size() - 1);
        return Samples.ofFloats(name, shape, List.copyOf(classes.keySet()), samples, labels);
    }

    private Table read(Path file) throws IOException {
        boolean compressed = file.toString().endsWith(".gz");
        try (var stored = Files.newInputStream(file);
                var plain = compressed ? new GZIPInputStream(stored) : stored;
                // Not a charset but its decoder: only that refuses what is not UTF-8.
                var reader = new BufferedReader(new InputStreamReader(plain, StandardCharsets.UTF_8.newDecoder()))) {
            return parse(file, reader);
        } catch (CharacterCodingException malformed) {
            throw DataException.in(file, "no UTF-8 text", malformed);
        } catch (ZipException malformed) {
            throw DataException.in(file, "no sound gzip file: " + malformed.getMessage(), malformed);
        } catch (EOFException cut) {
            throw DataException.in(file, "it ends too early: cut off?", cut);
        }
    }

    private Table parse(Path file, BufferedReader reader) throws IOException {
        List<String> columns = List.of();
        List<Row> rows = new ArrayList<>();
        int label = -1;
        long number = 0;
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            number++;
            String text = number == 1 && line.startsWith("\ufeff") ? line.substring(1) : line;
            if (text.isBlank()) {
                continue;
            }
            List<String> fields = fields(file, number, text);
            if (columns.isEmpty()) {
                columns = source.header() ? fields : Samples.numbered(fields.size());
                label = labelColumn(file, number, columns);
                if (source.header()) {
                    continue;
                }
            }
            rows.add(row(file, number, columns, label, fields));
        }
        if (rows.isEmpty()) {
            throw DataException.in(file, "no rows: expected " + (source.header() ? "a header and " : "") + "samples");
        }
        return new Table(file, columns, rows);
    }

    private int labelColumn(Path file, long line, List<String> columns) throws DataException {
        if (columns.size() < 2) {
            throw DataException.in(
                    file,
                    line,
                    "one column: expected a label and at least one number, separated by '%s'"
                            .formatted(source.delimiter()));
        }
        String wanted = source.label();
        if (source.header() && columns.contains(wanted)) {
            return columns.indexOf(wanted);
        }
        if (WHOLE.matcher(wanted).matches()) {
            long index = Long.parseLong(wanted);
            long fromStart = index < 0 ? columns.size() + index : index;
            if (fromStart >= 0 && fromStart < columns.size()) {
                return (int) fromStart;
            }
        }
        throw DataException.in(
                file,
                line,
                "there is no label column %s: give an index from %d to %d%s"
                        .formatted(
                                wanted,
                                -columns.size(),
                                columns.size() - 1,
                                source.header() ? ", or one of the names " + columns : ""));
    }

    private static Row row(Path file, long line, List<String> columns, int label, List<String> fields)
            throws DataException {
        if (fields.size() != columns.size()) {
            throw DataException.in(file, line, "%d fields: expected %d".formatted(fields.size(), columns.size()));
        }
        float[] features = new float[fields.size() - 1];
        for (int i = 0, next = 0; i < fields.size(); i++) {
            if (i != label) {
                features[next++] = number(file, line, columns.get(i), fields.get(i));
            }
        }
        if (fields.get(label).isEmpty()) {
            throw DataException.in(file, line, "the label in column " + columns.get(label) + " is empty");
        }
        return new Row(line, features, fields.get(label));
    }

    private static float number(Path file, long line, String column, String text) throws DataException {
        float value = NUMBER.matcher(text).matches() ? Float.parseFloat(text) : Float.NaN;
        if (!Float.isFinite(value)) {
            throw DataException.in(file, line, "'%s' in column %s: expected a finite number".formatted(text, column));
        }
        return value;
    }

    /** Cuts a line; a field may stand in quotes, and then a quote in it is written twice. */
    private List<String> fields(Path file, long line, String text) throws DataException {
        List<String> fields = new ArrayList<>();
        int at = 0;
        while (at <= text.length()) {
            int end;
            if (at < text.length() && text.charAt(at) == '"') {
                end = closingQuote(file, line, text, at + 1) + 1;
                fields.add(text.substring(at + 1, end - 1).replace("\"\"", "\""));
                if (end < text.length() && text.charAt(end) != source.delimiter()) {
                    throw DataException.in(
                            file,
                            line,
                            "character %d follows a closing quote: expected '%s'"
                                    .formatted(end + 1, source.delimiter()));
                }
            } else {
                int next = text.indexOf(source.delimiter(), at);
                end = next < 0 ? text.length() : next;
                fields.add(text.substring(at, end).strip());
            }
            at = end + 1;
        }
        return fields;
    }

    private static int closingQuote(Path file, long line, String text, int from) throws DataException {
        for (int i = from; i < text.length(); i++) {
            if (text.charAt(i) == '"') {
                if (i + 1 < text.length() && text.charAt(i + 1) == '"') {
                    i++;
                } else {
                    return i;
                }
            }
        }
        throw DataException.in(file, line, "a quote at character %d is never closed".formatted(from));
    }
}
