"""confluent-kafka."""

import sys

import confluent_kafka as ck
from confluent_kafka import admin

import contract


def produce(addr, topic, acks, codec, numbers):
    config = {"bootstrap.servers": addr, "compression.type": codec, "acks": acks, "linger.ms": 5, "message.timeout.ms": 3_600_000,
              "retry.backoff.ms": 20, "reconnect.backoff.max.ms": 100}
    if acks == "idempotent":
        config |= {"acks": "all", "enable.idempotence": True}
    producer = ck.Producer(config)

    def report(err, message):
        if err:
            raise ck.KafkaException(err)
        contract.say(int(message.value()))

    for chunk in contract.chunks(numbers):
        for n in chunk:
            producer.produce(topic, contract.value(n), contract.key(n), on_delivery=report)
        producer.flush()


def poll(consumer, ended=None):
    while not (ended and ended.is_set()):
        message = consumer.poll(0.05)
        if message is None:
            continue
        if message.error():
            if message.error().fatal():
                raise ck.KafkaException(message.error())
            continue
        contract.got(message.partition(), message.offset(), message.value())


def consume(addr, topic, partitions, since):
    consumer = ck.Consumer({"bootstrap.servers": addr, "group.id": "none", "enable.auto.commit": False})
    where = [ck.TopicPartition(topic, p, ck.OFFSET_BEGINNING if since == -2 else since) for p in range(partitions)]
    if since != -2:
        where = consumer.offsets_for_times(where, 30)
    consumer.assign(where)
    poll(consumer)


def member(addr, topic, group, ended):
    consumer = ck.Consumer({"bootstrap.servers": addr, "group.id": group, "auto.offset.reset": "earliest", "heartbeat.interval.ms": 200,
                            "reconnect.backoff.max.ms": 100})
    consumer.subscribe([topic])
    poll(consumer, ended)
    consumer.close()


def asked(addr, call, *args):
    """The results of a call of an administrator, which has to be there until then."""
    a = admin.AdminClient({"bootstrap.servers": addr})
    return [f.result() for f in getattr(a, call)(*args).values()]


def create(addr, topic, partitions, config):
    asked(addr, "create_topics", [admin.NewTopic(topic, partitions, 1, config=config)])


def describe(addr, topic):
    [description] = asked(addr, "describe_topics", ck.TopicCollection([topic]))
    return len(description.partitions)


def configs(addr, topic):
    [entries] = asked(addr, "describe_configs", [admin.ConfigResource("topic", topic)])
    return {name: e.value for name, e in entries.items()}


def alter(addr, topic, name, value):
    entry = admin.ConfigEntry(name, value, incremental_operation=admin.AlterConfigOpType.SET)
    asked(addr, "incremental_alter_configs", [admin.ConfigResource("topic", topic, incremental_configs=[entry])])


def delete(addr, topic):
    asked(addr, "delete_topics", [topic])


if __name__ == "__main__":
    contract.run(sys.modules[__name__])
