import java.time.Duration;
import java.util.*;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.*;

/** The contract of ../../doc.go for Kafka's own client. */
public class Driver {
    static String addr, topic;

    static void say(Object line) {
        System.out.println(line);
        System.out.flush();
    }

    static Properties properties(String... pairs) {
        Properties p = new Properties();
        p.put("bootstrap.servers", addr);
        p.put("retry.backoff.ms", "20");
        p.put("reconnect.backoff.max.ms", "100");
        for (int i = 0; i < pairs.length; i += 2) p.put(pairs[i], pairs[i + 1]);
        return p;
    }

    static void produce(String acks, String codec, int from, int to) throws Exception {
        boolean idempotent = acks.equals("idempotent");
        Properties config = properties("acks", idempotent ? "all" : acks, "enable.idempotence", "" + idempotent, "compression.type", codec,
            "linger.ms", "5", "delivery.timeout.ms", "3600000");
        try (var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            for (int first = from; first < to; first += 100) {
                List<Future<RecordMetadata>> sent = new ArrayList<>();
                for (int n = first; n < Math.min(first + 100, to); n++)
                    sent.add(producer.send(new ProducerRecord<>(topic, "" + n, String.format("%0100d", n))));
                for (int i = 0; i < sent.size(); i++) {
                    sent.get(i).get();
                    say(first + i);
                }
            }
        }
    }

    static KafkaConsumer<String, String> consumer(String... pairs) {
        return new KafkaConsumer<>(properties(pairs), new StringDeserializer(), new StringDeserializer());
    }

    static void poll(KafkaConsumer<String, String> consumer) {
        for (var r : consumer.poll(Duration.ofMillis(50))) say(r.partition() + " " + r.offset() + " " + r.value());
    }

    static void consume(int partitions, long since) {
        var consumer = consumer();
        var all = IntStream.range(0, partitions).mapToObj(p -> new TopicPartition(topic, p)).toList();
        consumer.assign(all);
        if (since == -2) consumer.seekToBeginning(all);
        else
            consumer.offsetsForTimes(all.stream().collect(Collectors.toMap(p -> p, p -> since))).forEach((p, found) -> consumer.seek(p, found.offset()));
        while (true) poll(consumer);
    }

    static void member(String group) {
        awaitEnd();
        try (var consumer = consumer("group.id", group, "auto.offset.reset", "earliest", "heartbeat.interval.ms", "200")) {
            consumer.subscribe(List.of(topic));
            while (!ended) poll(consumer);
        }
    }

    static volatile boolean ended;

    static void awaitEnd() {
        var reader = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {}
            } catch (java.io.IOException e) {
                System.err.println(e);
            }
            ended = true;
        });
        reader.setDaemon(true);
        reader.start();
    }

    static Map<ConfigResource, Collection<AlterConfigOp>> set(String pair) {
        String[] kv = pair.split("=", 2);
        return Map.of(resource(), List.of(new AlterConfigOp(new ConfigEntry(kv[0], kv[1]), AlterConfigOp.OpType.SET)));
    }

    static ConfigResource resource() {
        return new ConfigResource(ConfigResource.Type.TOPIC, topic);
    }

    static void administer(String verb, String[] args) throws Exception {
        try (Admin admin = Admin.create(properties())) {
            switch (verb) {
                case "create" -> {
                    String[] kv = args[4].split("=", 2);
                    admin.createTopics(List.of(new NewTopic(topic, Integer.parseInt(args[3]), (short) 1).configs(Map.of(kv[0], kv[1])))).all().get();
                }
                case "describe" -> say(admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size());
                case "configs" -> admin.describeConfigs(List.of(resource())).all().get().get(resource()).entries()
                    .forEach(e -> say(e.name() + "=" + e.value()));
                case "alter" -> admin.incrementalAlterConfigs(set(args[3])).all().get();
                case "delete" -> admin.deleteTopics(List.of(topic)).all().get();
                default -> throw new IllegalArgumentException(verb);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        addr = args[0];
        topic = args[2];
        switch (args[1]) {
            case "produce" -> produce(args[3], args[4], Integer.parseInt(args[5]), Integer.parseInt(args[6]));
            case "consume" -> consume(Integer.parseInt(args[3]), Long.parseLong(args[4]));
            case "member" -> member(args[3]);
            default -> administer(args[1], args);
        }
    }
}
