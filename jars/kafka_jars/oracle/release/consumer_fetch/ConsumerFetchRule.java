package kafkaoracle.consumer_fetch;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import kafkaoracle.rule.Rule;
import kafkaoracle.rule.ThrownByKafka;

/** A Fetcher that is given one completed fetch, and polled until it is used up or throws, and then once more. */
public final class ConsumerFetchRule extends Rule {
    /** More polls than any response of a question needs. */
    private static final int MOST_POLLS = 100;
    private static final String WRAPPED = "Received exception when fetching the next record";

    public ConsumerFetchRule(String release) {
    }

    @Override
    protected Map<String, Object> answer(Map<String, Object> question) throws Exception {
        try (FetcherAccess fetcher = new FetcherAccess(question)) {
            return polled(fetcher);
        }
    }

    private static Map<String, Object> polled(FetcherAccess fetcher) throws Exception {
        Map<String, Object> answer = new LinkedHashMap<>();
        List<Object> delivered = new ArrayList<>();
        answer.put("delivered", delivered);
        Map<String, Object> thrown = Map.of();
        for (int polls = 0;; polls++) {
            if (polls == MOST_POLLS) {
                throw new IllegalStateException("the response is not used up after " + polls + " polls");
            }
            long before = fetcher.position();
            List<Long> offsets = new ArrayList<>();
            thrown = poll(fetcher, offsets);
            offsets.forEach(each -> delivered.add(exact(each)));
            if (!thrown.isEmpty() || offsets.isEmpty() && fetcher.position() == before) {
                break;
            }
        }
        answer.put("position", exact(fetcher.position()));
        if (!thrown.isEmpty()) {
            answer.putAll(thrown);
            answer.put("again", poll(fetcher, new ArrayList<>()).get("raises"));
        }
        return answer;
    }

    /** What the poll throws, empty if it returns. */
    private static Map<String, Object> poll(FetcherAccess fetcher, List<Long> offsets) throws Exception {
        try {
            offsets.addAll(fetcher.poll());
            return Map.of();
        } catch (ThrownByKafka thrown) {
            Map<String, Object> names = new LinkedHashMap<>();
            Throwable kafkas = thrown.getCause();
            names.put("raises", kafkas.getClass().getSimpleName());
            String message = kafkas.getMessage();
            if (message != null && message.startsWith(WRAPPED) && kafkas.getCause() != null) {
                names.put("cause", kafkas.getCause().getClass().getSimpleName());
            }
            return names;
        }
    }

    /** An int64 as JSON takes it: beyond 2^53 as text. */
    private static Object exact(long number) {
        return Math.abs(number) <= 1L << 53 && number != Long.MIN_VALUE ? (Object) number : Long.toString(number);
    }
}
