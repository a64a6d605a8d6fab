package dev.espalier.cli;

import ai.djl.Device;
import dev.espalier.training.Devices;
import java.util.Locale;
import picocli.CommandLine.Option;

/** {@code --device}: where a model is trained. */
final class DeviceOption {
    enum Choice {
        CPU,
        GPU
    }

    @Option(names = "--device", paramLabel = "cpu|gpu", description = "Where to train; ${DEFAULT-VALUE} if left out.")
    private Choice choice = Choice.CPU;

    @Override
    public String toString() {
        return choice.name().toLowerCase(Locale.ROOT);
    }

    Device device() {
        return switch (choice) {
            case CPU -> Device.cpu();
            case GPU -> gpu();
        };
    }

    private static Device gpu() {
        try {
            return Devices.gpu();
        } catch (IllegalArgumentException problem) {
            throw new IllegalArgumentException(
                    "--device gpu is not possible: " + problem.getMessage() + "; use --device cpu", problem);
        }
    }
}
