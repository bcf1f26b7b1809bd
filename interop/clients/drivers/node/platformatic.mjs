// @platformatic/kafka. It consumes as a member of a group, alone where it is to seek.
import { Admin, Consumer, MessagesStreamModes, Producer, stringDeserializers, stringSerializers } from '@platformatic/kafka'
import zlib from 'node:zlib'
import { Unable, chunks, got, key, run, say, value } from './contract.mjs'

const zstd = Boolean(zlib.zstdCompressSync)
const base = addr => ({ clientId: 'matrix', bootstrapBrokers: [addr], retries: 10_000, retryDelay: 50 })

async function produce(addr, topic, acks, codec, from, to) {
  if (codec === 'zstd' && !zstd) throw new Unable()
  const idempotent = acks === 'idempotent'
  const producer = new Producer({ ...base(addr), serializers: stringSerializers, idempotent })
  for (const numbers of chunks(from, to)) {
    const messages = numbers.map(n => ({ topic, key: key(n), value: value(n) }))
    await producer.send({ messages, acks: { 0: 0, 1: 1 }[acks] ?? -1, compression: codec })
    numbers.forEach(n => say(n))
  }
  await producer.close()
}

function consumer(addr, groupId) {
  return new Consumer({ ...base(addr), groupId, deserializers: stringDeserializers, heartbeatInterval: 200, maxWaitTime: 100 })
}

async function consume(addr, topic, partitions, since) {
  if (!zstd) throw new Unable()
  const c = consumer(addr, `alone-${process.pid}`)
  const offsets = []
  const found = await c.listOffsets({ topics: [topic], timestamp: BigInt(since) })
  found.get(topic).forEach((offset, partition) => offsets.push({ topic, partition, offset }))
  const stream = await c.consume({ topics: [topic], mode: MessagesStreamModes.MANUAL, offsets, autocommit: false })
  for await (const m of stream) got(m.partition, m.offset, m.value)
}

async function member(addr, topic, group, ended) {
  const c = consumer(addr, group)
  const stream = await c.consume({ topics: [topic], mode: MessagesStreamModes.COMMITTED, fallbackMode: 'earliest', autocommit: true })
  stream.on('data', m => got(m.partition, m.offset, m.value))
  await ended
  await stream.close()
  await c.close(true)
}

async function asked(addr, call) {
  const admin = new Admin(base(addr))
  try {
    return await call(admin)
  } finally {
    await admin.close()
  }
}

const create = (addr, topic, partitions, name, value) =>
  asked(addr, a => a.createTopics({ topics: [topic], partitions, replicas: 1, configs: [{ name, value }] }))
const describe = async (addr, topic) => (await asked(addr, a => a.metadata({ topics: [topic] }))).topics.get(topic).partitionsCount
const TOPIC = 2
const configs = async (addr, topic) => {
  const [resource] = await asked(addr, a => a.describeConfigs({ resources: [{ resourceType: TOPIC, resourceName: topic }] }))
  return resource.configs.map(c => [c.name, c.value])
}
const alter = (addr, topic, name, value) =>
  asked(addr, a =>
    a.incrementalAlterConfigs({ resources: [{ resourceType: TOPIC, resourceName: topic, configs: [{ name, value, configOperation: 0 }] }] }))
const remove = (addr, topic) => asked(addr, a => a.deleteTopics({ topics: [topic] }))

run({ produce, consume, member, create, describe, configs, alter, remove })
