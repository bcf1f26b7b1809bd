import java.nio.ByteBuffer;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.*;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.*;

/**
 * Writes what Kafka's assignors answer to random groups, one JSON line each:
 * the topics, each member's subscription and assignment as bytes. A group goes
 * through some rounds in which members come, go, miss a round, change what they
 * subscribe to, and topics grow.
 *
 *     javac -cp "kafka-clients-4.4.0.jar" Vectors.java
 *     java -cp "kafka-clients-4.4.0.jar:slf4j-api.jar:." Vectors SEED GROUPS > random.jsonl
 */
public class Vectors {
    static Random rnd;

    static class M {
        String id, instance, rack;
        List<String> topics;
        ConsumerPartitionAssignor assignor;
        List<TopicPartition> owned = new ArrayList<>();
        int generation = -1;
        ByteBuffer metadata;
    }

    static ConsumerPartitionAssignor make(String name) {
        switch (name) {
            case "range": return new RangeAssignor();
            case "roundrobin": return new RoundRobinAssignor();
            case "sticky": return new StickyAssignor();
            default: return new CooperativeStickyAssignor();
        }
    }

    static String hex(ByteBuffer b) {
        StringBuilder s = new StringBuilder();
        ByteBuffer d = b.duplicate();
        while (d.hasRemaining()) s.append(String.format("%02x", d.get()));
        return s.toString();
    }

    static String quote(String s) { return s == null ? "null" : "\"" + s + "\""; }

    static List<String> some(List<String> all, boolean every) {
        if (every) return new ArrayList<>(all);
        List<String> picked = new ArrayList<>();
        for (String t : all) if (rnd.nextInt(10) < 6) picked.add(t);
        if (picked.isEmpty()) picked.add(all.get(rnd.nextInt(all.size())));
        return picked;
    }

    public static void main(String[] args) throws Exception {
        rnd = new Random(Long.parseLong(args[0]));
        for (int n = Integer.parseInt(args[1]); n > 0; n--)
            for (String name : List.of("range", "roundrobin", "sticky", "cooperative-sticky")) group(name);
    }

    static void group(String name) throws Exception {
        boolean racked = rnd.nextInt(3) == 0, equal = rnd.nextBoolean(), statics = rnd.nextInt(3) == 0;
        int racks = 2 + rnd.nextInt(3), copies = 1 + rnd.nextInt(2);
        Map<String, Integer> topics = new TreeMap<>();
        for (int i = 1 + rnd.nextInt(6); i > 0; i--) topics.put("topic-" + rnd.nextInt(1000), 1 + rnd.nextInt(9));
        List<String> names = new ArrayList<>(topics.keySet());
        List<M> members = new ArrayList<>();
        int generation = 0;
        for (int round = 1 + rnd.nextInt(5), step = 0; round > 0; round--, step++) {
            int joins = step == 0 ? 1 + rnd.nextInt(rnd.nextInt(8) == 0 ? 40 : 8) : rnd.nextInt(3);
            if (step > 0 && rnd.nextInt(3) == 0) for (String t : names) if (rnd.nextInt(3) == 0) topics.put(t, topics.get(t) + 1);
            if (step > 0) for (int i = rnd.nextInt(3); i > 0 && members.size() > 1; i--) members.remove(rnd.nextInt(members.size()));
            for (; joins > 0; joins--) {
                M m = new M();
                m.id = "client-" + rnd.nextInt(5) + "-" + new UUID(rnd.nextLong(), rnd.nextLong());
                if (statics && rnd.nextBoolean()) m.instance = "i-" + rnd.nextInt(1000000);
                if (racked && rnd.nextInt(8) > 0) m.rack = "rack-" + rnd.nextInt(racks);
                m.topics = some(names, equal);
                m.assignor = make(name);
                members.add(m);
            }
            if (!equal && rnd.nextInt(3) == 0) {
                M m = members.get(rnd.nextInt(members.size()));
                m.topics = some(names, false);
            }
            generation++;
            step(name, topics, members, racked ? racks : 0, copies, generation);
        }
    }

    static void step(String name, Map<String, Integer> topics, List<M> members, int racks, int copies, int generation) throws Exception {
        List<PartitionInfo> infos = new ArrayList<>();
        StringBuilder out = new StringBuilder("{\"assignor\":\"" + name + "\",\"topics\":{");
        String sep = "";
        for (String t : topics.keySet()) {
            if (topics.size() > 2 && t.hashCode() % 13 == 0) continue; // one that does not exist
            out.append(sep + quote(t) + ":[");
            sep = ",";
            for (int i = 0; i < topics.get(t); i++) {
                Node[] replicas = new Node[copies];
                out.append(i > 0 ? ",[" : "[");
                for (int r = 0; r < copies; r++) {
                    int at = (i + r + (t.hashCode() & 1) * i) % Math.max(1, racks);
                    String rack = racks == 0 ? null : "rack-" + at;
                    replicas[r] = new Node(at, "h", 1, rack);
                    if (rack != null) out.append((r > 0 ? "," : "") + quote(rack));
                }
                out.append("]");
                infos.add(new PartitionInfo(t, i, replicas[0], replicas, replicas));
            }
            out.append("]");
        }
        List<Node> nodes = new ArrayList<>();
        for (int r = 0; r < Math.max(1, racks); r++) nodes.add(new Node(r, "h", 1, racks == 0 ? null : "rack-" + r));
        Cluster cluster = new Cluster("c", nodes, infos, Set.of(), Set.of());
        Map<String, Subscription> subscriptions = new HashMap<>();
        out.append("},\"members\":[");
        sep = "";
        for (M m : members) {
            // Java's members keep what they had; an eager one says so in its user data.
            List<TopicPartition> owned = new ArrayList<>(m.owned);
            if (name.equals("cooperative-sticky")) owned.removeIf(tp -> !m.topics.contains(tp.topic()));
            ByteBuffer user = m.assignor.subscriptionUserData(new LinkedHashSet<>(m.topics));
            Subscription s = new Subscription(m.topics, user, owned, m.generation, Optional.ofNullable(m.rack));
            m.metadata = ConsumerProtocol.serializeSubscription(s);
            Subscription read = ConsumerProtocol.deserializeSubscription(m.metadata.duplicate());
            read.setGroupInstanceId(Optional.ofNullable(m.instance));
            subscriptions.put(m.id, read);
        }
        Map<String, Assignment> answer;
        try {
            answer = make(name).assign(cluster, new GroupSubscription(subscriptions)).groupAssignment();
        } catch (RuntimeException e) {
            System.err.println(name + ": " + e);
            return;
        }
        for (M m : members) {
            Assignment a = answer.get(m.id);
            out.append(sep + "{\"id\":" + quote(m.id) + ",\"instance\":" + quote(m.instance) + ",\"metadata\":\"" + hex(m.metadata)
                + "\",\"assignment\":\"" + hex(ConsumerProtocol.serializeAssignment(a)) + "\"}");
            sep = ",";
            if (rnd.nextInt(12) == 0) continue; // misses the round and keeps what it had
            m.owned = new ArrayList<>(a.partitions());
            m.generation = generation;
            m.assignor.onAssignment(a, new ConsumerGroupMetadata("g", generation, m.id, Optional.ofNullable(m.instance)));
        }
        System.out.println(out + "]}");
    }
}
