package kafkaoracle.sequences;

/** DefaultRecordBatch.decrementSequence. */
public final class SequenceDecrementRule extends SequenceRule {

    public SequenceDecrementRule(String release) throws ReflectiveOperationException {
        super("decrementSequence");
    }
}
