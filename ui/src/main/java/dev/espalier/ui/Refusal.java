package dev.espalier.ui;

import java.io.Serial;

/** A request that is not answered, and why: the message says what to do instead. */
final class Refusal extends Exception {
    @Serial
    private static final long serialVersionUID = 1;

    /** As HTTP counts them. */
    enum Status {
        BAD_REQUEST(400),
        FORBIDDEN(403),
        NOT_FOUND(404),
        NOT_ALLOWED(405),
        CONFLICT(409),
        TOO_LARGE(413);

        private final int code;

        Status(int code) {
            this.code = code;
        }

        int code() {
            return code;
        }
    }

    private final Status status;

    Refusal(Status status, String message) {
        super(message);
        this.status = status;
    }

    Status status() {
        return status;
    }
}
