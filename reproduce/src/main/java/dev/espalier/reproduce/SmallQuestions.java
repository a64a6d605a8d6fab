package dev.espalier.reproduce;

import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.HuggingFace;
import dev.espalier.graph.model.Initialization;
import dev.espalier.graph.model.Weights;
import dev.espalier.squad.Answer;
import dev.espalier.squad.Paragraph;
import dev.espalier.squad.Question;
import dev.espalier.squad.Squad;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SequencedSet;
import java.util.TreeSet;

/**
 * SQuAD and BERT in miniature, made on the spot: short texts on buildings with questions on them, in SQuAD's own format, and a
 * checkpoint of a tiny BERT with random weights. Whatever reads the real ones reads these.
 *
 * <p>A text tells who built something, when, of what and where, in any order; the question word says which of the four is
 * asked for. That can be learned in seconds, but not without attention to both the question and the text.
 */
final class SmallQuestions {
    private static final List<String> BUILDINGS =
            List.of("tower", "bridge", "castle", "church", "mill", "library", "harbour", "palace");
    private static final List<String> PEOPLE =
            List.of("king", "queen", "painter", "monk", "merchant", "bishop", "captain", "duke", "mason", "poet");
    private static final List<String> YEARS =
            List.of("1204", "1287", "1310", "1365", "1422", "1498", "1533", "1576", "1611", "1689");
    private static final List<String> MATERIALS =
            List.of("stone", "wood", "brick", "iron", "marble", "clay", "glass", "slate");
    private static final List<String> PLACES =
            List.of("river", "sea", "forest", "market", "road", "lake", "hill", "gate");

    private static final int TRAINING_TEXTS = 150;
    private static final int TEST_TEXTS = 50;
    private static final String VOCABULARY = "vocab.txt";
    private static final List<String> SPECIAL = List.of("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]");
    private static final int HIDDEN = 48;
    private static final int POSITIONS = 64;

    private final Random random;
    private final String name;

    private SmallQuestions(String name, long seed) {
        this.name = name;
        this.random = new Random(seed);
    }

    /** A sentence, and a question that it answers. */
    private record Fact(String sentence, String question, String answer) {}

    /**
     * Writes all of it, unless it is there already.
     *
     * @param folder where
     * @return what a recipe reads it with, as on the command line
     * @throws IOException if it cannot be written
     */
    static List<String> prepare(Path folder) throws IOException {
        Path data = folder.resolve("squad");
        Path checkpoint = folder.resolve("bert-tiny");
        Path last = checkpoint.resolve(VOCABULARY);
        if (Files.notExists(last)) {
            Squad train = squad("train", TRAINING_TEXTS, 1);
            Squad test = squad("dev", TEST_TEXTS, 2);
            Files.createDirectories(data);
            train.write(data.resolve("train-v1.1.json"));
            test.write(data.resolve("dev-v1.1.json"));
            writeCheckpoint(checkpoint, List.of(train, test));
        }
        return List.of("data.dir=" + data, "model.checkpoint=" + checkpoint);
    }

    /**
     * Makes texts, each with a question for every of its four facts.
     *
     * @param name what ids of questions begin with
     * @param texts how many texts
     * @param seed what they depend on
     * @return texts and questions
     */
    static Squad squad(String name, int texts, long seed) {
        SmallQuestions maker = new SmallQuestions(name, seed);
        List<Paragraph> paragraphs = new ArrayList<>();
        for (int i = 0; i < texts; i++) {
            paragraphs.add(maker.paragraph(i));
        }
        return new Squad(paragraphs);
    }

    private Paragraph paragraph(int number) {
        String building = any(BUILDINGS);
        List<Fact> facts = new ArrayList<>(facts(building));
        Collections.shuffle(facts, random);
        String context = String.join(" ", facts.stream().map(Fact::sentence).toList());
        List<Question> questions = new ArrayList<>();
        for (Fact fact : facts) {
            questions.add(new Question(
                    name + "-" + number + "-" + questions.size(),
                    fact.question(),
                    List.of(new Answer(fact.answer(), context.indexOf(fact.answer())))));
        }
        return new Paragraph(building, context, questions);
    }

    private List<Fact> facts(String building) {
        String builder = "the " + any(PEOPLE);
        String year = any(YEARS);
        String material = any(MATERIALS);
        String place = "near the " + any(PLACES);
        return List.of(
                new Fact("it was built by %s.".formatted(builder), "who built the %s?".formatted(building), builder),
                new Fact("work on it began in %s.".formatted(year), "when was the %s built?".formatted(building), year),
                new Fact(
                        "the walls are of %s.".formatted(material),
                        "what is the %s made of?".formatted(building),
                        material),
                new Fact(
                        "the %s stands %s.".formatted(building, place), "where is the %s?".formatted(building), place));
    }

    private String any(List<String> words) {
        return words.get(random.nextInt(words.size()));
    }

    /**
     * Writes a checkpoint of a tiny BERT that knows the words of some texts, with random weights.
     *
     * @param folder where; made if it does not exist
     * @param parts the texts
     * @throws IOException if it cannot be written
     */
    private static void writeCheckpoint(Path folder, List<Squad> parts) throws IOException {
        List<String> vocabulary = vocabulary(parts);
        BertConfig config = new BertConfig(
                vocabulary.size(),
                HIDDEN,
                2,
                4,
                2 * HIDDEN,
                POSITIONS,
                2,
                BertConfig.BASE.epsilon(),
                0,
                0,
                BertConfig.BASE.activation());
        HuggingFace.save(folder, Bert.questionAnswering(config, wider(Weights.seeded(0))), config);
        Files.write(folder.resolve(VOCABULARY), vocabulary);
    }

    /** What keeps the size of a signal in BERT-base's width would let it vanish in this one. */
    private static Weights wider(Weights weights) {
        double factor = Math.sqrt((double) BertConfig.BASE.hidden() / HIDDEN);
        return (name, initialization, shape) -> weights.tensor(
                name,
                initialization instanceof Initialization.Normal(double deviation)
                        ? new Initialization.Normal(factor * deviation)
                        : initialization,
                shape);
    }

    private static List<String> vocabulary(List<Squad> parts) {
        SequencedSet<String> words = new TreeSet<>(List.of(".", "?"));
        for (Squad part : parts) {
            for (Paragraph paragraph : part.paragraphs()) {
                Collections.addAll(words, words(paragraph.context()));
                paragraph.questions().forEach(question -> Collections.addAll(words, words(question.text())));
            }
        }
        List<String> vocabulary = new ArrayList<>(SPECIAL);
        vocabulary.addAll(words);
        return vocabulary;
    }

    private static String[] words(String text) {
        return text.replaceAll("[.?]", " ").strip().split("\\s+");
    }
}
