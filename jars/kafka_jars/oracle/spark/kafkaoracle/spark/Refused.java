package kafkaoracle.spark;

/** This executor cannot be asked: its files are not those that were sent. One line, for the user. */
public final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1;

    Refused(String line) {
        super(line);
    }
}
