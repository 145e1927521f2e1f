import java.io.StringReader;
import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.WindowedSerdes;
import org.apache.kafka.streams.state.Stores;

/** Counts the records of each key in windows of a minute and in sessions, with Kafka Streams. Compiled by Janino. */
public class StreamsWindowCounts {
    private static KafkaStreams streams;

    /** Starts the application, or stops it where no topic is named. */
    public static void write(String settings, String source, String windows, String sessions) throws Exception {
        if (source.isEmpty()) {
            streams.close(Duration.ofSeconds(30));
            return;
        }
        Properties properties = new Properties();
        properties.load(new StringReader(settings));
        Thread.currentThread().setContextClassLoader(KafkaProducer.class.getClassLoader());
        Duration minute = Duration.ofMinutes(1), day = Duration.ofDays(1);
        StreamsBuilder builder = new StreamsBuilder();
        KGroupedStream records = builder.stream(source, Consumed.with(Serdes.String(), Serdes.String())).groupByKey();
        Materialized counts = Materialized.as(Stores.inMemoryWindowStore("counts", day, minute, false));
        KTable inWindows = records.windowedBy(TimeWindows.ofSizeWithNoGrace(minute)).count(counts);
        inWindows.toStream().to(
            windows, Produced.with(WindowedSerdes.timeWindowedSerdeFrom(String.class, 60000L), Serdes.Long()));
        Materialized active = Materialized.as(Stores.inMemorySessionStore("active", day));
        KTable inSessions = records.windowedBy(SessionWindows.ofInactivityGapWithNoGrace(minute)).count(active);
        inSessions.toStream().to(
            sessions, Produced.with(WindowedSerdes.sessionWindowedSerdeFrom(String.class), Serdes.Long()));
        streams = new KafkaStreams(builder.build(), properties);
        streams.start();
    }
}
