package dev.espalier.cli;

import ai.djl.Device;
import picocli.CommandLine.Option;

/** {@code --device}: where a model is trained. */
final class DeviceOption {
    enum Choice {
        CPU,
        GPU
    }

    @Option(names = "--device", paramLabel = "cpu|gpu", description = "Where to train; ${DEFAULT-VALUE} if left out.")
    private Choice choice = Choice.CPU;

    Device device() {
        return switch (choice) {
            case CPU -> Device.cpu();
            case GPU ->
                throw new IllegalArgumentException(
                        "--device gpu: the optimizer's step does not run on a GPU yet; use --device cpu");
        };
    }
}
