package dev.espalier.settings;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A section of a text of settings: its keys, some of which may belong to some of its kinds only. */
public final class Section {
    private final String name;
    private final @Nullable Key<String> kindKey;
    private final List<? extends Kind> kinds;
    private final List<Key<?>> common;

    private Section(
            String name, @Nullable Key<String> kindKey, List<? extends Kind> kinds, List<? extends Key<?>> common) {
        this.name = name;
        this.kindKey = kindKey;
        this.kinds = kinds;
        this.common = List.copyOf(common);
        Set<String> paths = new LinkedHashSet<>();
        for (Key<?> key : this.common) {
            require(key, paths.add(key.path()));
        }
        for (Kind kind : kinds) {
            Set<String> own = new LinkedHashSet<>(paths);
            kind.keys().forEach(key -> require(key, own.add(key.path())));
        }
    }

    private void require(Key<?> key, boolean isNew) {
        if (!key.section().equals(name)) {
            throw new IllegalArgumentException("%s is no key of section %s".formatted(key, name));
        }
        if (!isNew) {
            throw new IllegalArgumentException("%s has the key %s twice".formatted(name, key));
        }
    }

    /**
     * {@return a section of one kind}
     *
     * @param name its name in brackets
     * @param keys its keys
     */
    public static Section of(String name, List<? extends Key<?>> keys) {
        return new Section(name, null, List.of(), keys);
    }

    /**
     * A section of several kinds; a key of that name says which.
     *
     * @param name its name in brackets
     * @param meaning what the kind decides, half a sentence
     * @param kinds the kinds
     * @param defaultKind the kind that holds if nobody says; empty if somebody has to
     * @param common the keys that all kinds have, written after a kind's own
     * @return the section
     */
    public static Section of(
            String name, String meaning, Kinds<?> kinds, Optional<String> defaultKind, List<? extends Key<?>> common) {
        Key<String> key = Key.oneOf(name + ".kind", kinds.names(), meaning);
        return new Section(name, defaultKind.map(key::withDefault).orElse(key), kinds.all(), common);
    }

    /**
     * Its name.
     *
     * @return as it stands in brackets
     */
    public String name() {
        return name;
    }

    /**
     * The key that says which kind it is.
     *
     * @return the key; empty if the section is of one kind only
     */
    public Optional<Key<String>> kindKey() {
        return Optional.ofNullable(kindKey);
    }

    /**
     * Its kinds.
     *
     * @return the kinds; none if the section is of one kind only
     */
    public List<? extends Kind> kinds() {
        return kinds;
    }

    /**
     * The keys that apply to a kind.
     *
     * @param kind its name; empty for a section of one kind
     * @return the kind's own keys and those that all have; {@code kind} itself is not among them
     */
    public List<Key<?>> keys(String kind) {
        List<Key<?>> keys = new ArrayList<>();
        kinds.stream().filter(one -> one.name().equals(kind)).forEach(one -> keys.addAll(one.keys()));
        keys.addAll(common);
        return keys;
    }

    /**
     * All keys, each once; a path may occur more than once, with another default for another kind.
     *
     * @return the keys of all kinds, and those that all have; the first is {@code kind}, if there are kinds
     */
    public List<Key<?>> keys() {
        Set<Key<?>> keys = new LinkedHashSet<>();
        kindKey().ifPresent(keys::add);
        kinds.forEach(kind -> keys.addAll(kind.keys()));
        keys.addAll(common);
        return List.copyOf(keys);
    }

    /**
     * The kinds that a key belongs to.
     *
     * @param key one of the section's keys
     * @return their names; none if it belongs to all
     */
    public List<String> owners(Key<?> key) {
        return kinds.stream()
                .filter(kind -> kind.keys().contains(key))
                .map(Kind::name)
                .toList();
    }

    @Override
    public String toString() {
        return "[" + name + "]";
    }
}
