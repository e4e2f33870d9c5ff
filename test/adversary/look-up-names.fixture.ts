/**
 * Looks up names of a server that never answers, then one of this machine, and says which was found
 * first. Started by its test, where that server is the only one.
 */
import { AddressGuard } from '../../src/net/address-guard.ts'
import { TrustedHosts } from '../../src/net/trusted-hosts.ts'

const [hostname = '', count] = process.argv.slice(2)
const silent = await Bun.udpSocket({ hostname, port: 53, socket: { data() {} } })
const guard = new AddressGuard({
  trustedHosts: new TrustedHosts(['localhost', '*.example.test']),
  resolveTimeoutMs: 60_000,
})
const names = Array.from({ length: Number(count) }, (_, index) => `silent-${index}.example.test`)
const first = await Promise.race(
  [...names, 'localhost'].map(async (name) => {
    await guard.resolve(`http://${name}:1`).catch(() => {})
    return name
  }),
)
silent.close()
process.stdout.write(first, () => process.exit())
