package kafkaoracle.producer_send;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import kafkaoracle.accumulator.AccumulatorAccess;
import kafkaoracle.cluster.ClusterView;
import kafkaoracle.reflection.Arguments;
import kafkaoracle.reflection.Members;
import kafkaoracle.rule.ProducerClose;
import kafkaoracle.rule.Rule;
import kafkaoracle.sender.FilledMetadata;
import kafkaoracle.sender.SenderAccess;
import kafkaoracle.sender.SenderNetwork;
import kafkaoracle.transactions.TransactionManagerAccess;
import org.apache.kafka.clients.KafkaClient;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.clients.producer.internals.Sender;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Time;

/**
 * A KafkaProducer whose Sender takes one round per call: Kafka reads the configuration, and makes partitioner,
 * accumulator, TransactionManager and Sender of it.
 *
 * Since 1.0 the package-private constructor takes the KafkaClient; in 0.10 and 0.11 the public one is called, and the
 * client is replaced. The io thread ends at its first call of the client, which throws an Error on that thread, and no
 * record is sent before. By then it may have changed the TransactionManager (since 2.5), so KafkaProducer's own
 * configureTransactionState makes another one. Clocks that Kafka took from the system are replaced, and the metadata is
 * filled from the question.
 */
final class SteppedProducer {
    private static final String IO_THREAD = "kafka-producer-network-thread";
    /** Up to 2.0 a producer counts as closed once its io thread has ended: then the oracle's stands in for it. */
    private static final boolean CHECKS_THREAD = Members.method(Sender.class, "isRunning") == null;
    private static final long LIMIT_MS = 20_000;
    private static final Constructor<?> WITH_CLIENT = Arrays.stream(KafkaProducer.class.getDeclaredConstructors())
        .filter(each -> Arrays.asList(each.getParameterTypes()).contains(KafkaClient.class)).findFirst().orElse(null);

    final KafkaProducer<byte[], byte[]> producer;
    /** How often the sender was woken, until it is set to 0 by the rule. */
    volatile int wakeups;

    private final Object sender;
    private final Runnable polled;
    private final KafkaClient client = (KafkaClient) Members.proxy(KafkaClient.class, this::callClient);
    private SenderNetwork network;
    private Thread ended;

    /** Throws what the constructor of KafkaProducer throws, its innermost cause; {@code polled} is called after each poll. */
    SteppedProducer(Map<String, Object> config, AccumulatorAccess kafka, Runnable polled) throws Exception {
        this.polled = polled;
        Map<String, Object> complete = new HashMap<>(config);
        complete.put("bootstrap.servers", "127.0.0.1:9");
        complete.put("key.serializer", ByteArraySerializer.class.getName());
        complete.put("value.serializer", ByteArraySerializer.class.getName());
        complete.put("reconnect.backoff.ms", "60000");
        complete.put("max.block.ms", "0");
        complete.put("enable.metrics.push", "false"); // since 3.7
        complete.put("auto.include.jmx.reporter", "false"); // since 3.4; 4.0 has metric.reporters for it
        complete.put("metric.reporters", "");
        producer = construct(complete, kafka.clock.time);
        sender = Members.get(producer, "sender");
        endIoThread();
        kafka.accumulator = (RecordAccumulator) Members.get(producer, "accumulator");
        kafka.transactions = replaceTransactionManager(kafka.accumulator);
        for (Object each : List.of(
            producer, sender, kafka.accumulator, Members.get(kafka.accumulator, "free"), Members.get(producer, "metadata"))) {
            replaceClock(each, kafka.clock.time);
        }
    }

    /** Puts Kafka's metadata and the network in; the network answers at most as many requests as the configuration allows. */
    SenderNetwork connect(AccumulatorAccess kafka, ClusterView view, SenderNetwork.Answer ids) throws Exception {
        FilledMetadata.fill(Members.get(producer, "metadata"), view);
        network = new SenderNetwork(kafka.clock, kafka.requestTimeoutMs, maxInFlight(), ids);
        wakeups = 0;
        return network;
    }

    /** Runs one round of the sender at this time; what it throws is the answer. */
    void run(long now) throws Exception {
        SenderAccess.run(sender, now);
    }

    @SuppressWarnings("unchecked")
    private KafkaProducer<byte[], byte[]> construct(Map<String, Object> config, Time time) throws Exception {
        if (WITH_CLIENT == null) {
            return Rule.kafka(() -> innermost(() -> new KafkaProducer<>(config)));
        }
        WITH_CLIENT.setAccessible(true);
        Constructor<?> parse = ProducerConfig.class.getDeclaredConstructor(Map.class);
        parse.setAccessible(true);
        Object parsed = Rule.kafka(() -> innermost(() -> parse.newInstance(config)));
        Object[] arguments = new Arguments()
            .giveAll(Map.class, config).giveAll(ProducerConfig.class, parsed)
            .giveAll(KafkaClient.class, client).giveAll(Time.class, time)
            .match(WITH_CLIENT.getParameterTypes(), type ->
                type.getSimpleName().equals("ApiVersions") ? type.getConstructor().newInstance() : null);
        return Rule.kafka(() -> (KafkaProducer<byte[], byte[]>) innermost(() -> WITH_CLIENT.newInstance(arguments)));
    }

    /** A configuration that Kafka refuses is the cause of what a constructor throws, or thrown itself. */
    private static <T> T innermost(Callable<T> constructor) throws Exception {
        try {
            return constructor.call();
        } catch (InvocationTargetException | KafkaException thrown) {
            Throwable innermost = thrown;
            while (innermost.getCause() != null) {
                innermost = innermost.getCause();
            }
            throw innermost instanceof Exception ? (Exception) innermost : thrown;
        }
    }

    /** Also closes the client that the public constructor opened. */
    private void endIoThread() throws Exception {
        KafkaClient opened = (KafkaClient) Members.get(sender, "client");
        if (opened != client) {
            Members.set(sender, "client", client);
            opened.wakeup();
        }
        Thread thread = (Thread) Members.get(producer, "ioThread");
        thread.join(LIMIT_MS);
        if (thread.isAlive()) {
            throw new IllegalStateException("the producer's io thread did not end within " + LIMIT_MS + " ms");
        }
        if (opened != client) {
            opened.close();
        }
        if (CHECKS_THREAD) {
            Members.set(producer, "ioThread", Thread.currentThread());
        }
        ended = thread;
    }

    void close() throws ReflectiveOperationException {
        if (CHECKS_THREAD) {
            Members.set(producer, "ioThread", ended);
        }
        ProducerClose.close(producer);
    }

    /** The TransactionManager, made by KafkaProducer itself and touched by no thread; null without idempotence. */
    private TransactionManagerAccess replaceTransactionManager(Object accumulator) throws Exception {
        Method made = Members.method(KafkaProducer.class, "configureTransactionState");
        if (made == null || Members.get(producer, "transactionManager") == null) {
            return null;
        }
        Object manager = made.invoke(producer, arguments(made));
        for (Object each : List.of(producer, sender, accumulator)) {
            Members.set(each, "transactionManager", manager);
        }
        return new TransactionManagerAccess(manager);
    }

    private static void replaceClock(Object object, Time time) throws ReflectiveOperationException {
        for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (field.getType() == Time.class) {
                    Members.set(object, field.getName(), time);
                }
            }
        }
    }

    /** How many requests Kafka allows in flight: it passes the number only to a client that it makes itself. */
    private int maxInFlight() throws Exception {
        Method configured = Members.method(KafkaProducer.class, "configureInflightRequests");
        return configured != null ? (Integer) configured.invoke(producer, arguments(configured))
            : ((ProducerConfig) Members.get(producer, "producerConfig")).getInt("max.in.flight.requests.per.connection");
    }

    /** The arguments with which the constructor calls this method: the producer's fields, by their types. */
    private Object[] arguments(Method method) throws Exception {
        return new Arguments().giveAll(boolean.class, Members.field(KafkaProducer.class, "transactionManager") != null
            && Members.get(producer, "transactionManager") != null)
            .match(method.getParameterTypes(), type -> {
                Field field = Stream.of(KafkaProducer.class.getDeclaredFields())
                    .filter(each -> each.getType() == type).findFirst().orElse(null);
                return field == null ? type.getConstructor().newInstance() : Members.get(producer, field.getName());
            });
    }

    /** The implementation of KafkaClient. */
    private Object callClient(Object self, Method method, Object[] arguments) throws Throwable {
        if (Thread.currentThread().getName().startsWith(IO_THREAD)) {
            throw new ThreadDeath();
        }
        switch (method.getName()) {
            case "wakeup":
                wakeups++;
                return null;
            case "close":
            case "initiateClose":
                return null;
            default:
                try {
                    return method.invoke(network.client, arguments);
                } catch (InvocationTargetException thrown) {
                    throw thrown.getCause();
                } finally {
                    if (method.getName().equals("poll")) {
                        polled.run();
                    }
                }
        }
    }
}
