package dev.espalier.torture;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a campaign counted: named numbers in the order in which they were first named, and what failed. Threads may share them. */
public final class Figures {
    /** So many failures are told in words; there may be millions. */
    private static final int TOLD = 400;

    private final Map<String, Double> numbers = new LinkedHashMap<>();
    private final List<String> told = new ArrayList<>();
    private long failures;

    /** No figures yet. */
    public Figures() {}

    /**
     * Adds to a number, which starts at 0.
     *
     * @param name what is counted
     * @param amount how many more
     */
    public synchronized void add(String name, double amount) {
        numbers.merge(name, amount, Double::sum);
    }

    /**
     * Makes a number at least this large.
     *
     * @param name what is measured
     * @param value one of the values
     */
    public synchronized void worst(String name, double value) {
        numbers.merge(name, value, Math::max);
    }

    /**
     * Sets a number.
     *
     * @param name what is measured
     * @param value how much it is
     */
    public synchronized void set(String name, double value) {
        numbers.put(name, value);
    }

    /**
     * Counts a failure.
     *
     * @param what what was wrong, and what replays it
     */
    public synchronized void fail(String what) {
        failures++;
        if (told.size() < TOLD) {
            told.add(what);
        }
    }

    /**
     * {@return how many failures there were}
     */
    public synchronized long failures() {
        return failures;
    }

    /**
     * {@return whether nothing failed}
     */
    public boolean sound() {
        return failures() == 0;
    }

    /**
     * {@return the first of the failures, in words}
     */
    public synchronized List<String> told() {
        return List.copyOf(told);
    }

    /**
     * {@return all numbers by name, and the failures after them}
     */
    public synchronized Map<String, Double> numbers() {
        Map<String, Double> all = new LinkedHashMap<>(numbers);
        all.put("failures", (double) failures);
        return all;
    }
}
