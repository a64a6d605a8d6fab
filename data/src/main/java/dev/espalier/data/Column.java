package dev.espalier.data;

import java.util.Optional;

/**
 * The values of a field, read row by row, as late as possible and from any thread: a batch reads the rows that it is made of and
 * nothing else. So whoever has more than fits into memory reads it from a file here.
 */
public sealed interface Column {
    /** {@return what every row has} */
    Field field();

    /** Numbers, or images. */
    non-sealed interface Numbers extends Column {
        @Override
        Field.Dense field();

        /**
         * Copies the values of a row.
         *
         * @param row its index
         * @param target takes as many values as the field has
         * @param offset where the first of them goes
         */
        void read(int row, float[] target, int offset);
    }

    /** Categories. */
    non-sealed interface Categories extends Column {
        @Override
        Field.Category field();

        /**
         * The category of a row.
         *
         * @param row its index
         * @return an index into the field's values; −1 if it is none of them, which only an input may be
         */
        int read(int row);
    }

    /** Sequences of token ids. */
    non-sealed interface Sequences extends Column {
        @Override
        Field.Tokens field();

        /**
         * The sequence of a row.
         *
         * @param row its index
         * @return ids that nobody else writes, no more than the field allows
         */
        int[] read(int row);

        /**
         * How long a row is, where rows of like length are to make the batches of a training, which are filled up with little then.
         *
         * @param row its index
         * @return the number of ids; 0, for all rows, if batches are drawn from all rows alike
         */
        default int length(int row) {
            return 0;
        }

        /**
         * What the ids of a row were made of, for people to read.
         *
         * @param row its index
         * @return the text; empty if it is not known, or stands beside another column already
         */
        default Optional<String> text(int row) {
            return Optional.empty();
        }
    }
}
