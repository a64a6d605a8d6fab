package dev.espalier.torture.file.reader;

import dev.espalier.torch.CudaLibTorch;
import dev.espalier.torture.Folders;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** Archives of libtorch, as a user gives them to be installed. */
public final class LibTorchTarget extends SingleFile {
    /** Called by the service loader. */
    public LibTorchTarget() {
        super("zip", Structure.BYTES, "libtorch.zip");
    }

    @Override
    public List<byte[]> seeds(Path folder) throws IOException {
        String version = CudaLibTorch.wantedVersion();
        List<String> names = List.of(
                "libtorch/lib/libtorch_cpu.so",
                "libtorch/lib/libtorch_cuda.so",
                "libtorch/lib/libc10_cuda.so",
                "libtorch/build-version");
        List<byte[]> contents = List.of(
                new byte[200], new byte[20], new byte[30], (version + "+cu128\n").getBytes(StandardCharsets.UTF_8));
        return List.of(NpzTarget.zip(true, names, contents), NpzTarget.zip(false, names, contents));
    }

    @Override
    public List<String> words() {
        return List.of(
                "PK\u0001\u0002",
                "PK\u0003\u0004",
                "PK\u0005\u0006",
                "PK\u0006\u0007",
                "../",
                "/",
                "..\\",
                "../../secret.bin",
                "lib/");
    }

    @Override
    void read(Path file) throws IOException {
        Path cache = file.resolveSibling("cache");
        try {
            new CudaLibTorch(cache).install(file, (done, all) -> {}, folder -> {}, () -> false);
        } finally {
            Folders.delete(cache);
        }
    }
}
