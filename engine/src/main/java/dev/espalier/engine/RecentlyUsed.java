package dev.espalier.engine;

import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A table of bounded size: whenever an entry is added to a full one, the least recently used entry is evicted. Not for several
 * threads at once.
 */
final class RecentlyUsed<K, V> {
    private final int capacity;
    private final Consumer<? super V> evicted;
    private final SequencedMap<K, V> entries = new LinkedHashMap<>(16, 0.75f, true);

    /**
     * An empty table.
     *
     * @param capacity maximum number of entries, at least 1
     * @param evicted closes an entry that leaves the table, whatever the reason
     */
    RecentlyUsed(int capacity, Consumer<? super V> evicted) {
        this.capacity = capacity;
        this.evicted = evicted;
    }

    /** {@return the entry of a key, which counts as used; made and added if there is none} */
    V get(K key, Supplier<? extends V> maker) {
        V known = entries.get(key);
        if (known != null) {
            return known;
        }
        V made = maker.get();
        entries.put(key, made);
        while (entries.size() > capacity) {
            evicted.accept(entries.pollFirstEntry().getValue());
        }
        return made;
    }

    /** {@return the entry of a key, which counts as used; null if there is none} */
    @Nullable
    V find(K key) {
        return entries.get(key);
    }

    /** Evicts the entry of a key, if there is one. */
    void remove(K key) {
        V known = entries.remove(key);
        if (known != null) {
            evicted.accept(known);
        }
    }

    /** Evicts all entries. */
    void clear() {
        entries.values().forEach(evicted);
        entries.clear();
    }

    int size() {
        return entries.size();
    }
}
