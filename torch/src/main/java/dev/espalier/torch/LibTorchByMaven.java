package dev.espalier.torch;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import java.util.regex.Pattern;

/**
 * A libtorch for CUDA, and what it needs of CUDA, in JARs that Maven fetches. They are those of JavaCPP's presets, which Maven Central
 * has; only the libraries are taken. It has not all of CUDA 12.9, so cuBLAS, cuSOLVER, cuSPARSE and cuDNN are of CUDA 12.6.
 *
 * @param version its version, {@code 2.7.1+cu129}
 * @param jars what to fetch
 */
record LibTorchByMaven(String version, List<Jar> jars) {
    /** Asked for one file, it reads Maven's settings: mirrors, proxies, passwords. */
    private static final String GET = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get";

    private static final String REPOSITORY = "repository";
    private static final int BUFFER = 1 << 20;

    /** For Linux on x86_64; for others DJL has nothing to call it with. */
    static final LibTorchByMaven LINUX = new LibTorchByMaven(
            "2.7.1+cu129",
            List.of(
                    new Jar(
                            "org.bytedeco:pytorch:2.7.1-1.5.12:jar:linux-x86_64-gpu",
                            615_519_857,
                            1_138_007_064,
                            "ae03b1a186d512e46c89b5de7f7b3ff6dc7fcaee5efb042491655d9f38437293",
                            "org/bytedeco/pytorch/linux-x86_64-gpu/",
                            "lib(c10|c10_cuda|torch|torch_cpu|torch_cuda|torch_cuda_linalg)\\.so|libgomp\\.so\\.1"),
                    new Jar(
                            "org.bytedeco:openblas:0.3.30-1.5.12:jar:linux-x86_64",
                            19_709_636,
                            40_753_208,
                            "d7a602fc3d3254fb51b7f75595f4cce0c0ef0799d8874c6efd3d8b45e4c4083a",
                            "org/bytedeco/openblas/linux-x86_64/",
                            "lib(openblas|gfortran|quadmath)\\.so\\.\\d"),
                    new Jar(
                            "org.bytedeco:cuda-redist:12.9-9.10-1.5.12:jar:linux-x86_64",
                            362_212_464,
                            677_451_456,
                            "1a6ec3603adc1a0e383d6a7286f5dec69ae929a16ec3548db29ea3a0d2358eca",
                            "org/bytedeco/cuda/linux-x86_64/",
                            "lib(cudart|cufft|cufile|cupti|curand|nvJitLink|nvrtc|nvrtc-builtins)\\.so\\.[\\d.]+"),
                    new Jar(
                            "org.bytedeco:cuda:12.6-9.5-1.5.11:jar:linux-x86_64-redist",
                            2_026_748_503,
                            1_912_168_072,
                            "b9130f92e121c5ae39d93083b2db5305af3b53bab1ef232463e281593ebb74d0",
                            "org/bytedeco/cuda/linux-x86_64/",
                            "lib(cublas|cublasLt|cusolver|cusparse|cudnn(_\\w+)?)\\.so\\.\\d+")));

    /** Takes a copy. */
    LibTorchByMaven {
        jars = List.copyOf(jars);
    }

    /**
     * What to fetch, and what to take of it.
     *
     * @param coordinates {@code group:artifact:version:jar:classifier}
     * @param bytes how large it is
     * @param unpacked how large that is what is taken
     * @param sha256 its checksum, as hexadecimal digits
     * @param root the folder in it that has the libraries, with a slash behind it
     * @param libraries the names of those that are taken, as a regular expression
     */
    record Jar(String coordinates, long bytes, long unpacked, String sha256, String root, String libraries) {
        /** The folder that Maven keeps it in. */
        private Path folder(Path repository) {
            String[] words = words();
            return repository
                    .resolve(words[0].replace('.', '/'))
                    .resolve(words[1])
                    .resolve(words[2]);
        }

        /** What Maven calls it there. */
        private String file() {
            String[] words = words();
            return "%s-%s-%s.jar".formatted(words[1], words[2], words[4]);
        }

        private String[] words() {
            return coordinates.split(":", -1);
        }
    }

    /** How many bytes are fetched. */
    long fetched() {
        return jars.stream().mapToLong(Jar::bytes).sum();
    }

    /** How many bytes there will be. */
    long unpacked() {
        return jars.stream().mapToLong(Jar::unpacked).sum();
    }

    /** For how many bytes there must be room: JARs are deleted one after the other. */
    long space() {
        return unpacked() + jars.stream().mapToLong(Jar::bytes).max().orElse(0);
    }

    /**
     * Fetches all into {@code lib} below a folder, and tells the version beside.
     *
     * @param folder an empty folder
     * @param maven what starts Maven
     * @param progress told how far it is, of what is fetched and unpacked together
     * @param stop asked now and then: true to leave
     * @return false if it was left
     */
    boolean fetch(Path folder, List<String> maven, Progress progress, BooleanSupplier stop) throws IOException {
        Path repository = folder.resolve(REPOSITORY);
        long all = fetched() + unpacked();
        long done = 0;
        for (Jar jar : jars) {
            long before = done;
            LongConsumer so = bytes -> progress.at(Math.min(before + bytes, all), all);
            Path place = jar.folder(repository);
            if (!get(jar, folder, maven, () -> so.accept(CudaLibTorch.size(place)), stop)) {
                return false;
            }
            Path file = place.resolve(jar.file());
            requireWhole(jar, file);
            try (LibTorchArchive archive = LibTorchArchive.open(file, jar.root(), Pattern.compile(jar.libraries()))) {
                if (!archive.unpack(folder, (bytes, _) -> so.accept(jar.bytes() + bytes), stop)) {
                    return false;
                }
            }
            Files.delete(file);
            done += jar.bytes() + jar.unpacked();
        }
        CudaLibTorch.delete(repository);
        Files.writeString(folder.resolve(LibTorchFolder.VERSION_FILE), version + "\n");
        return true;
    }

    private static boolean get(Jar jar, Path folder, List<String> maven, Runnable tick, BooleanSupplier stop)
            throws IOException {
        List<String> command = new ArrayList<>(maven);
        command.addAll(List.of(
                "-B",
                "-ntp",
                "-q",
                "-Dmaven.repo.local=" + folder.resolve(REPOSITORY).toAbsolutePath(),
                GET,
                "-Dtransitive=false",
                "-Dartifact=" + jar.coordinates()));
        Path said = folder.resolve("said.txt");
        Process process;
        try {
            process = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(said.toFile())
                    .start();
        } catch (IOException problem) {
            throw new IOException(
                    "Maven cannot be started (%s): install it, or name its command in ESPALIER_MAVEN"
                            .formatted(problem.getMessage()),
                    problem);
        }
        if (!CudaLibTorch.await(process, tick, stop)) {
            return false;
        }
        if (process.exitValue() != 0) {
            throw new IOException("Maven could not fetch %s: %s".formatted(jar.coordinates(), firstError(said)));
        }
        Files.delete(said);
        return true;
    }

    private static String firstError(Path said) throws IOException {
        List<String> lines = Files.readAllLines(said, StandardCharsets.UTF_8);
        return lines.stream()
                .filter(line -> line.startsWith("[ERROR]"))
                .findFirst()
                .or(() -> lines.stream().findFirst())
                .orElse("it said nothing");
    }

    private static void requireWhole(Jar jar, Path file) throws IOException {
        String sum = sha256(file);
        if (!sum.equals(jar.sha256())) {
            throw new IOException(
                    "what Maven has fetched as %s is another file, or damaged: its SHA-256 is %s, and should be %s"
                            .formatted(jar.coordinates(), sum, jar.sha256()));
        }
    }

    static String sha256(Path file) throws IOException {
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible); // every JDK has it
        }
        try (InputStream in = Files.newInputStream(file)) {
            byte[] buffer = new byte[BUFFER];
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                digest.update(buffer, 0, read);
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }
}
