"""kafka-python."""

import sys

import kafka
from kafka.admin import ConfigResource, KafkaAdminClient

import contract

PATIENT = {"retry_backoff_ms": 20, "reconnect_backoff_max_ms": 100}


def produce(addr, topic, acks, codec, numbers):
    config = {"acks": {"0": 0, "1": 1}.get(acks, "all"), "enable_idempotence": acks == "idempotent"}
    producer = kafka.KafkaProducer(bootstrap_servers=addr, compression_type=None if codec == "none" else codec, linger_ms=5,
                                   delivery_timeout_ms=3_600_000, **config, **PATIENT)
    for chunk in contract.chunks(numbers):
        futures = [producer.send(topic, contract.value(n), contract.key(n)) for n in chunk]
        for n, future in zip(chunk, futures):
            future.get(600)
            contract.say(n)
    producer.close()


def poll(consumer, ended=None):
    while not (ended and ended.is_set()):
        for records in consumer.poll(50).values():
            for r in records:
                contract.got(r.partition, r.offset, r.value)


def consume(addr, topic, partitions, since):
    consumer = kafka.KafkaConsumer(bootstrap_servers=addr)
    every = [kafka.TopicPartition(topic, p) for p in range(partitions)]
    consumer.assign(every)
    if since == -2:
        consumer.seek_to_beginning(*every)
    else:
        for partition, found in consumer.offsets_for_times(dict.fromkeys(every, since)).items():
            consumer.seek(partition, found.offset)
    poll(consumer)


def member(addr, topic, group, ended):
    consumer = kafka.KafkaConsumer(topic, bootstrap_servers=addr, group_id=group, auto_offset_reset="earliest", heartbeat_interval_ms=200, **PATIENT)
    poll(consumer, ended)
    consumer.close()


def administrator(addr):
    return KafkaAdminClient(bootstrap_servers=addr)


def create(addr, topic, partitions, config):
    administrator(addr).create_topics({topic: {"num_partitions": partitions, "replication_factor": 1, "configs": config}})


def describe(addr, topic):
    [description] = administrator(addr).describe_topics([topic])
    return len(description["partitions"])


def configs(addr, topic):
    got = administrator(addr).describe_configs([ConfigResource("topic", topic)], config_filter="all")
    return {name: entry["value"] for name, entry in got["topic"][topic].items()}


def alter(addr, topic, name, value):
    administrator(addr).alter_configs([ConfigResource("topic", topic, {name: value})])


def delete(addr, topic):
    administrator(addr).delete_topics([topic])


if __name__ == "__main__":
    contract.run(sys.modules[__name__])
