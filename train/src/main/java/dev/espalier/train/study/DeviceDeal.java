package dev.espalier.train.study;

import dev.espalier.engine.Device;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * Deals devices out to the trials that run at once: each has the one that the fewest others have, and of several such the first. So of the first
 * trials the i-th is on device i modulo n. Where a trial is carried out is no part of what it is, and not told in what comes out of a study.
 */
public final class DeviceDeal {
    /** Leaves every trial on the device that it says itself. */
    static final DeviceDeal NONE = new DeviceDeal(List.of());

    private final List<Device> devices;
    private final int[] running;

    /**
     * A deal.
     *
     * @param devices what is dealt out, all of a kind; none, to leave trials where they are
     */
    public DeviceDeal(List<Device> devices) {
        this.devices = List.copyOf(devices);
        this.running = new int[devices.size()];
    }

    /**
     * Carries a trial out on a device that it is given for that time.
     *
     * @param trial the trial
     * @param carriedOut what carries it out, on the device that it says
     * @return how it ended
     */
    public Outcome carryOut(Trial trial, Function<Trial, Outcome> carriedOut) {
        if (devices.isEmpty()) {
            return carriedOut.apply(trial);
        }
        int place = take();
        try {
            return carriedOut.apply(trial.on(devices.get(place)));
        } finally {
            giveBack(place);
        }
    }

    private synchronized int take() {
        int place = IntStream.range(1, running.length)
                .reduce(0, (best, other) -> running[other] < running[best] ? other : best);
        running[place]++;
        return place;
    }

    private synchronized void giveBack(int place) {
        running[place]--;
    }
}
