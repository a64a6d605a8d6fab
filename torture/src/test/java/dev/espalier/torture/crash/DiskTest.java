package dev.espalier.torture.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.check.Writing;
import dev.espalier.torture.Folders;
import dev.espalier.torture.crash.Fault.Operation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The disk loses what a careless writer would lose, and keeps what a careful one forced; else the campaign would show nothing. */
final class DiskTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path around;

    @SuppressWarnings("NullAway.Init") // see below
    private Path folder;

    @BeforeEach
    void makeFolder() {
        folder = around.resolve("disk");
    }

    private interface Use {
        void on(Path folder) throws IOException;
    }

    /** Uses an empty disk whose operation of this number strikes the fault; the operations that were done. */
    private List<Operation> use(int at, Fault fault, Use use) throws IOException {
        Folders.delete(folder);
        Disk disk = new Disk(folder, at, fault, 1);
        try {
            use.on(new FaultyFileSystem(disk).of(folder));
        } catch (Disk.Death _) {
            assertTrue(disk.isDead());
        }
        return disk.operations();
    }

    /** As many do it: another file, and its new name. */
    private static void replaceCarelessly(Path folder) throws IOException {
        Writing.folder(folder);
        Writing.whole(folder.resolve("file"), "old");
        Files.writeString(folder.resolve("other"), "new");
        Files.move(folder.resolve("other"), folder.resolve("file"), StandardCopyOption.REPLACE_EXISTING);
        Files.exists(folder);
    }

    private static void replaceCarefully(Path folder) throws IOException {
        Writing.folder(folder);
        Writing.whole(folder.resolve("file"), "old");
        Writing.whole(folder.resolve("file"), "new");
        Files.exists(folder);
    }

    private int count(Use use) throws IOException {
        return use(-1, Fault.KILL, use).size();
    }

    @Test
    void whatIsNotForcedIsLostWhenThePowerIsCut() throws IOException {
        int last = count(DiskTest::replaceCarelessly) - 1;
        use(last, Fault.CONTENTS_LOST, DiskTest::replaceCarelessly);
        assertEquals("", Files.readString(folder.resolve("file")), "the new name, and nothing in it");
        use(last, Fault.RENAMES_LOST, DiskTest::replaceCarelessly);
        assertEquals("old", Files.readString(folder.resolve("file")), "the old name");
        use(last, Fault.KILL, DiskTest::replaceCarelessly);
        assertEquals("new", Files.readString(folder.resolve("file")), "an end of the process alone loses nothing");
    }

    @Test
    void whatIsForcedIsThere() throws IOException {
        int last = count(DiskTest::replaceCarefully) - 1;
        for (Fault fault : List.of(Fault.CUT, Fault.CONTENTS_LOST, Fault.RENAMES_LOST)) {
            use(last, fault, DiskTest::replaceCarefully);
            assertEquals("new", Files.readString(folder.resolve("file")), fault.words());
        }
    }

    @Test
    void thePowerMayBeCutAnywhereAndLeavesOneOrTheOther() throws IOException {
        int count = count(DiskTest::replaceCarefully);
        int settled = use(-1, Fault.KILL, DiskTest::replaceCarefully).indexOf(Operation.RENAME) + 3;
        for (int at = settled; at < count; at++) {
            for (Fault fault : List.of(Fault.KILL, Fault.CUT, Fault.CONTENTS_LOST, Fault.RENAMES_LOST)) {
                use(at, fault, DiskTest::replaceCarefully);
                String left = Files.readString(folder.resolve("file"));
                assertTrue(left.equals("old") || left.equals("new"), fault.words() + " at " + at + ": " + left);
            }
        }
    }

    @Test
    void aLieIsFoundOutLater() throws IOException {
        List<Operation> operations = use(-1, Fault.KILL, DiskTest::replaceCarefully);
        use(operations.indexOf(Operation.FORCE), Fault.LIE, DiskTest::replaceCarefully);
        assertFalse(Files.exists(folder.resolve("file"))
                && Files.readString(folder.resolve("file")).equals("new"));
    }

    @Test
    void aShortWriteIsGoneOnWithAndATornOneIsNot() throws IOException {
        Use write = folder -> {
            Writing.folder(folder);
            Writing.whole(folder.resolve("file"), "twelve bytes");
        };
        int at = use(-1, Fault.KILL, write).indexOf(Operation.WRITE);
        use(at, Fault.SHORT, write);
        assertEquals("twelve bytes", Files.readString(folder.resolve("file")));
        use(at, Fault.TORN, write);
        assertFalse(Files.exists(folder.resolve("file")));
        assertEquals(6, Files.size(folder.resolve("file.tmp")));
        assertThrows(IOException.class, () -> use(at, Fault.FULL, write));
        assertFalse(Files.exists(folder.resolve("file.tmp")), "it is tidied up");
    }
}
