package dev.espalier.cli;

import dev.espalier.engine.Device;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code --device}: where a model is trained. */
final class DeviceOption {
    @Option(
            names = "--device",
            paramLabel = "cpu|gpu|gpu:N",
            converter = Reader.class,
            description = "Where to train: the CPU, the first GPU, or GPU N, from 0; ${DEFAULT-VALUE} if left out.")
    private Device device = Device.CPU;

    /** Reads a device. */
    static final class Reader implements ITypeConverter<Device> {
        @Override
        public Device convert(String value) {
            try {
                return Device.parse(value.toLowerCase(Locale.ROOT));
            } catch (IllegalArgumentException problem) {
                throw new TypeConversionException(problem.getMessage());
            }
        }
    }

    @Override
    public String toString() {
        return device.toString();
    }

    Device device() {
        try {
            return device.require();
        } catch (IllegalArgumentException problem) {
            throw new IllegalArgumentException(
                    "--device " + device + " is not possible: " + problem.getMessage() + "; use --device cpu", problem);
        }
    }
}
