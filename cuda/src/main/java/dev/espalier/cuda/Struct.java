package dev.espalier.cuda;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SequenceLayout;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A structure that Java and a GPU both read: Java finds its members by name, the GPU's compiler is given the
 * {@link #declaration}. Nothing is padded silently: a member that would not lie on its alignment is refused, so what fills up is
 * a member too.
 */
final class Struct {
    private final String name;
    private final List<Member> members;
    private final StructLayout layout;

    /** The same by place, for those who look members up in every step. */
    private final String[] names;

    /** Java's types of numbers, and that of their layout for other members. */
    private final Class<?>[] types;

    private final long[] offsets;

    /**
     * A member.
     *
     * @param type what C calls it, or its elements
     * @param layout where Java sees it, under its name
     * @param struct what it is, or its elements are; null if that is a number or an address
     */
    private record Member(
            String type, MemoryLayout layout, @Nullable Struct struct) {
        String name() {
            return layout.name().orElseThrow();
        }

        String declaration() {
            String length = layout instanceof SequenceLayout array ? "[%d]".formatted(array.elementCount()) : "";
            return type + " " + name() + length;
        }
    }

    private Struct(String name, List<Member> members) {
        this.name = name;
        this.members = members;
        MemoryLayout[] layouts = members.stream().map(Member::layout).toArray(MemoryLayout[]::new);
        layout = MemoryLayout.structLayout(layouts).withName(name);
        types = Stream.of(layouts)
                .map(member -> member instanceof ValueLayout number ? number.carrier() : member.getClass())
                .toArray(Class<?>[]::new);
        names = members.stream().map(Member::name).toArray(String[]::new);
        offsets = Stream.of(names)
                .mapToLong(member -> layout.byteOffset(PathElement.groupElement(member)))
                .toArray();
    }

    /** One without members: each of the methods below makes one with more. */
    static Struct named(String name) {
        return new Struct(name, List.of());
    }

    Struct ints(String... more) {
        return with("int", JAVA_INT, null, more);
    }

    Struct longs(String... more) {
        return with("long long", JAVA_LONG, null, more);
    }

    Struct floats(String... more) {
        return with("float", JAVA_FLOAT, null, more);
    }

    Struct doubles(String... more) {
        return with("double", JAVA_DOUBLE, null, more);
    }

    /** Adds addresses on the GPU: numbers in Java, and in C pointers to something. */
    Struct pointers(String to, String... more) {
        return with(to + " *", JAVA_LONG, null, more);
    }

    Struct structs(Struct type, String... more) {
        return with(type.name, type.layout, type, more);
    }

    Struct intArray(int length, String more) {
        return with("int", MemoryLayout.sequenceLayout(length, JAVA_INT), null, more);
    }

    Struct longArrays(int length, String... more) {
        return with("long long", MemoryLayout.sequenceLayout(length, JAVA_LONG), null, more);
    }

    Struct doubleArray(int length, String more) {
        return with("double", MemoryLayout.sequenceLayout(length, JAVA_DOUBLE), null, more);
    }

    Struct structArray(Struct type, int length, String more) {
        return with(type.name, MemoryLayout.sequenceLayout(length, type.layout), type, more);
    }

    private Struct with(String type, MemoryLayout memory, @Nullable Struct struct, String... more) {
        List<Member> all = new ArrayList<>(members);
        Stream.of(more).forEach(member -> all.add(new Member(type, memory.withName(member), struct)));
        return new Struct(name, List.copyOf(all));
    }

    /** Where Java sees what. */
    StructLayout layout() {
        return layout;
    }

    /** How many bytes one takes. */
    long size() {
        return layout.byteSize();
    }

    /**
     * What C is told. Members are as large there as here, and here nothing is between them: if both sides find the same size,
     * there is nothing between them there either.
     */
    String declaration() {
        StringBuilder text = new StringBuilder("struct %s {\n".formatted(name));
        members.forEach(member -> text.append("    %s;\n".formatted(member.declaration())));
        return text.append("};\nstatic_assert(sizeof(%s) == %d, \"%1$s as Java sees it\");\n".formatted(name, size()))
                .toString();
    }

    /**
     * One of a table.
     *
     * @param table some of them, one after the other
     * @param index which
     */
    Row row(MemorySegment table, long index) {
        return new Row(this, table, index * size());
    }

    /** A structure in memory. A name that it does not have, or has with another type, is refused. */
    static final class Row {
        private final Struct struct;
        private final MemorySegment memory;
        private final long start;

        /** Behind the member that was found last, which is mostly the one to be asked for next. */
        private int next;

        private Row(Struct struct, MemorySegment memory, long start) {
            this.struct = struct;
            this.memory = memory;
            this.start = start;
        }

        private int find(String name) {
            int count = struct.names.length;
            for (int i = 0; i < count; i++) {
                int at = next + i < count ? next + i : next + i - count;
                if (struct.names[at].equals(name)) {
                    next = at + 1;
                    return at;
                }
            }
            throw new IllegalArgumentException(
                    "%s has no %s, only %s".formatted(struct.name, name, String.join(", ", struct.names)));
        }

        private long find(String name, Class<?> type) {
            int at = find(name);
            if (struct.types[at] != type) {
                throw mistyped(at);
            }
            return start + struct.offsets[at];
        }

        private IllegalArgumentException mistyped(int at) {
            return new IllegalArgumentException("%s is declared as %s, and used otherwise"
                    .formatted(struct.name, struct.members.get(at).declaration()));
        }

        Row put(String name, int value) {
            memory.set(JAVA_INT, find(name, int.class), value);
            return this;
        }

        Row put(String name, long value) {
            memory.set(JAVA_LONG, find(name, long.class), value);
            return this;
        }

        Row put(String name, float value) {
            memory.set(JAVA_FLOAT, find(name, float.class), value);
            return this;
        }

        Row put(String name, double value) {
            memory.set(JAVA_DOUBLE, find(name, double.class), value);
            return this;
        }

        /** Fills the front of an array. */
        Row put(String name, int[] values) {
            long at = array(name, JAVA_INT, values.length);
            MemorySegment.copy(values, 0, memory, JAVA_INT, at, values.length);
            return this;
        }

        /** Fills the front of an array. */
        Row put(String name, long[] values) {
            long at = array(name, JAVA_LONG, values.length);
            MemorySegment.copy(values, 0, memory, JAVA_LONG, at, values.length);
            return this;
        }

        /** Fills the front of an array. */
        Row put(String name, double[] values) {
            long at = array(name, JAVA_DOUBLE, values.length);
            MemorySegment.copy(values, 0, memory, JAVA_DOUBLE, at, values.length);
            return this;
        }

        /** Where so many elements of an array begin. */
        private long array(String name, MemoryLayout type, int length) {
            int at = find(name);
            if (!(struct.members.get(at).layout() instanceof SequenceLayout array)
                    || !array.elementLayout().equals(type)) {
                throw mistyped(at);
            }
            if (length > array.elementCount()) {
                throw new IllegalArgumentException("%s has no room for %d in %s"
                        .formatted(struct.name, length, struct.members.get(at).declaration()));
            }
            return start + struct.offsets[at];
        }

        /** A structure within this one. */
        Row within(String name) {
            return within(name, 0);
        }

        /** A structure of an array within this one. */
        Row within(String name, int index) {
            int at = find(name);
            Struct inner = struct.members.get(at).struct();
            if (inner == null) {
                throw mistyped(at);
            }
            if (index * inner.size() >= struct.members.get(at).layout().byteSize()) {
                throw new IllegalArgumentException("%s has no number %d of %s"
                        .formatted(struct.name, index, struct.members.get(at).declaration()));
            }
            return new Row(inner, memory, start + struct.offsets[at] + index * inner.size());
        }

        /** Makes everything zero. */
        Row clear() {
            memory.asSlice(start, struct.size()).fill((byte) 0);
            return this;
        }

        int intOf(String name) {
            return memory.get(JAVA_INT, find(name, int.class));
        }

        long longOf(String name) {
            return memory.get(JAVA_LONG, find(name, long.class));
        }

        float floatOf(String name) {
            return memory.get(JAVA_FLOAT, find(name, float.class));
        }

        double doubleOf(String name) {
            return memory.get(JAVA_DOUBLE, find(name, double.class));
        }
    }
}
