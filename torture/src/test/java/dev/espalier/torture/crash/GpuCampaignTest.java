package dev.espalier.torture.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.espalier.cli.ThisProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What of the campaign takes no GPU. */
@Timeout(300)
final class GpuCampaignTest {
    private static final String TOLD =
            "espalier: the GPU was lost (CUDA error: unspecified launch failure): nothing more can be computed on it";

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private static String judge(int status, String... said) {
        return GpuCampaign.judge(status, List.of(said)).orElse("nothing").replaceFirst(" \\(status.*", "");
    }

    @Test
    void onlyOurWordsWillDo() {
        assertEquals("nothing", judge(0, "epoch 1"));
        assertEquals("nothing", judge(1, "epoch 1", TOLD));
        assertEquals("it does not say what happened to the GPU", judge(1, "epoch 1"));
        assertEquals(
                "it does not say what happened to the GPU, it calls that unexpected",
                judge(1, "espalier: unexpected failure: ai.djl.engine.EngineException: CUDA out of memory."));
        assertEquals("it shows a stack", judge(1, TOLD, "\tat dev.espalier.cli.Main.main(Main.java:1)"));
        assertEquals("a library ended the process", judge(134, TOLD, "terminate called after throwing 'c10::Error'"));
        assertEquals(Optional.empty(), GpuCampaign.judge(1, List.of(TOLD)));
    }

    /** A method that was renamed would never be met. */
    @Test
    void everyMomentIsAMethodOfTheProgram() {
        for (Moment moment : Moment.values()) {
            if (moment != Moment.START) {
                JavaClass type = new ClassFileImporter()
                        .importPackages(moment.type().substring(0, moment.type().lastIndexOf('.')))
                        .get(moment.type());
                assertTrue(
                        type.getCodeUnits().stream().map(JavaCodeUnit::getName).anyMatch(moment.method()::equals),
                        moment + " is none of "
                                + type.getCodeUnits().stream()
                                        .map(JavaCodeUnit::getName)
                                        .collect(Collectors.joining(", ")));
            }
        }
    }

    /** On the processor, where nothing is lost by it. */
    @Test
    void aMomentIsMetAndTheProgramGoesOn() throws IOException, InterruptedException {
        Victim.prepare(folder);
        Victim numbers = Victim.all().get(1).with("--device", "cpu");
        Saboteur.Deed deed = new Saboteur.Deed(Moment.EVALUATION, 0, false, folder.resolve("now"));
        Process process = new ProcessBuilder(
                        Saboteur.command(ThisProgram.command(KillCampaign.QUICK, numbers.begin()), deed))
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("said.txt").toFile())
                .start();
        assertEquals(0, process.waitFor(), () -> said());
        assertTrue(Files.exists(deed.sign()), () -> said());
        assertTrue(Files.exists(folder.resolve("run").resolve("result.json")));
    }

    private String said() {
        try {
            return KillCampaign.said(folder);
        } catch (IOException problem) {
            return problem.toString();
        }
    }
}
