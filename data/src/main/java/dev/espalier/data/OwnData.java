package dev.espalier.data;

import dev.espalier.settings.Values;

/** {@code data.kind = "own"}. */
public final class OwnData implements DataKind {
    private static final String NAME = "own";

    /** Called by the service loader. */
    public OwnData() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String meaning() {
        return "data that a Java program brings; not for the command line";
    }

    @Override
    public Parts open(Values values, Context context) {
        throw new IllegalArgumentException(
                "data.kind = own is data that a Java program brings, and gives to a task itself: choose one of "
                        + DataSection.KINDS.names().stream()
                                .filter(name -> !name.equals(NAME))
                                .toList());
    }
}
