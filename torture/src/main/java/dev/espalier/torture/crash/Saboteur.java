package dev.espalier.torture.crash;

import dev.espalier.cli.Main;
import dev.espalier.cuda.driver.CudaException;
import dev.espalier.cuda.driver.Gpu;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Runs the program, and something else beside it: a thread that waits for a {@link Moment}, makes a file which says that it has come, and, if
 * it is to, has a kernel write where no memory is. After that the GPU does nothing more for the process.
 */
public final class Saboteur {
    private static final String KERNEL = "extern \"C\" __global__ void lose() { *(volatile int *) 8 = 1; }";

    private Saboteur() {}

    /**
     * What is to happen.
     *
     * @param moment when
     * @param millis so long after it has come
     * @param loses whether the GPU is lost; otherwise others see to what happens
     * @param sign the file that is made
     */
    record Deed(Moment moment, long millis, boolean loses, Path sign) {
        List<String> words() {
            return List.of(moment.name(), String.valueOf(millis), String.valueOf(loses), sign.toString());
        }

        static Deed of(List<String> words) {
            return new Deed(
                    Moment.valueOf(words.get(0)),
                    Long.parseLong(words.get(1)),
                    Boolean.parseBoolean(words.get(2)),
                    Path.of(words.get(3)));
        }
    }

    /** {@return a command with the saboteur in the program's place} */
    static List<String> command(List<String> command, Deed deed) {
        List<String> words = new ArrayList<>(command);
        int main = words.indexOf(Main.class.getName());
        words.set(main, Saboteur.class.getName());
        words.addAll(main + 1, deed.words());
        return words;
    }

    /**
     * Runs the program.
     *
     * @param arguments the deed, and then what the program is to do
     */
    public static void main(String[] arguments) {
        List<String> all = Arrays.asList(arguments);
        int own = 4;
        Deed deed = Deed.of(all.subList(0, own));
        Thread victim = Thread.currentThread();
        Thread.ofPlatform().daemon().name("saboteur").start(() -> {
            try {
                act(deed, victim);
            } catch (IOException | InterruptedException | CudaException failure) {
                System.err.println("the saboteur failed: " + failure);
            }
        });
        Main.main(all.subList(own, all.size()).toArray(String[]::new));
    }

    /** Has the kernel compiled and kept, for processes that have not found the compiler when they need it. */
    static void prepare() {
        try (Gpu gpu = Gpu.open(0);
                Gpu.Kernels _ = compiled(gpu)) {
            gpu.synchronize(Gpu.DEFAULT_STREAM);
        }
    }

    private static Gpu.Kernels compiled(Gpu gpu) {
        return gpu.compile("lose.cu", KERNEL, List.of());
    }

    private static void act(Deed deed, Thread victim) throws IOException, InterruptedException {
        if (!deed.loses()) {
            await(deed, victim);
            Files.createFile(deed.sign());
            return;
        }
        Gpu gpu = Gpu.open(0); // never closed: what would be given back is lost by then
        Gpu.SideStream stream = gpu.newStream();
        Gpu.Kernel kernel = compiled(gpu).kernel("lose");
        await(deed, victim);
        Files.createFile(deed.sign());
        kernel.launch(1, 1, stream.handle());
        try {
            gpu.synchronize(stream.handle());
            System.err.println("the saboteur failed: the GPU took what it was to be lost by");
        } catch (CudaException _) {
            // as it should be
        }
    }

    private static void await(Deed deed, Thread victim) throws InterruptedException {
        while (!deed.moment().isIn(victim.getStackTrace())) {
            Thread.sleep(1);
        }
        Thread.sleep(deed.millis());
    }
}
