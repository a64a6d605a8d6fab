package dev.espalier.squad;

import dev.espalier.data.BatchPosition;
import dev.espalier.data.ColumnEncoding;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Value;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.objective.Formula;
import dev.espalier.graph.objective.Losses;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.text.WordPiece;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Metric;
import dev.espalier.train.task.Evaluation;
import dev.espalier.train.task.Example;
import dev.espalier.train.task.Examples;
import dev.espalier.train.task.Fitted;
import dev.espalier.train.task.Materials;
import dev.espalier.train.task.Signature;
import dev.espalier.train.task.Sums;
import dev.espalier.train.task.Task;
import dev.espalier.train.task.TaskModel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Random;
import java.util.SequencedMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Which piece of a text answers a question? For models from {@code input_ids}, {@code attention_mask} and {@code
 * token_type_ids} to {@code start_logits} and {@code end_logits}, all {@code [batch, tokens]}. A sample is a window, except
 * in an evaluation, where it is a question.
 */
final class Answering implements Task {
    /** The token to be found that an answer begins with. */
    private static final String START = "start";

    /** The token to be found that an answer ends with. */
    private static final String END = "end";

    /** The sum that counts windows whose answer is found exactly. */
    private static final String EXACT = "right";

    private static final Metric F1 = Metric.share("f1");
    private static final Metric EXACT_MATCH = Metric.share("exact_match");
    private static final Metric EXACT_SPANS = Metric.share("exact_spans");

    private static final String TOKENS = "tokens";
    private static final Signature SIGNATURE = new Signature(
            "squad",
            List.of(
                    tokens(Bert.INPUT_IDS, true),
                    tokens(Bert.ATTENTION_MASK, true),
                    tokens(Bert.TOKEN_TYPE_IDS, false)),
            List.of(logits(Bert.START_LOGITS), logits(Bert.END_LOGITS)));

    private final QuestionData data;
    private final Function<Weights, Graph> builder;
    private final TaskModel model;
    private final int batchSize;
    private final AnswerSearch search;
    private final int evaluationBatchSize;
    private final Optional<WordPiece> tokenizer;

    private static Signature.Input tokens(String name, boolean required) {
        return new Signature.Input(name, DataType.INT64, Shape.of(TOKENS), required);
    }

    private static Signature.Output logits(String name) {
        return new Signature.Output(name, Shape.of(TOKENS), new Signature.Meaning.Classes());
    }

    /**
     * A task.
     *
     * @param data the questions
     * @param builder makes the model; called with different weights
     * @param batchSize windows in a batch
     * @param search how answers are found
     * @param evaluationBatchSize windows that are looked at at once when a model is judged
     */
    public Answering(
            QuestionData data,
            Function<Weights, Graph> builder,
            int batchSize,
            AnswerSearch search,
            int evaluationBatchSize) {
        this(data, builder, batchSize, search, evaluationBatchSize, Optional.empty());
    }

    private Answering(
            QuestionData data,
            Function<Weights, Graph> builder,
            int batchSize,
            AnswerSearch search,
            int evaluationBatchSize,
            Optional<WordPiece> tokenizer) {
        this.data = data;
        this.builder = builder;
        this.model = new TaskModel(SIGNATURE, builder);
        this.batchSize = batchSize;
        this.search = search;
        this.evaluationBatchSize = evaluationBatchSize;
        this.tokenizer = tokenizer;
    }

    /** Reads the model's tokenizer, the questions and, whenever a model is asked for, the model. */
    static Answering of(Materials materials, AnswerSearch search) throws IOException {
        WordPiece tokenizer =
                WordPiece.ofModel(materials.tokenizer(), materials.dataValues().kind());
        QuestionData data = QuestionData.load(materials.dataValues(), tokenizer);
        Answering task = new Answering(
                data,
                TaskModel.builder(materials.model(), SIGNATURE),
                materials.batching().size(),
                search,
                materials.batching().evaluationSize());
        return task.withTokenizer(tokenizer);
    }

    /** The same with a tokenizer, which is laid beside the models that come out. */
    private Answering withTokenizer(WordPiece vocabulary) {
        return new Answering(data, builder, batchSize, search, evaluationBatchSize, Optional.of(vocabulary));
    }

    @Override
    public List<String> notes() {
        List<String> notes = new ArrayList<>();
        notes.add("%,d training windows; answers: %s"
                .formatted(data.train().all().size(), data.train().mapping()));
        notes.add("%,d questions to judge by".formatted(data.test().questionCount()));
        notes.add("unknown tokens: "
                + data.unknown().entrySet().stream()
                        .map(part -> part.getKey() + " " + part.getValue().percent())
                        .collect(Collectors.joining(", ")));
        data.unknown().forEach((part, unknown) -> unknown.warning(part).ifPresent(notes::add));
        return notes;
    }

    @Override
    public SequencedMap<String, Double> measures() {
        SequencedMap<String, Double> measures = new LinkedHashMap<>();
        data.unknown().forEach((part, unknown) -> measures.put("unknown_tokens_" + part, unknown.share()));
        return measures;
    }

    @Override
    public void accompany(Path folder) throws IOException {
        if (tokenizer.isPresent()) {
            tokenizer.get().save(folder);
        }
    }

    /** Ids of a question and a text; those of answers are found by whoever has the text. */
    @Override
    public Optional<Encoding> encoding() {
        Field.Tokens ids = new Field.Tokens(Bert.INPUT_IDS, data.train().plan().length());
        return tokenizer.map(_ -> new Encoding(List.of(new ColumnEncoding.Tokenized(ids, WordPiece.FILE)), List.of()));
    }

    @Override
    public List<Metric> metrics() {
        return List.of(F1, EXACT_MATCH);
    }

    @Override
    public Signature signature() {
        return SIGNATURE;
    }

    @Override
    public Fitted fitted() {
        return model.fitted();
    }

    @Override
    public Graph model(Weights weights) {
        return model.build(weights);
    }

    @Override
    public int batchesPerEpoch() {
        return WindowBatches.batchesPerEpoch(data.train(), batchSize);
    }

    @Override
    public Examples examples(long seed, BatchPosition first, long epochs) {
        WindowBatches batches = new WindowBatches(data.train(), batchSize, seed, first, epochs);
        return Examples.of(batches, batches::position, () -> {}, this::example);
    }

    private Example example(WindowBatch batch) {
        return new Example(
                model.fitted().feed(batch.inputs()),
                Map.of(START, batch.labels().get(0), END, batch.labels().get(1)),
                batch.size());
    }

    /** The mean of the start's and the end's {@code −ln softmax(logits)[label]}. */
    @Override
    public Objective objective() {
        Fitted names = model.fitted();
        return formula -> {
            Value starts = formula.model(names.output(Bert.START_LOGITS));
            Value ends = formula.model(names.output(Bert.END_LOGITS));
            Value mask = formula.model(names.input(Bert.ATTENTION_MASK));
            Value start = formula.target(START, DataType.INT64, starts.shape().get(0));
            Value end = formula.target(END, DataType.INT64, ends.shape().get(0));
            Value both =
                    formula.plus(Losses.crossEntropy(formula, starts, start), Losses.crossEntropy(formula, ends, end));
            SequencedMap<String, Value> terms = Objective.terms(formula.divide(both, formula.number(2)));
            terms.put(
                    EXACT,
                    formula.sum(
                            formula.times(isFound(formula, mask, starts, start), isFound(formula, mask, ends, end))));
            return terms;
        };
    }

    /** A window counts if its likeliest start and its likeliest end are both right. */
    @Override
    public SequencedMap<Metric, Double> score(Sums sums) {
        return new LinkedHashMap<>(Map.of(EXACT_SPANS, sums.mean(EXACT)));
    }

    /** Whether the likeliest token is the right one, where nothing counts that a window is filled up with. */
    private static Value isFound(Formula formula, Value mask, Value logits, Value label) {
        Value nothing = formula.number(Double.NEGATIVE_INFINITY);
        Value own = formula.where(mask, logits, nothing);
        return formula.equal(formula.argMax(own), label);
    }

    @Override
    public Evaluation evaluate(Model asked, Part part) {
        return judge(model.fitted().named(asked::predict), part);
    }

    /** Judges a model that is asked by the task's names. */
    private Evaluation judge(Function<Map<String, Tensor>, SequencedMap<String, Tensor>> asked, Part part) {
        Windows windows = part(part);
        AnswerReader.Reading reading = read(asked, windows);
        SquadScores found = SquadScores.of(windows, reading);
        SequencedMap<Metric, Double> scores = new LinkedHashMap<>();
        scores.put(F1, found.f1());
        scores.put(EXACT_MATCH, found.exactMatch());
        return new Evaluation(reading.loss(), scores, found.questions());
    }

    private AnswerReader.Reading read(
            Function<Map<String, Tensor>, SequencedMap<String, Tensor>> asked, Windows windows) {
        return new AnswerReader(asked::apply, search, evaluationBatchSize).read(windows);
    }

    @Override
    public Optional<Findings> findings(Model asked) {
        Windows windows = data.test();
        List<String> answers = SquadScores.answers(windows, read(model.fitted().named(asked::predict), windows));
        boolean isSetAside = !data.validation().equals(windows);
        return Optional.of(WrongAnswers.findings(
                windows,
                answers,
                new Findings.Samples(
                        data.train().questionCount(),
                        isSetAside ? data.validation().questionCount() : 0,
                        windows.questionCount())));
    }

    private Windows part(Part part) {
        return switch (part) {
            case VALIDATION -> data.validation();
            case TEST -> data.test();
        };
    }

    @Override
    public String samples() {
        return "sequences";
    }

    /** That of a model with random logits. */
    @Override
    public OptionalDouble baseline() {
        Random random = new Random(0);
        return OptionalDouble.of(
                judge(inputs -> guess(inputs, random), Part.VALIDATION).main().getValue());
    }

    private static SequencedMap<String, Tensor> guess(Map<String, Tensor> inputs, Random random) {
        long[] shape = inputs.values().iterator().next().shape();
        SequencedMap<String, Tensor> outputs = new LinkedHashMap<>();
        for (String name : List.of(Bert.START_LOGITS, Bert.END_LOGITS)) {
            outputs.put(name, Tensor.compute(DataType.FLOAT32, shape, _ -> random.nextGaussian()));
        }
        return outputs;
    }

    @Override
    public Map<String, Tensor> sample() {
        return model.fitted()
                .feed(data.test().batch(data.test().all().subList(0, 1)).inputs());
    }
}
