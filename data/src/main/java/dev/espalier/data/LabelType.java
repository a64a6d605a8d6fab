package dev.espalier.data;

/** What a column of labels is, where its values could be either: {@code data.label_type}. */
public enum LabelType {
    /** Decided by the data: texts are classes, many different numbers are numbers, and few are classes. */
    AUTO,
    /** One of some classes. */
    CATEGORY,
    /** A number to be estimated. */
    NUMBER
}
