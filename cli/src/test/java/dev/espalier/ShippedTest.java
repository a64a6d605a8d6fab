package dev.espalier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/** The libraries of others that the program comes with: NOTICE names all of them with their licences, and each is the file that it was. */
final class ShippedTest {
    private static final Path ROOT = Path.of("..");
    /** The runtime class path, which the build writes down. */
    private static final Path CLASS_PATH = Path.of("target", "shipped.txt");

    private static final Path SUMS = Path.of("dependencies.sha256");

    /** libtorch for the kind of processor that the build runs on. */
    private static final String OF_THE_PROCESSOR = "pytorch-native-cpu";

    /**
     * A library, in Maven's repository.
     *
     * @param jar its file
     * @param id {@code group:artifact}
     */
    private record Library(Path jar, String id) {}

    private static List<Library> libraries() throws IOException, SAXException, ParserConfigurationException {
        List<Library> libraries = new ArrayList<>();
        for (String entry : Files.readString(CLASS_PATH).strip().split(File.pathSeparator, -1)) {
            Path jar = Path.of(entry);
            Path pom = pomBeside(jar);
            if (!jar.startsWith(ROOT.toRealPath()) && Files.exists(pom)) {
                Element project = parse(pom);
                String group = child(project, "groupId")
                        .or(() -> child(project, "parent", "groupId"))
                        .orElseThrow();
                if (!group.equals("dev.espalier")) {
                    libraries.add(new Library(
                            jar, group + ":" + child(project, "artifactId").orElseThrow()));
                }
            }
        }
        assertTrue(libraries.size() > 20, () -> "the program comes with more than " + libraries);
        return libraries;
    }

    // --- Kinds

    /** The README promises Parquet and SQL, and the launcher has what is shipped and nothing else. */
    @Test
    void kindsOfDataThatTheReadmePromisesAreShipped() throws Exception {
        List<URL> classPath =
                new ArrayList<>(List.of(Path.of("target", "classes").toUri().toURL()));
        for (String entry : Files.readString(CLASS_PATH).strip().split(File.pathSeparator, -1)) {
            classPath.add(Path.of(entry).toUri().toURL());
        }
        try (URLClassLoader shipped =
                new URLClassLoader(classPath.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Set<String> kinds = new TreeSet<>();
            for (Object kind : ServiceLoader.load(shipped.loadClass("dev.espalier.data.DataKind"), shipped)) {
                kinds.add((String) kind.getClass().getMethod("name").invoke(kind));
            }
            assertTrue(kinds.containsAll(Set.of("csv", "images", "npy", "text", "table")), kinds::toString);
        }
    }

    private static Path pomBeside(Path jar) {
        Path version = Objects.requireNonNull(jar.getParent());
        Path artifact = Objects.requireNonNull(version.getParent());
        return version.resolve("%s-%s.pom".formatted(artifact.getFileName(), version.getFileName()));
    }

    // --- Licences

    @Test
    void noticeNamesEveryLibraryAndItsLicence() throws Exception {
        TreeMap<String, String> expected = new TreeMap<>();
        for (Library library : libraries()) {
            expected.put(library.id(), String.join(" or ", licences(pomBeside(library.jar()))));
        }
        List<String> lines = expected.entrySet().stream()
                .map(one -> "  %s: %s".formatted(one.getKey(), one.getValue()))
                .toList();
        List<String> noticed = Files.readAllLines(ROOT.resolve("NOTICE")).stream()
                .filter(line -> line.startsWith("  ") && line.contains(":"))
                .toList();
        assertEquals(String.join("\n", lines), String.join("\n", noticed), "NOTICE is old");
    }

    /** What a project's own file says, or that of one it inherits from. */
    private static List<String> licences(Path pom) throws IOException, SAXException, ParserConfigurationException {
        for (Optional<Path> next = Optional.of(pom); next.isPresent(); next = parent(next.get())) {
            NodeList found = parse(next.get()).getElementsByTagName("license");
            if (found.getLength() > 0) {
                List<String> names = new ArrayList<>();
                for (int i = 0; i < found.getLength(); i++) {
                    names.add(child((Element) found.item(i), "name").orElseThrow());
                }
                return names;
            }
        }
        throw new AssertionError(pom + " and what it inherits from name no licence");
    }

    private static Optional<Path> parent(Path pom) throws IOException, SAXException, ParserConfigurationException {
        Element project = parse(pom);
        Optional<String> group = child(project, "parent", "groupId");
        if (group.isEmpty()) {
            return Optional.empty();
        }
        String artifact = child(project, "parent", "artifactId").orElseThrow();
        String version = child(project, "parent", "version").orElseThrow();
        Path repository = pom.toAbsolutePath();
        String own = child(project, "groupId").orElse(group.get());
        // Version, artifact, and a folder for each part of the group.
        int depth = own.split("\\.", -1).length + 3;
        for (int i = 0; i < depth; i++) {
            repository = Objects.requireNonNull(repository.getParent());
        }
        return Optional.of(repository
                .resolve(group.get().replace('.', '/'))
                .resolve(artifact)
                .resolve(version)
                .resolve(artifact + "-" + version + ".pom"));
    }

    private static Element parse(Path pom) throws IOException, SAXException, ParserConfigurationException {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newDefaultInstance();
        factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
        factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
        try (InputStream in = Files.newInputStream(pom)) {
            return factory.newDocumentBuilder().parse(in).getDocumentElement();
        }
    }

    /** The text of an element that is a child of a child; not of one that is deeper. */
    private static Optional<String> child(Element element, String... names) {
        Node node = element;
        for (String name : names) {
            Optional<Node> found = Optional.empty();
            for (Node next = node.getFirstChild(); next != null; next = next.getNextSibling()) {
                if (next.getNodeName().equals(name)) {
                    found = Optional.of(next);
                    break;
                }
            }
            if (found.isEmpty()) {
                return Optional.empty();
            }
            node = found.get();
        }
        return Optional.of(node.getTextContent().strip().replaceAll("\\s+", " "));
    }

    // --- Checksums

    /** A repository that serves another file under the same version is noticed, and so is a version that was changed in passing. */
    @Test
    void everyLibraryIsTheFileThatItWas() throws Exception {
        List<String> known = Files.readAllLines(SUMS);
        List<String> found = new ArrayList<>();
        for (Library library : libraries()) {
            found.add(sum(library.jar()) + "  " + library.jar().getFileName());
        }
        List<String> expected = Stream.concat(
                        found.stream(), known.stream().filter(line -> line.contains(OF_THE_PROCESSOR)))
                .distinct()
                .sorted((one, other) -> name(one).compareTo(name(other)))
                .toList();
        assertEquals(
                String.join("\n", expected),
                String.join("\n", known),
                SUMS + " is old, or a library is not what it was");
    }

    private static String name(String line) {
        return line.substring(line.indexOf(' ')).strip();
    }

    private static String sum(Path file) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        byte[] chunk = new byte[1 << 16];
        try (InputStream content = Files.newInputStream(file)) {
            for (int read = content.read(chunk); read >= 0; read = content.read(chunk)) {
                digest.update(chunk, 0, read);
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }
}
