"""aiokafka."""

import asyncio
import sys

import aiokafka
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

import contract


def now(function):
    """Makes a coroutine function one that runs to its end."""
    return lambda *args: asyncio.run(function(*args))


@now
async def produce(addr, topic, acks, codec, numbers):
    # Its request_timeout_ms is how long it tries again, too.
    config = {"acks": {"0": 0, "1": 1}.get(acks, "all"), "enable_idempotence": acks == "idempotent"}
    producer = aiokafka.AIOKafkaProducer(bootstrap_servers=addr, compression_type=None if codec == "none" else codec, linger_ms=5,
                                         request_timeout_ms=120_000, retry_backoff_ms=20, **config)
    await producer.start()
    for chunk in contract.chunks(numbers):
        futures = [await producer.send(topic, contract.value(n), contract.key(n)) for n in chunk]
        for n, future in zip(chunk, futures):
            await future
            contract.say(n)
    await producer.stop()


async def poll(consumer, ended=None):
    while not (ended and ended.is_set()):
        for records in (await consumer.getmany(timeout_ms=50)).values():
            for r in records:
                contract.got(r.partition, r.offset, r.value)


@now
async def consume(addr, topic, partitions, since):
    consumer = aiokafka.AIOKafkaConsumer(bootstrap_servers=addr)
    await consumer.start()
    every = [aiokafka.TopicPartition(topic, p) for p in range(partitions)]
    consumer.assign(every)
    if since == -2:
        await consumer.seek_to_beginning(*every)
    else:
        for partition, found in (await consumer.offsets_for_times(dict.fromkeys(every, since))).items():
            consumer.seek(partition, found.offset)
    await poll(consumer)


@now
async def member(addr, topic, group, ended):
    consumer = aiokafka.AIOKafkaConsumer(topic, bootstrap_servers=addr, group_id=group, auto_offset_reset="earliest", heartbeat_interval_ms=200,
                                         retry_backoff_ms=20)
    await consumer.start()
    await poll(consumer, ended)
    await consumer.stop()


async def asked(addr, do):
    admin = AIOKafkaAdminClient(bootstrap_servers=addr)
    await admin.start()
    try:
        return await do(admin)
    finally:
        await admin.close()


def failed(errors):
    """Raises what an answer says of a topic or a resource."""
    for answer in errors:
        if any(isinstance(field, int) and field for field in answer[:2]):
            raise RuntimeError(answer)


@now
async def create(addr, topic, partitions, config):
    resp = await asked(addr, lambda a: a.create_topics([NewTopic(topic, partitions, 1, topic_configs=config)]))
    failed(resp.topic_errors)


@now
async def describe(addr, topic):
    [description] = await asked(addr, lambda a: a.describe_topics([topic]))
    return len(description["partitions"])


@now
async def configs(addr, topic):
    [resp] = await asked(addr, lambda a: a.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)]))
    [resource] = resp.resources
    return {entry[0]: entry[1] for entry in resource[4]}


@now
async def alter(addr, topic, name, value):
    for resp in await asked(addr, lambda a: a.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, {name: value})])):
        failed(resp.resources)


@now
async def delete(addr, topic):
    resp = await asked(addr, lambda a: a.delete_topics([topic]))
    failed(resp.topic_error_codes)


if __name__ == "__main__":
    contract.run(sys.modules[__name__])
