package dev.espalier.data.table;

import java.time.LocalDate;
import java.time.YearMonth;
import java.util.Optional;

/**
 * An ISO 8601 date, or date and time, of a cell: {@code 2024-03-05}, {@code 2024-03-05 13:45}, {@code 2024-03-05T13:45:10.5},
 * {@code 2024-03-05T13:45:10+02:00}.
 *
 * @param days days since 1970-01-01, in UTC if there is an offset; the time is the fraction, rounded in such a way that the
 *     last minute of a day is not the next day
 * @param zoned whether it has an offset from UTC, or a Z
 */
record IsoDate(float days, boolean zoned) {
    /** What messages call legal values. */
    static final String EXPECTED = "a date such as 2024-03-05, 2024-03-05 13:45 or 2024-03-05T13:45:10";

    /** The same where there must be an offset. */
    static final String EXPECTED_ZONED =
            "a date and time with an offset from UTC, such as 2024-03-05T13:45:10+02:00 or 2024-03-05T11:45Z";

    private static final int DATE_LENGTH = 10;
    private static final int MINUTES_LENGTH = 16;
    private static final int MAX_OFFSET_HOURS = 18;
    private static final long NANOS_PER_SECOND = 1_000_000_000;
    private static final long NANOS_PER_DAY = 86_400 * NANOS_PER_SECOND;

    /** By hand: a table may have millions of them, and most texts are none, for which java.time throws an exception. */
    static Optional<IsoDate> parse(String text) {
        int length = text.length();
        if (length < DATE_LENGTH || text.charAt(4) != '-' || text.charAt(7) != '-') {
            return Optional.empty();
        }
        int year = digits(text, 0, 4);
        int month = digits(text, 5, 7);
        int day = digits(text, 8, DATE_LENGTH);
        if (year < 0
                || month < 1
                || month > 12
                || day < 1
                || day > YearMonth.of(year, month).lengthOfMonth()) {
            return Optional.empty();
        }
        long epochDay = LocalDate.of(year, month, day).toEpochDay();
        if (length == DATE_LENGTH) {
            return Optional.of(new IsoDate(epochDay, false));
        }
        if (length < MINUTES_LENGTH
                || (text.charAt(DATE_LENGTH) != 'T' && text.charAt(DATE_LENGTH) != ' ')
                || text.charAt(13) != ':') {
            return Optional.empty();
        }
        int hour = digits(text, 11, 13);
        int minute = digits(text, 14, MINUTES_LENGTH);
        long nanos = 0;
        int at = MINUTES_LENGTH;
        if (at < length && text.charAt(at) == ':') {
            int second = digits(text, at + 1, at + 3);
            if (second < 0 || second > 59) {
                return Optional.empty();
            }
            nanos = second * NANOS_PER_SECOND;
            at += 3;
            if (at < length && text.charAt(at) == '.') {
                int first = ++at;
                for (long unit = NANOS_PER_SECOND / 10; at < length && isDigit(text.charAt(at)); at++, unit /= 10) {
                    nanos += (text.charAt(at) - '0') * unit;
                }
                if (at == first || at > first + 9) {
                    return Optional.empty();
                }
            }
        }
        if (hour < 0 || hour > 23 || minute < 0 || minute > 59) {
            return Optional.empty();
        }
        nanos += (hour * 60L + minute) * 60 * NANOS_PER_SECOND;
        if (at == length) {
            return Optional.of(new IsoDate(days(epochDay, nanos), false));
        }
        long finalNanos = nanos;
        return offsetSeconds(text, at)
                .map(offset -> new IsoDate(days(epochDay, finalNanos - offset * NANOS_PER_SECOND), true));
    }

    private static float days(long epochDay, long nanos) {
        long day = epochDay + Math.floorDiv(nanos, NANOS_PER_DAY);
        float days = (float) (day + (double) Math.floorMod(nanos, NANOS_PER_DAY) / NANOS_PER_DAY);
        return Math.floor(days) > day ? Math.nextDown(days) : days;
    }

    /** {@code Z}, {@code +02} or {@code +02:00}, to the end of the text. */
    private static Optional<Long> offsetSeconds(String text, int at) {
        String offset = text.substring(at);
        if (offset.equals("Z")) {
            return Optional.of(0L);
        }
        char sign = offset.charAt(0);
        boolean isHours = offset.length() == 3;
        boolean isMinutes = offset.length() == 6 && offset.charAt(3) == ':';
        if ((sign != '+' && sign != '-') || !(isHours || isMinutes)) {
            return Optional.empty();
        }
        int hours = digits(offset, 1, 3);
        int minutes = isHours ? 0 : digits(offset, 4, 6);
        if (hours < 0 || minutes < 0 || minutes > 59 || hours * 60 + minutes > MAX_OFFSET_HOURS * 60) {
            return Optional.empty();
        }
        return Optional.of((sign == '-' ? -60L : 60L) * (hours * 60 + minutes));
    }

    /** A number of digits; −1 if they are none. */
    private static int digits(String text, int from, int to) {
        if (to > text.length()) {
            return -1;
        }
        int number = 0;
        for (int i = from; i < to; i++) {
            if (!isDigit(text.charAt(i))) {
                return -1;
            }
            number = 10 * number + text.charAt(i) - '0';
        }
        return number;
    }

    private static boolean isDigit(char character) {
        return character >= '0' && character <= '9';
    }
}
