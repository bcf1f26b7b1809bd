// kafkajs. It has no assignment: to consume is to be alone in a group.
import kafkajs from 'kafkajs'
import lz4 from 'kafkajs-lz4'
import snappy from 'kafkajs-snappy'
import zlib from 'node:zlib'
import { Unable, chunks, got, key, run, say, value } from './contract.mjs'

const { CompressionCodecs, CompressionTypes, ConfigResourceTypes, Kafka, logLevel } = kafkajs
CompressionCodecs[CompressionTypes.Snappy] = snappy
CompressionCodecs[CompressionTypes.LZ4] = new lz4().codec
const zstd = Boolean(zlib.zstdCompressSync)
if (zstd) {
  CompressionCodecs[CompressionTypes.ZSTD] = () => ({
    compress: async encoder => zlib.zstdCompressSync(encoder.buffer),
    decompress: async buffer => zlib.zstdDecompressSync(buffer)
  })
}

const retry = { retries: 10_000, initialRetryTime: 20, maxRetryTime: 100 }
const kafka = addr => new Kafka({ brokers: [addr], logLevel: logLevel.NOTHING, retry })

async function produce(addr, topic, acks, codec, from, to) {
  if (codec === 'zstd' && !zstd) throw new Unable()
  const idempotent = acks === 'idempotent'
  const producer = kafka(addr).producer({ idempotent, maxInFlightRequests: 1, retry })
  await producer.connect()
  const compression = { none: 0, gzip: 1, snappy: 2, lz4: 3, zstd: 4 }[codec]
  for (const numbers of chunks(from, to)) {
    const messages = numbers.map(n => ({ key: key(n), value: value(n) }))
    await producer.send({ topic, messages, compression, acks: { 0: 0, 1: 1 }[acks] ?? -1 })
    numbers.forEach(n => say(n))
  }
  await producer.disconnect()
}

const eachMessage = async ({ partition, message }) => got(partition, message.offset, message.value)

async function consume(addr, topic, partitions, since) {
  if (since !== -2 || !zstd) throw new Unable()
  const consumer = kafka(addr).consumer({ groupId: `alone-${process.pid}` })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({ autoCommit: false, eachMessage })
  await new Promise(() => setInterval(() => {}, 60_000))
}

async function member(addr, topic, groupId, ended) {
  const consumer = kafka(addr).consumer({ groupId, heartbeatInterval: 200, maxWaitTimeInMs: 100, retry })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({ autoCommitInterval: 100, eachMessage })
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
const describe = async (addr, topic) => (await asked(addr, a => a.fetchTopicMetadata({ topics: [topic] }))).topics[0].partitions.length
const resource = (name, more) => ({ resources: [{ type: ConfigResourceTypes.TOPIC, name, ...more }] })
const configs = async (addr, topic) =>
  (await asked(addr, a => a.describeConfigs(resource(topic)))).resources[0].configEntries.map(e => [e.configName, e.configValue])
const alter = (addr, topic, name, value) => asked(addr, a => a.alterConfigs(resource(topic, { configEntries: [{ name, value }] })))
const remove = (addr, topic) => asked(addr, a => a.deleteTopics({ topics: [topic] }))

run({ produce, consume, member, create, describe, configs, alter, remove })
