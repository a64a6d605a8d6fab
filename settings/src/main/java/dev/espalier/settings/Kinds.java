package dev.espalier.settings;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.ServiceLoader;

/**
 * The kinds that a section can be of, by name.
 *
 * @param <K> their type
 */
public final class Kinds<K extends Kind> {
    private final SequencedMap<String, K> byName = new LinkedHashMap<>();

    private Kinds(Iterable<? extends K> kinds) {
        for (K kind : kinds) {
            K other = byName.putIfAbsent(kind.name(), kind);
            if (other != null) {
                throw new IllegalArgumentException(
                        "both %s and %s are called %s: kinds of a section need names of their own"
                                .formatted(
                                        other.getClass().getName(),
                                        kind.getClass().getName(),
                                        kind.name()));
            }
        }
    }

    /**
     * Kinds that are known.
     *
     * @param kinds the kinds
     * @param <K> their type
     * @return the kinds, in this order
     */
    public static <K extends Kind> Kinds<K> of(Collection<? extends K> kinds) {
        return new Kinds<>(kinds);
    }

    /**
     * All kinds that are registered as services, our own and those of others.
     *
     * @param services finds them: {@code ServiceLoader.load(K.class)}, called by the module that uses the service
     * @param <K> their type
     * @return the kinds, in the order in which they are found
     */
    public static <K extends Kind> Kinds<K> found(ServiceLoader<K> services) {
        return new Kinds<>(services);
    }

    /**
     * All of them.
     *
     * @return the kinds in order
     */
    public List<K> all() {
        return List.copyOf(byName.values());
    }

    /**
     * Their names.
     *
     * @return the names in order
     */
    public List<String> names() {
        return List.copyOf(byName.keySet());
    }

    /**
     * A kind by its name.
     *
     * @param name the name
     * @return the kind; empty if there is none of that name
     */
    public Optional<K> find(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    /**
     * {@return the kind that a section's values are of}
     *
     * @param values the values of a section of these kinds
     */
    public K of(Values values) {
        return find(values.kind())
                .orElseThrow(() -> new IllegalArgumentException("section %s is of the kind %s, which is none of %s"
                        .formatted(values.section().name(), values.kind(), names())));
    }
}
