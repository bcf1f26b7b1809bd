// @confluentinc/kafka-javascript: librdkafka, by its interface that is like kafkajs's.
import confluent from '@confluentinc/kafka-javascript'
import { Unable, chunks, got, key, run, say, value } from './contract.mjs'

const { Kafka } = confluent.KafkaJS
const kafka = addr => new Kafka({ 'bootstrap.servers': addr, 'reconnect.backoff.max.ms': 100, 'log_level': 0 })

// It is compiled without zstd where that one's headers are missing.
const zstd = confluent.features.includes('zstd')

async function produce(addr, topic, acks, codec, from, to) {
  if (codec === 'zstd' && !zstd) throw new Unable()
  const idempotent = acks === 'idempotent'
  const producer = kafka(addr).producer({
    'acks': { 0: 0, 1: 1 }[acks] ?? -1, 'enable.idempotence': idempotent, 'compression.codec': codec, 'linger.ms': 5,
    'message.timeout.ms': 3_600_000, 'retry.backoff.ms': 20
  })
  await producer.connect()
  for (const numbers of chunks(from, to)) {
    await producer.send({ topic, messages: numbers.map(n => ({ key: key(n), value: value(n) })) })
    numbers.forEach(n => say(n))
  }
  await producer.disconnect()
}

const eachMessage = async ({ partition, message }) => got(partition, message.offset, message.value)

async function consume(addr, topic, partitions, since) {
  if (since !== -2 || !zstd) throw new Unable()
  const consumer = kafka(addr).consumer({ 'group.id': `alone-${process.pid}`, 'auto.offset.reset': 'earliest', 'enable.auto.commit': false })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic] })
  await consumer.run({ eachMessage })
  await new Promise(() => setInterval(() => {}, 60_000))
}

async function member(addr, topic, group, ended) {
  const consumer = kafka(addr).consumer({ 'group.id': group, 'auto.offset.reset': 'earliest', 'heartbeat.interval.ms': 200 })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic] })
  await consumer.run({ eachMessage })
  await ended
  await consumer.disconnect()
}

async function asked(addr, call) {
  const admin = kafka(addr).admin()
  await admin.connect()
  try {
    return await call(admin)
  } finally {
    await admin.disconnect()
  }
}

const create = (addr, topic, numPartitions, name, value) =>
  asked(addr, a => a.createTopics({ topics: [{ topic, numPartitions, replicationFactor: 1, configEntries: [{ name, value }] }] }))
const describe = async (addr, topic) => (await asked(addr, a => a.fetchTopicMetadata({ topics: [topic] })))[0].partitions.length
const unable = async () => { throw new Unable() }
const remove = (addr, topic) => asked(addr, a => a.deleteTopics({ topics: [topic] }))

run({ produce, consume, member, create, describe, configs: unable, alter: unable, remove })
