package dev.espalier.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class EncodingTest {
    private static Encoding random(Random random) {
        List<ColumnEncoding> parts = new ArrayList<>();
        for (int i = 0; i < 1 + random.nextInt(4); i++) {
            String name = "π \"%d\"\n".formatted(i);
            Field.Dense field = random.nextBoolean()
                    ? new Field.Image(name, 1 + random.nextInt(3), 2, 3)
                    : new Field.Numbers(name, List.of(1 + random.nextInt(3), 2));
            List<Double> means = new ArrayList<>();
            List<Double> deviations = new ArrayList<>();
            for (int k = 0; k < field.statistics(); k++) {
                means.add(random.nextGaussian() * Math.pow(10, random.nextInt(600) - 300));
                deviations.add(Math.pow(random.nextDouble(), 40) + Double.MIN_VALUE);
            }
            Normalization by = new Normalization(means, deviations);
            parts.add(
                    switch (random.nextInt(5)) {
                        case 2 -> calendar(name, random);
                        case 3 -> new ColumnEncoding.Indicated(calendar(name, random));
                        case 0 -> new ColumnEncoding.Scaled(field, by, random.nextGaussian());
                        case 1 -> new ColumnEncoding.Measured(field, by);
                        default -> new ColumnEncoding.OneHot(new Field.Category(name, List.of("", "a", "ü,\"")));
                    });
        }
        return new Encoding(
                List.of(
                        new ColumnEncoding.Joined("all", parts),
                        new ColumnEncoding.Tokenized(
                                new Field.Tokens("tokens", 128, 1, List.of("review")), "tokenizer.json")),
                List.of(
                        new ColumnEncoding.Plain(new Field.Category("label", List.of("no", "yes"))),
                        new ColumnEncoding.Plain(new Field.Numbers("price")),
                        new ColumnEncoding.Plain(new Field.Image("mask", 1, 2, 2))));
    }

    private static ColumnEncoding calendar(String name, Random random) {
        return new ColumnEncoding.Calendar(
                new ColumnEncoding.Scaled(
                        new Field.Date(name, random.nextBoolean()),
                        new Normalization(List.of(random.nextGaussian()), List.of(1.0)),
                        random.nextGaussian()),
                List.of(ColumnEncoding.Calendar.Cycle.DAY, ColumnEncoding.Calendar.Cycle.YEAR));
    }

    @Test
    void equalEncodingsPrintEqualTextThatReadsBack() {
        for (long seed = 0; seed < 100; seed++) {
            Encoding encoding = random(new Random(seed));
            String json = encoding.toJson();
            assertEquals(json, random(new Random(seed)).toJson());
            assertEquals(encoding, Encoding.parse(json), json);
            assertEquals(json, Encoding.parse(json).toJson());
        }
        assertNotEquals(random(new Random(1)).toJson(), random(new Random(2)).toJson());
    }

    @Test
    void theTextIsReadableByOthers() {
        Encoding encoding = new Encoding(
                List.of(new ColumnEncoding.Joined(
                        "features",
                        List.of(
                                new ColumnEncoding.Scaled(
                                        new Field.Numbers("size"), new Normalization(List.of(3.5), List.of(2.0)), 3.5),
                                new ColumnEncoding.OneHot(new Field.Category("colour", List.of("blue", "red")))))),
                List.of(new ColumnEncoding.Plain(new Field.Category("y", List.of("a", "b")))));
        assertEquals(
                "{'inputs':[{'kind':'joined','name':'features','parts':["
                        + "{'kind':'scaled','field':{'kind':'numbers','name':'size','shape':[]},"
                        + "'normalization':{'mean':[3.5],'deviation':[2.0]},'missing':3.5},"
                        + "{'kind':'one-hot','field':{'kind':'category','name':'colour','values':['blue','red']}}]}],"
                        + "'targets':[{'kind':'plain','field':{'kind':'category','name':'y','values':['a','b']}}]}",
                encoding.toJson().replace('"', '\''));
    }

    @Test
    void whatIsOlderThanTheNamesOfTextsIsReadToo() {
        String older = random(new Random(4)).toJson().replace(",\"texts\":[\"review\"]", "");
        Encoding read = Encoding.parse(older);
        assertEquals(new Field.Tokens("tokens", 128, 1), read.inputFields().getLast());
    }

    @Test
    void textThatIsNoneIsRefused() {
        String sound = random(new Random(3)).toJson();
        for (String wrong : List.of(
                "",
                "{",
                "[]",
                "{\"inputs\":[{\"kind\":\"magic\"}],\"targets\":[]}",
                sound.replace("tokenized", "tokenised"),
                sound.replace("128", "0"),
                sound.replace("[\"no\"", "[\"no\",\"no\""))) {
            assertThrows(IllegalArgumentException.class, () -> Encoding.parse(wrong), wrong);
        }
    }

    @Test
    void aJoinedColumnHasItsPartsOneBehindTheOther() {
        Column.Numbers pair =
                Columns.numbers(new Field.Numbers("pair", List.of(2)), new float[][] {{1, Float.NaN}, {3, 4}});
        Column.Categories colour =
                Columns.categories(new Field.Category("colour", List.of("blue", "red", "green")), new int[] {2, -1});
        Column.Numbers price = Columns.numbers(new Field.Numbers("price"), new float[][] {{10}, {30}});
        Dataset raw = new Dataset("raw", 2, List.of(pair, colour), List.of(price));
        Encoding encoding = new Encoding(
                List.of(new ColumnEncoding.Joined(
                        "all",
                        List.of(
                                new ColumnEncoding.Scaled(
                                        pair.field(), new Normalization(List.of(1.0, 2.0), List.of(2.0, 4.0)), 6),
                                new ColumnEncoding.OneHot(colour.field())))),
                List.of(new ColumnEncoding.Measured(price.field(), Normalization.of(price, 2))));
        Dataset encoded = encoding.apply(raw);
        assertEquals(List.of(new Field.Numbers("all", List.of(5))), encoded.inputFields());
        assertArrayEquals(new float[] {0, 1, 0, 0, 1}, TestData.values(encoded, 0));
        assertArrayEquals(new float[] {1, 0.5f, 0, 0, 0}, TestData.values(encoded, 1));
        float[] target = new float[1];
        ((Column.Numbers) encoded.targets().getFirst()).read(1, target, 0);
        assertEquals(30, target[0], "a target stays in its unit");
        assertEquals(
                new Normalization(List.of(20.0), List.of(10.0)),
                encoding.targets().getFirst().statistics());
        assertThrows(
                IllegalArgumentException.class,
                () -> encoding.apply(new Dataset("other", 2, List.of(colour, pair), List.of(price))));
        assertThrows(
                IllegalArgumentException.class,
                () -> new ColumnEncoding.Joined("all", List.of(new ColumnEncoding.Plain(colour.field()))));
    }

    @Test
    void missingNumbersDoNotCount() {
        float[][] rows = {{1, Float.NaN}, {3, Float.NaN}, {Float.NaN, Float.NaN}};
        Normalization by = Normalization.of(Columns.numbers(new Field.Numbers("x", List.of(2)), rows), 3);
        assertEquals(new Normalization(List.of(2.0, 0.0), List.of(1.0, 1.0)), by);
    }
}
