package dev.espalier.data.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class IsoDateTest {
    /** The twin: java.time, as the serving guide has it. */
    private static Optional<IsoDate> slow(String text) {
        String iso = text.replace(' ', 'T');
        try {
            return Optional.of(new IsoDate(LocalDate.parse(iso).toEpochDay(), false));
        } catch (DateTimeException noDate) {
            // a time then
        }
        try {
            return Optional.of(new IsoDate(days(LocalDateTime.parse(iso)), false));
        } catch (DateTimeException noLocalTime) {
            // an offset then
        }
        try {
            return Optional.of(new IsoDate(
                    days(OffsetDateTime.parse(iso)
                            .withOffsetSameInstant(ZoneOffset.UTC)
                            .toLocalDateTime()),
                    true));
        } catch (DateTimeException none) {
            return Optional.empty();
        }
    }

    private static float days(LocalDateTime time) {
        long day = time.toLocalDate().toEpochDay();
        float days = (float) (day + time.toLocalTime().toNanoOfDay() / 86_400e9);
        return Math.floor(days) > day ? Math.nextDown(days) : days;
    }

    @Test
    void datesAreWhatJavaTimeSays() {
        Random random = new Random(3);
        int dates = 0;
        int zoned = 0;
        for (int i = 0; i < 100_000; i++) {
            String text = "%04d-%02d-%02d"
                    .formatted(
                            random.nextBoolean() ? 1900 + random.nextInt(200) : random.nextInt(10_000),
                            random.nextInt(14),
                            random.nextInt(33));
            if (random.nextInt(4) > 0) {
                text += (random.nextBoolean() ? "T" : " ")
                        + "%02d:%02d".formatted(random.nextInt(25), random.nextInt(61));
                text += random.nextBoolean() ? ":%02d".formatted(random.nextInt(61)) : "";
                text += text.length() == 19 && random.nextBoolean()
                        ? "." + "123456789".substring(0, 1 + random.nextInt(9))
                        : "";
                text += List.of("", "", "Z", "+02:00", "-11:30", "+19:00", "-05", "+0545", "*")
                        .get(random.nextInt(9));
            }
            if (random.nextInt(20) == 0) {
                int at = random.nextInt(text.length());
                text = text.substring(0, at) + "0123-:TZ. ".charAt(random.nextInt(10)) + text.substring(at + 1);
            }
            Optional<IsoDate> expected = slow(text);
            assertEquals(expected, IsoDate.parse(text), text);
            dates += expected.isPresent() ? 1 : 0;
            zoned += expected.map(IsoDate::zoned).orElse(false) ? 1 : 0;
        }
        assertTrue(dates > 30_000 && zoned > 10_000, dates + " dates, " + zoned + " zoned");
    }

    @Test
    void daysAreCountedFrom1970AndATimeNeverBelongsToTheNextDay() {
        assertEquals(new IsoDate(-1, false), IsoDate.parse("1969-12-31").orElseThrow());
        assertEquals(
                new IsoDate(-0.25f, false), IsoDate.parse("1969-12-31 18:00").orElseThrow());
        assertEquals(
                new IsoDate(0.5f, true),
                IsoDate.parse("1970-01-01T14:00:00+02:00").orElseThrow());
        float last = IsoDate.parse("2024-01-31 23:59:59.999").orElseThrow().days();
        assertEquals(IsoDate.parse("2024-01-31").orElseThrow().days(), Math.floor(last));
        assertTrue(last > Math.floor(last) + 0.99);
    }

    @Test
    void otherTextsAreNone() {
        for (String text : List.of(
                "",
                "2024",
                "20240305",
                "2024-03",
                "05.03.2024",
                "03/05/2024",
                "2024-02-30",
                "2024-03-05x",
                "2024-03-05T",
                "2024-03-05T12",
                "2024-03-05 12:00 +02:00",
                "12:00",
                "2024-03-05T12:00:00.")) {
            assertFalse(IsoDate.parse(text).isPresent(), text);
        }
    }
}
