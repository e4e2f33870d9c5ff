// The one table of which folder under src/ may import which; scripts/check-layers.ts enforces it
// and docs/architecture.md prints it.

export const layers = {
  core: { may: [], does: 'nouns without I/O: ids, clock, secrets, usage, errors' },
  contract: {
    may: [],
    does: 'zod schemas of the control-plane API: the only src folder web/ may import',
  },
  wire: { may: ['core'], does: 'dialects: what is on the wire, as pure synchronous steps' },
  providers: {
    may: ['core', 'wire'],
    does: 'upstreams as data: address, key header, dialects, quirks',
  },
  http: {
    may: [],
    does: 'HTTP/1.1 on the wire: messages out of bytes, bytes at the pace of a socket; knows no LLM',
  },
  upstream: {
    may: ['core', 'http'],
    does: 'HTTP out: deadlines, abort, connection limits; knows no LLM',
  },
  gateway: {
    may: ['core', 'http', 'wire', 'providers', 'upstream'],
    does: 'the hot path: seven stages and the ports they need',
  },
  store: { may: ['core'], does: 'Kysely schema, migrations, one file per aggregate' },
  ledger: {
    may: ['core', 'gateway', 'store'],
    does: 'journal on disk and its shipping into the store',
  },
  redis: {
    may: ['core', 'config'],
    does: 'the Redis that nodes share: its client, its store of short facts, whose it is',
  },
  limits: {
    may: ['core', 'gateway', 'store', 'redis', 'snapshots'],
    does: 'rates, places, quotas and budgets: of one node, and of many',
  },
  revocation: {
    may: ['core', 'gateway', 'store', 'redis'],
    does: 'how nodes hear of changes, until when they may serve without news, when a change is in force everywhere',
  },
  snapshots: {
    may: ['core', 'gateway', 'store', 'revocation'],
    does: 'what a node keeps in memory of accounts: keys, gates, provider keys, owned models',
  },
  identity: {
    may: ['core', 'store'],
    does: 'users: sign-in and sessions by better-auth, throttling, protection of cookies; loaded when first needed',
  },
  webhooks: {
    may: ['core', 'store', 'snapshots'],
    does: 'events for customers: their queue, signed deliveries',
  },
  config: {
    may: ['core', 'contract', 'providers'],
    does: 'settings from the environment and the configuration file, checked once',
  },
  telemetry: {
    may: ['core', 'http', 'config', 'gateway'],
    does: 'logs, metrics and traces: what operators see of calls, and never what is in them',
  },
  admin: {
    may: [
      'core',
      'contract',
      'wire',
      'providers',
      'store',
      'limits',
      'snapshots',
      'gateway',
      'identity',
      'webhooks',
    ],
    does: 'control-plane HTTP, one file per resource',
  },
  doors: {
    may: ['core', 'http', 'gateway', 'process'],
    does: 'HTTP in: the server, its connections, how many requests each address may have open',
  },
  dashboard: {
    may: [],
    does: 'hands out the built pages of web/; must not know what is in them',
  },
  doctor: {
    may: ['core', 'config', 'providers', 'store'],
    does: 'what `gatehouse doctor` examines: settings, server, providers, data folder',
  },
  sandbox: {
    may: [],
    does: 'the provider sandbox: a real HTTP server that plays every dialect',
  },
  workers: {
    may: ['core', 'ledger', 'store', 'telemetry'],
    does: 'several processes that serve on one port: their supervisor, its line to them, their folders',
  },
  cli: {
    may: ['core', 'contract', 'config', 'sandbox'],
    does: 'the command line; reaches the server over HTTP or the local store through what main.ts hands it',
  },
  process: {
    may: [],
    does: 'what the process asks of Linux: its start, its signals, its listening socket',
  },
  compose: {
    may: [
      'core',
      'http',
      'wire',
      'providers',
      'upstream',
      'gateway',
      'store',
      'ledger',
      'redis',
      'limits',
      'revocation',
      'snapshots',
      'identity',
      'webhooks',
      'config',
      'telemetry',
      'admin',
      'doors',
      'dashboard',
      'workers',
      'process',
    ],
    does: 'the composition root: constructs the whole gateway, where ports meet what satisfies them',
  },
  commands: {
    may: [
      'core',
      'http',
      'providers',
      'store',
      'redis',
      'snapshots',
      'identity',
      'config',
      'telemetry',
      'doors',
      'workers',
      'process',
      'compose',
      'cli',
      'sandbox',
      'doctor',
    ],
    does: 'what a command does: serve, workers, copy a store, rotate the master key, local gateway and users',
  },
}
/**
 * The one file that stands in no folder: where the program starts. It may import every folder;
 * nothing imports it.
 */
export const roots = ['main.ts']
