package kafkaoracle.sequences;

/** DefaultRecordBatch.incrementSequence. */
public final class SequenceIncrementRule extends SequenceRule {

    public SequenceIncrementRule(String release) throws ReflectiveOperationException {
        super("incrementSequence");
    }
}
