import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * Kafka's consumer on a leash: Consumer KEY=VALUE... with its settings. Each line of
 * standard input is a call of it, and is answered by a line, "ok" and what was
 * returned or "error" and the exception:
 *
 *   subscribe TOPIC...    match PATTERN    assign TOPIC-PARTITION...
 *   seek TOPIC-PARTITION OFFSET            position TOPIC-PARTITION
 *   poll MILLISECONDS                      ok TOPIC-PARTITION@OFFSET=VALUE ...
 *   commit                                 commitSync of all positions
 *   assignment                             ok TOPIC-PARTITION ...
 *
 * It is closed when the input ends.
 */
public class Consumer {
    public static void main(String[] args) throws Exception {
        Properties p = new Properties();
        for (String setting : args) {
            String[] kv = setting.split("=", 2);
            p.put(kv[0], kv[1]);
        }
        try (KafkaConsumer<String, String> c = new KafkaConsumer<>(p, new StringDeserializer(), new StringDeserializer());
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String said;
                try {
                    said = "ok" + call(c, line.split(" "));
                } catch (RuntimeException e) {
                    said = "error " + e.toString().replace('\n', ' ');
                }
                System.out.println(said);
            }
        }
    }

    static String call(KafkaConsumer<String, String> c, String[] words) {
        List<String> args = List.of(words).subList(1, words.length);
        StringBuilder said = new StringBuilder();
        switch (words[0]) {
            case "subscribe" -> c.subscribe(args);
            case "match" -> c.subscribe(Pattern.compile(args.get(0)));
            case "assign" -> c.assign(args.stream().map(Consumer::partition).toList());
            case "seek" -> c.seek(partition(args.get(0)), Long.parseLong(args.get(1)));
            case "position" -> said.append(' ').append(c.position(partition(args.get(0))));
            case "poll" -> {
                for (ConsumerRecord<String, String> r : c.poll(Duration.ofMillis(Long.parseLong(args.get(0))))) {
                    said.append(String.format(" %s-%d@%d=%s", r.topic(), r.partition(), r.offset(), r.value()));
                }
            }
            case "commit" -> c.commitSync();
            case "assignment" -> {
                TreeSet<String> names = new TreeSet<>();
                c.assignment().forEach(tp -> names.add(tp.toString()));
                names.forEach(name -> said.append(' ').append(name));
            }
            default -> throw new IllegalArgumentException(words[0]);
        }
        return said.toString();
    }

    static TopicPartition partition(String name) {
        int dash = name.lastIndexOf('-');
        return new TopicPartition(name.substring(0, dash), Integer.parseInt(name.substring(dash + 1)));
    }
}
