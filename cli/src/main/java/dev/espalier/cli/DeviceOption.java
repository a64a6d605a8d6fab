package dev.espalier.cli;

import dev.espalier.cuda.CudaSteps;
import dev.espalier.engine.Device;
import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code --device}: where a model is trained. */
final class DeviceOption {
    private static final String AUTO = "auto";
    private static final String ANY_GPU = "gpu";

    /** How deep below a study's folder runs are: of a seed, of a point, of a table. */
    private static final int DEPTH = 5;

    @Option(
            names = "--device",
            paramLabel = "auto|cpu|gpu|gpu:N",
            converter = Reader.class,
            description =
                    "Where to train: the CPU, the first GPU (several trainings: all GPUs), or GPU N, from 0 (default: ${DEFAULT-VALUE}). auto resumes a"
                            + " run on its kind of device; otherwise it takes a GPU if this machine is ready for it (see 'espalier gpu'), or the CPU.")
    private String device = AUTO;

    private @Nullable Device chosen;

    /** Reads a device. */
    static final class Reader implements ITypeConverter<String> {
        @Override
        public String convert(String value) {
            String text = value.toLowerCase(Locale.ROOT);
            try {
                if (!text.equals(AUTO)) {
                    Device.parse(text);
                }
                // As text: gpu may be any of them, and gpu:0 is the first.
                return text;
            } catch (IllegalArgumentException problem) {
                throw new TypeConversionException(problem.getMessage() + "; or auto");
            }
        }
    }

    /**
     * Where one training is carried out.
     *
     * @param folder its folder, or one above; if something was begun there, that decides
     * @param told told what a user may want to know
     */
    Device device(Path folder, Consumer<String> told) throws IOException {
        Device known = chosen;
        if (known == null) {
            known = device.equals(AUTO) ? automatic(folder, told) : required(Device.parse(device));
            chosen = known;
        }
        return known;
    }

    /**
     * Where several trainings are carried out: on all of these.
     *
     * @param folder the folder above theirs
     * @param told told what a user may want to know
     */
    List<Device> devices(Path folder, Consumer<String> told) throws IOException {
        Device one = device(folder, told);
        if (!one.isGpu() || !(device.equals(AUTO) || device.equals(ANY_GPU))) {
            return List.of(one);
        }
        List<Device> all = Device.gpus();
        return all.isEmpty() ? List.of(one) : all;
    }

    /** Where trainings are carried out on other machines: what those have is not known here. */
    Device elsewhere() {
        return device.equals(AUTO) ? Device.CPU : Device.parse(device);
    }

    private Device required(Device wanted) {
        wanted.whyNotTrained().ifPresent(reason -> {
            throw new IllegalArgumentException(
                    "--device " + device + " is not possible: " + reason + "; use --device cpu, or see 'espalier gpu'");
        });
        return wanted;
    }

    /** Another device computes other last digits: what was begun on one is not to change it without a word. */
    private static Device automatic(Path folder, Consumer<String> told) throws IOException {
        Optional<Device> before = begunOn(folder);
        if (before.isPresent()) {
            before.get().whyNotTrained().ifPresent(reason -> {
                throw new IllegalArgumentException(
                        "%s was begun with --device %s, which is not possible here: %s; with --device cpu it goes on, and ends with other last digits"
                                .formatted(folder, before.get(), reason));
            });
            return before.get();
        }
        Optional<String> reason = Device.gpu(0).whyNotTrained();
        if (reason.isEmpty()) {
            told.accept("training on a GPU, as there is one; --device cpu for the CPU");
            return Device.gpu(0);
        }
        if (CudaSteps.gpus() > 0) {
            told.accept(
                    "training on the CPU, although there is a GPU: " + reason.get() + " ('espalier gpu' tells more)");
        }
        return Device.CPU;
    }

    /** Where the first run was begun that there is in a folder. */
    private static Optional<Device> begunOn(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return Optional.empty();
        }
        Path name = new RunFolder(folder).provenanceFile().getFileName();
        try (Stream<Path> files =
                Files.find(folder, DEPTH, (file, _) -> file.getFileName().equals(name))) {
            Optional<Path> run = files.map(Path::getParent).findFirst();
            return run.isEmpty()
                    ? Optional.empty()
                    : Optional.of(
                            Device.parse(new RunFolder(run.get()).provenance().device()));
        }
    }
}
