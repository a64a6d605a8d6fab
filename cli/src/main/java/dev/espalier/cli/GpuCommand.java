package dev.espalier.cli;

import dev.espalier.cuda.CudaSteps;
import dev.espalier.cuda.driver.CudaException;
import dev.espalier.cuda.driver.Gpu;
import dev.espalier.cuda.driver.Nvrtc;
import dev.espalier.engine.Device;
import dev.espalier.torch.CudaLibTorch;
import dev.espalier.torch.Gpus;
import dev.espalier.torch.LibTorchFolder;
import dev.espalier.torch.Torch;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code espalier gpu}: what training on a GPU takes, what of that is there, and how to get the rest. */
@Command(
        name = GpuCommand.NAME,
        description = {
            "Check whether this machine can train on a GPU, or set it up.",
            "--install fetches the one part that nothing else installs: libtorch for CUDA.",
        })
final class GpuCommand implements Callable<Integer> {
    static final String NAME = "gpu";

    private static final String MAVEN = "maven";
    private static final String FETCH = "--fetch-libtorch";
    private static final String TRY = "--try-libtorch";

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Option(
            names = "--install",
            arity = "0..1",
            paramLabel = "FROM",
            fallbackValue = "",
            description =
                    "Install libtorch for CUDA for this user, so that --device gpu works from then on. FROM is one that is there: a folder, such as"
                            + " that of a Python installation, .../site-packages/torch, which stays where it is; or an archive, a zip or a wheel,"
                            + " which is unpacked; or 'maven', to have Maven fetch one that others have built. By default, DJL fetches its own, and"
                            + " Maven that of the others where DJL's server cannot be reached.")
    private @Nullable Path from;

    @Option(names = FETCH, hidden = true, description = "Have DJL fetch libtorch; for --install, which starts this.")
    private boolean fetching;

    @Option(names = TRY, hidden = true, description = "Load libtorch, and say whether it finds a GPU; for --install.")
    private boolean trying;

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        if (fetching) {
            return fetchHere(out);
        }
        if (trying) {
            return tryHere(out);
        }
        if (from != null && !install(from, new StatusLine(spec.commandLine().getErr()))) {
            spec.commandLine().getErr().println("stopped; nothing was changed");
            return ExitStatus.INTERRUPTED;
        }
        report(out);
        out.flush();
        return 0;
    }

    /** What DJL says at last is what went wrong, if something did. */
    private static int fetchHere(PrintWriter out) {
        return tell(CudaLibTorch.fetchByDjl(), out);
    }

    private static int tryHere(PrintWriter out) {
        return tell(
                switch (Torch.gpus()) {
                    case Gpus.Found(int _) -> Optional.empty();
                    case Gpus.None(String reason) -> Optional.of(reason);
                },
                out);
    }

    private static int tell(Optional<String> problem, PrintWriter out) {
        problem.ifPresent(out::println);
        out.flush();
        return problem.isEmpty() ? 0 : ExitCode.SOFTWARE;
    }

    /** False if it was stopped. */
    private static boolean install(Path from, StatusLine status) throws IOException {
        Optional<String> never = CudaLibTorch.whyNever();
        if (never.isPresent()) {
            throw new IllegalArgumentException("--install is of no use here: " + never.get());
        }
        CudaLibTorch place = CudaLibTorch.ofUser();
        try (Interruption interruption = new Interruption()) {
            Optional<LibTorchFolder> installed = switch (from.toString()) {
                case "" -> fetch(place, status, interruption);
                case MAVEN -> fetchByMaven(place, status, interruption);
                default -> take(place, from, status, interruption);
            };
            status.clear();
            installed.ifPresent(libtorch -> status.say(
                    "installed: libtorch %s in %s".formatted(libtorch.version().orElse("?"), libtorch.path())));
            return installed.isPresent();
        }
    }

    private static Optional<LibTorchFolder> take(CudaLibTorch place, Path from, StatusLine status, BooleanSupplier stop)
            throws IOException {
        if (!Files.exists(from)) {
            throw new NoSuchFileException(from.toString());
        }
        boolean[] told = {false};
        return place.install(
                from,
                (bytes, of) -> {
                    if (!told[0]) {
                        told[0] = true;
                        status.say("unpacking %s into %s".formatted(size(of), place.cache()));
                    }
                    status.show("%d %% of %s".formatted(100 * bytes / Math.max(1, of), size(of)));
                },
                libtorch -> tryOut(libtorch, status),
                stop);
    }

    private static Optional<LibTorchFolder> fetch(CudaLibTorch place, StatusLine status, BooleanSupplier stop)
            throws IOException {
        status.say("DJL fetches libtorch %s for CUDA, several GB, how many it does not say before; %s has room for %s"
                .formatted(CudaLibTorch.wantedVersion(), place.cache(), size(place.space())));
        boolean[] fetched = {false};
        try {
            return place.fetch(
                    ThisProgram.command(List.of("-Dai.djl.offline=false"), List.of(NAME, FETCH)),
                    (bytes, _) -> status.show(size(bytes) + " fetched and unpacked"),
                    libtorch -> {
                        fetched[0] = true;
                        tryOut(libtorch, status);
                    },
                    stop);
        } catch (IOException problem) {
            if (fetched[0]) {
                throw problem;
            }
            status.say(String.valueOf(problem.getMessage()));
            return fetchByMaven(place, status, stop);
        }
    }

    private static Optional<LibTorchFolder> fetchByMaven(CudaLibTorch place, StatusLine status, BooleanSupplier stop)
            throws IOException {
        status.say(
                "Maven fetches libtorch %s for CUDA and CUDA's libraries, as JavaCPP's presets have them: %s, which become %s; %s has room for %s. CUDA's come under NVIDIA's terms"
                        .formatted(
                                CudaLibTorch.wantedVersion(),
                                size(CudaLibTorch.fetchedByMaven()),
                                size(CudaLibTorch.unpackedByMaven()),
                                place.cache(),
                                size(place.space())));
        try {
            return place.fetchByMaven(
                    List.of(Optional.ofNullable(System.getenv("ESPALIER_MAVEN")).orElse("mvn")),
                    (bytes, of) -> status.show(
                            "%d %% of %s fetched and unpacked".formatted(100 * bytes / Math.max(1, of), size(of))),
                    libtorch -> tryOut(libtorch, status),
                    stop);
        } catch (IOException problem) {
            throw new IOException(
                    "%s; nothing was changed. If there is no other way from here, get PyTorch %s for CUDA by other means, and name it: espalier gpu --install FROM"
                            .formatted(problem.getMessage(), CudaLibTorch.wantedVersion()),
                    problem);
        }
    }

    /** In another process: what it loads cannot be let go of again. */
    private static void tryOut(LibTorchFolder libtorch, StatusLine status) throws IOException {
        if (CudaSteps.whyNoGpu().isPresent()) {
            status.say("not tried out, as there is no GPU that the driver knows");
            return;
        }
        status.show("trying it out");
        List<String> options = CudaLibTorch.properties(libtorch).entrySet().stream()
                .map(entry -> "-D" + entry.getKey() + "=" + entry.getValue())
                .sorted()
                .toList();
        ProcessBuilder builder =
                new ProcessBuilder(ThisProgram.command(options, List.of(NAME, TRY))).redirectErrorStream(true);
        builder.environment()
                .keySet()
                .removeAll(CudaLibTorch.properties(libtorch).keySet());
        Process process = builder.start();
        List<String> said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .toList();
        if (process.onExit().join().exitValue() != 0) {
            throw new IOException(
                    "libtorch %s does not work here, and is not installed: %s. It needs CUDA's libraries (cuBLAS, cuDNN and others): beside it, as in PyTorch's zip for CUDA, beside the Python package, or where the system's loader looks"
                            .formatted(
                                    libtorch.version().orElse("?"),
                                    said.isEmpty() ? "it says nothing" : said.getLast()));
        }
    }

    private static void report(PrintWriter out) {
        List<List<String>> rows = new ArrayList<>();
        List<String> missing = new ArrayList<>();
        findGpus(rows, missing);
        // Before the compiler, which may lie beside it.
        LibTorchFolder libtorch = CudaLibTorch.choose();
        findCompiler(rows, missing);
        rows.add(List.of("libtorch", describe(libtorch)));
        if (!libtorch.cuda()) {
            missing.add(CudaLibTorch.whyNever().orElseGet(GpuCommand::withoutCuda));
        }
        List<Device> gpus = missing.isEmpty() ? Device.gpus() : List.of();
        if (missing.isEmpty() && gpus.isEmpty()) {
            missing.add(Device.gpu(0).whyNotTrained().orElse("GPU 0 works, and no other does"));
        }
        Columns.printWords(rows, out);
        out.println();
        if (missing.isEmpty()) {
            out.println(
                    gpus.size() == 1
                            ? "training runs on a GPU: --device gpu, or no --device at all"
                            : "training runs on %d GPUs: --device gpu, or no --device at all; trainings of a study are dealt out to them"
                                    .formatted(gpus.size()));
        } else {
            out.println("training runs on the CPU. For a GPU there is missing:");
            missing.forEach(one -> out.println("- " + one));
        }
    }

    private static void findGpus(List<List<String>> rows, List<String> missing) {
        try {
            rows.add(List.of("driver", Gpu.driver()));
            List<Gpu.Card> cards = Gpu.cards();
            for (Gpu.Card card : cards) {
                rows.add(List.of(
                        Device.gpu(card.index()).toString(),
                        String.format(
                                Locale.ROOT,
                                "%s, %s, compute capability %.1f%s",
                                card.name(),
                                size(card.memory()),
                                card.capability() / 10.0,
                                card.whyNot(CudaSteps.LEAST_CAPABILITY).isEmpty() ? "" : ": too old")));
            }
            CudaSteps.whyNoGpu().ifPresent(missing::add);
            if (!cards.isEmpty()
                    && cards.stream()
                            .allMatch(card ->
                                    card.whyNot(CudaSteps.LEAST_CAPABILITY).isPresent())) {
                missing.add("a newer GPU: "
                        + cards.getFirst().whyNot(CudaSteps.LEAST_CAPABILITY).orElseThrow());
            }
        } catch (CudaException none) {
            rows.add(List.of("driver", "none"));
            rows.add(List.of("GPU", "none that is known without a driver"));
            missing.add(String.valueOf(none.getMessage()));
        }
    }

    private static void findCompiler(List<List<String>> rows, List<String> missing) {
        try {
            Nvrtc compiler = new Nvrtc();
            rows.add(List.of("NVRTC", compiler.version() + ", " + compiler.file()));
        } catch (CudaException none) {
            rows.add(List.of("NVRTC", "none that can be used"));
            missing.add(String.valueOf(none.getMessage()));
        }
    }

    private static String describe(LibTorchFolder libtorch) {
        return "%s, for %s, %s"
                .formatted(
                        libtorch.version().orElse("unknown version"),
                        libtorch.cuda() ? "CUDA" : "the CPU",
                        libtorch.path());
    }

    private static String withoutCuda() {
        CudaLibTorch place = CudaLibTorch.ofUser();
        String gone = place.pointer().isPresent() && place.found().isEmpty()
                ? " (the one that was installed, in " + place.pointer().get() + ", is no longer there)"
                : "";
        return ("libtorch for CUDA%s: 'espalier gpu --install' has DJL or Maven fetch it, 'espalier gpu --install FROM' takes one of PyTorch %s that is"
                        + " there")
                .formatted(gone, CudaLibTorch.wantedVersion());
    }

    private static String size(long bytes) {
        return bytes < 1L << 30
                ? String.format(Locale.ROOT, "%.0f MB", bytes / 0x1p20)
                : String.format(Locale.ROOT, "%.1f GB", bytes / 0x1p30);
    }
}
