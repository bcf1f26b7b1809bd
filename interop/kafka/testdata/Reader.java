import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Kafka's consumer as the judge of what can be read: Reader BOOTSTRAP TOPIC...
 * Of partition 0 of each topic, under both isolation levels, a line each, tab between:
 *
 *   B topic isolation beginning end      its offsets, as the consumer is told
 *   R offset time type key value headers a record; bytes as hex, null as -, long ones as length and SHA-256
 *   S target first                       the first record found after seeking to target
 *   T topic time offset                  where offsetsForTimes points, -1 nowhere
 *   E topic isolation position           all read
 */
public class Reader {
    static final PrintStream out = new PrintStream(new java.io.BufferedOutputStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), 1 << 16));
    static final String HEX = "0123456789abcdef";

    public static void main(String[] args) throws Exception {
        List<TopicPartition> all = new ArrayList<>();
        for (int i = 1; i < args.length; i++) {
            all.add(new TopicPartition(args[i], 0));
        }
        for (String isolation : new String[] {"read_uncommitted", "read_committed"}) {
            Properties p = new Properties();
            p.put("bootstrap.servers", args[0]);
            p.put("isolation.level", isolation);
            p.put("enable.auto.commit", "false");
            p.put("auto.offset.reset", "none");
            p.put("max.poll.records", "5000");
            p.put("fetch.max.wait.ms", "0");
            p.put("fetch.max.bytes", "2097152");
            try (KafkaConsumer<byte[], byte[]> c = new KafkaConsumer<>(p, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
                Map<TopicPartition, Long> begin = c.beginningOffsets(all);
                Map<TopicPartition, Long> end = c.endOffsets(all);
                Map<TopicPartition, List<Long>> times = new HashMap<>();
                for (TopicPartition tp : all) {
                    times.put(tp, read(c, tp, isolation, begin.get(tp), end.get(tp)));
                }
                if (isolation.equals("read_uncommitted")) {
                    lookUp(c, times);
                }
            }
        }
        out.flush();
    }

    /** Reads a partition, and returns the times to ask for. */
    static List<Long> read(KafkaConsumer<byte[], byte[]> c, TopicPartition tp, String isolation, long begin, long end) throws Exception {
        out.println("B\t" + tp.topic() + "\t" + isolation + "\t" + begin + "\t" + end);
        List<Long> times = new ArrayList<>();
        c.assign(List.of(tp));
        c.seek(tp, begin);
        long deadline = System.nanoTime() + 60_000_000_000L;
        while (c.position(tp) < end) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("at " + c.position(tp) + " of " + end + " in " + tp + " after 60 s");
            }
            for (ConsumerRecord<byte[], byte[]> r : c.poll(Duration.ofMillis(200)).records(tp)) {
                times.add(r.timestamp());
                StringBuilder b = new StringBuilder("R\t").append(r.offset()).append('\t').append(r.timestamp()).append('\t').append(r.timestampType());
                bytes(b.append('\t'), r.key());
                bytes(b.append('\t'), r.value());
                b.append('\t');
                String between = "";
                for (Header h : r.headers()) {
                    bytes(b.append(between), h.key().getBytes(StandardCharsets.UTF_8));
                    bytes(b.append('='), h.value());
                    between = ",";
                }
                out.println(b);
            }
        }
        out.println("E\t" + tp.topic() + "\t" + isolation + "\t" + c.position(tp));
        for (long i = 0; i < 8 && end > begin; i++) {
            seek(c, tp, begin + (long) ((end - begin) * (double) i / 8), end);
        }
        TreeSet<Long> asked = new TreeSet<>();
        for (int i = 0; i < times.size(); i += 1 + times.size() / 20) {
            asked.add(Math.max(0, times.get(i)));
            asked.add(Math.max(0, times.get(i) + 1));
        }
        asked.add(0L);
        asked.add(Long.MAX_VALUE / 2);
        return new ArrayList<>(asked);
    }

    /** Asks for all times of all partitions, one of each at a time. */
    static void lookUp(KafkaConsumer<byte[], byte[]> c, Map<TopicPartition, List<Long>> times) {
        for (int i = 0; ; i++) {
            Map<TopicPartition, Long> query = new HashMap<>();
            for (Map.Entry<TopicPartition, List<Long>> e : times.entrySet()) {
                if (i < e.getValue().size()) {
                    query.put(e.getKey(), e.getValue().get(i));
                }
            }
            if (query.isEmpty()) {
                return;
            }
            Map<TopicPartition, OffsetAndTimestamp> found = c.offsetsForTimes(query);
            for (Map.Entry<TopicPartition, Long> e : query.entrySet()) {
                OffsetAndTimestamp at = found.get(e.getKey());
                out.println("T\t" + e.getKey().topic() + "\t" + e.getValue() + "\t" + (at == null ? -1 : at.offset()));
            }
        }
    }

    static void seek(KafkaConsumer<byte[], byte[]> c, TopicPartition tp, long target, long end) {
        c.seek(tp, target);
        long deadline = System.nanoTime() + 20_000_000_000L;
        while (c.position(tp) < end && System.nanoTime() < deadline) {
            for (ConsumerRecord<byte[], byte[]> r : c.poll(Duration.ofMillis(200)).records(tp)) {
                out.println("S\t" + target + "\t" + r.offset());
                return;
            }
        }
        out.println("S\t" + target + "\t-1");
    }

    static void bytes(StringBuilder b, byte[] bytes) throws Exception {
        if (bytes == null) {
            b.append('-');
            return;
        }
        if (bytes.length > 48) {
            b.append(bytes.length).append(':');
            bytes = MessageDigest.getInstance("SHA-256").digest(bytes);
        }
        for (byte x : bytes) {
            b.append(HEX.charAt(x >> 4 & 15)).append(HEX.charAt(x & 15));
        }
    }
}
