// The contract of ../../doc.go for clients in JavaScript: run calls a client's functions.

export class Unable extends Error {}

export const key = n => String(n)
export const value = n => String(n).padStart(100, '0')
export const say = (...words) => process.stdout.write(words.join(' ') + '\n')
export const got = (partition, offset, value) => say(partition, offset, value)

/** Resolves when standard input ends. */
export function ended() {
  return new Promise(resolve => process.stdin.on('end', resolve).resume())
}

export function* chunks(from, to, size = 100) {
  for (let first = from; first < to; first += size) {
    yield Array.from({ length: Math.min(size, to - first) }, (_, i) => first + i)
  }
}

export async function run(client) {
  const [addr, verb, topic, ...rest] = process.argv.slice(2)
  const pair = s => [s.slice(0, s.indexOf('=')), s.slice(s.indexOf('=') + 1)]
  try {
    switch (verb) {
      case 'produce':
        await client.produce(addr, topic, rest[0], rest[1], Number(rest[2]), Number(rest[3]))
        break
      case 'consume':
        await client.consume(addr, topic, Number(rest[0]), Number(rest[1]))
        break
      case 'member':
        await client.member(addr, topic, rest[0], ended())
        break
      case 'create':
        await client.create(addr, topic, Number(rest[0]), ...pair(rest[1]))
        break
      case 'describe':
        say(await client.describe(addr, topic))
        break
      case 'configs':
        for (const [name, setting] of await client.configs(addr, topic)) say(`${name}=${setting}`)
        break
      case 'alter':
        await client.alter(addr, topic, ...pair(rest[0]))
        break
      case 'delete':
        await client.remove(addr, topic)
        break
      default:
        throw new Error(`unknown: ${verb}`)
    }
    process.stdout.write('', () => process.exit(0))
  } catch (err) {
    if (!(err instanceof Unable)) process.stderr.write(`${err.stack}\n`)
    process.exit(err instanceof Unable ? 3 : 1)
  }
}
