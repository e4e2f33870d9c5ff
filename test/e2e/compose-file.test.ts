/**
 * compose.yaml: what it mounts and names is there, secrets have no defaults, and nothing but nginx
 * is open to the world.
 */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import { SETTINGS } from '../../src/config/setting-table.ts'
import { readSettings } from '../../src/config/settings.ts'
import { AddressGuard } from '../../src/net/address-guard.ts'
import { TrustedHosts } from '../../src/net/trusted-hosts.ts'

const REPOSITORY = resolve(import.meta.dir, '../..')

interface Service {
  readonly image: string
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly networks: readonly string[]
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly extra_hosts?: readonly string[]
  readonly stop_grace_period?: string
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: object
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>
  readonly volumes: Readonly<Record<string, object>>
}

function read(path: string): string {
  return readFileSync(join(REPOSITORY, path), 'utf8')
}

const text = read('compose.yaml')
const compose = parse(text, { merge: true }) as Compose
const example = read('.env.example')
const nodes = Object.entries(compose.services).filter(([name]) => name.startsWith('node-'))

test('the two nodes are equal, each with a separate disk', () => {
  expect(nodes.map(([name]) => name)).toEqual(['node-1', 'node-2'])
  const [first, second] = nodes.map(([, node]) => ({ ...node, volumes: [] }))
  expect(first).toEqual(second ?? ({} as Service & { volumes: never[] }))
  for (const [name, node] of nodes) expect(node.volumes).toEqual([`${name}:/data`])
})

test('every node is in the configuration of nginx', () => {
  const upstreams = [...read('deploy/nginx.conf').matchAll(/server ([\w-]+):4000/g)].map(
    ([, name]) => name,
  )
  expect(upstreams).toEqual(nodes.map(([name]) => name))
})

test('nginx alone has a published port, on loopback by default', () => {
  const open = Object.entries(compose.services).filter(([, { ports }]) => ports !== undefined)
  expect(open.map(([name]) => name)).toEqual(['nginx'])
  expect(compose.services.nginx?.ports).toEqual([
    expect.stringMatching(/^\$\{GATEHOUSE_BIND:-127\.0\.0\.1:8080\}:8080$/),
  ])
  expect(compose.networks.store?.internal).toBeTrue()
  for (const name of ['postgres', 'valkey'])
    expect(compose.services[name]?.networks).toEqual(['store'])
})

test('no secret has a default, and each required one is empty in .env.example', () => {
  const used = [...text.matchAll(/\$\{(\w+)(:[-?])?/g)]
  expect(used.length).toBeGreaterThan(6)
  for (const [, name = '', kind] of used) {
    const isSecret = /PASSWORD|KEY$|TOKEN|URL/.test(name)
    if (isSecret) expect({ name, kind }).toEqual({ name, kind: ':?' })
    expect(example).toMatch(new RegExp(`^(# )?${name}=`, 'm'))
  }
  for (const [, name = '', value = ''] of example.matchAll(/^(\w+)=(.*)$/gm))
    expect({ name, value }).toEqual({ name, value: '' })
})

test('its variables are settings, and valid once the secrets are filled in', () => {
  for (const [, node] of nodes) {
    for (const name of Object.keys(node.environment ?? {}))
      expect(Object.keys(SETTINGS)).toContain(name)
    const filled = Object.fromEntries(
      Object.entries(node.environment ?? {}).map(([name, value]) => [name, fill(value)]),
    )
    const settings = readSettings(filled)
    expect(settings.unknownVariables).toEqual([])
    expect(settings.database).toBeDefined()
    expect(settings.redis?.password).toBeDefined()
    expect(settings.telemetry.metrics?.port).toBe(9464)
    const graceMs = Number.parseInt(node.stop_grace_period ?? '', 10) * 1_000
    expect(graceMs).toBeGreaterThan(settings.shutdownTimeoutMs + settings.drainDelayMs + 5_000)
  }
})

test('the nodes reach servers on the machine itself, once the operator has opened them', async () => {
  for (const [, node] of nodes)
    expect(node.extra_hosts).toEqual(['host.docker.internal:host-gateway'])
  const address = 'http://host.docker.internal:11434/v1'
  const resolve = async () => ['172.17.0.1']
  const check = (environment: Readonly<Record<string, string>>) => {
    const trustedHosts = new TrustedHosts(readSettings(environment).trustedHosts)
    return new AddressGuard({ trustedHosts, resolve }).check(address)
  }
  await expect(check({})).rejects.toThrow('GATEHOUSE_TRUSTED_HOSTS')
  // The comments of both files give it.
  const [, trusted = ''] = /GATEHOUSE_TRUSTED_HOSTS=(\S+?)[,\n]/.exec(text) ?? []
  expect(example).toContain(`GATEHOUSE_TRUSTED_HOSTS=${trusted}`)
  expect(await check({ GATEHOUSE_TRUSTED_HOSTS: trusted })).toBe('allowed')
})

/** The comments of .env.example give the same instructions. */
function fill(value: string): string {
  const hex = 'ab'.repeat(32)
  return value
    .replace(/\$\{GATEHOUSE_BOOTSTRAP_KEY:[^}]*\}/, `sk-svc-${hex}`)
    .replace(/\$\{GATEHOUSE_PUBLIC_URL:[^}]*\}/, 'https://gatehouse.example')
    .replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')
    .replaceAll(/\$\{\w+:\?[^}]*\}/g, hex)
}

test('each service has minimal rights, and is waited for until it is healthy', () => {
  for (const [name, service] of Object.entries(compose.services)) {
    expect({ name, options: service.security_opt }).toEqual({
      name,
      options: ['no-new-privileges:true'],
    })
    for (const other of Object.values(service.depends_on ?? {}))
      expect(other.condition).toBe('service_healthy')
    for (const other of Object.keys(service.depends_on ?? {})) {
      // The image of the nodes has its own check.
      if (!other.startsWith('node-')) expect(compose.services[other]?.healthcheck).toBeDefined()
    }
    for (const volume of service.volumes ?? []) {
      const [source = ''] = volume.split(':')
      if (source.startsWith('./')) expect(existsSync(join(REPOSITORY, source))).toBeTrue()
      else expect(Object.keys(compose.volumes)).toContain(source)
    }
  }
  for (const [, node] of nodes) expect(node).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
})
