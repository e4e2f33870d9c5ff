// The one table of which folder under src/ may import which; scripts/check-layers.ts enforces it
// and docs/architecture.md prints it.

export const layers = {
  core: { may: [], does: 'nouns without I/O: ids, clock, secrets, usage, errors' },
  contract: {
    may: ['core'],
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
    does: 'the hot path: its stages and the ports they need',
  },
  store: { may: ['core'], does: 'Kysely schema, migrations, one file per aggregate' },
  ledger: {
    may: ['core', 'gateway', 'store'],
    does: 'journal on disk and its shipping into the store',
  },
  cluster: {
    may: ['core', 'config', 'gateway', 'store'],
    does: 'what nodes share: the change feed, leases, acknowledged revocations, the Redis client and store',
  },
  limits: {
    may: ['core', 'gateway', 'store', 'cluster', 'snapshots'],
    does: 'rates, places, quotas and budgets: of one node, and of many',
  },
  snapshots: {
    may: ['core', 'gateway', 'store', 'cluster'],
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
    may: ['core', 'http', 'gateway'],
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
    may: ['core'],
    does: 'the provider sandbox: a real HTTP server that plays every dialect',
  },
  cli: {
    may: ['core', 'contract', 'config', 'sandbox'],
    does: 'the command line; reaches the server over HTTP or the local store through what main.ts hands it',
  },
  run: {
    may: [
      'core',
      'http',
      'wire',
      'providers',
      'upstream',
      'gateway',
      'store',
      'ledger',
      'cluster',
      'limits',
      'snapshots',
      'identity',
      'webhooks',
      'config',
      'telemetry',
      'admin',
      'doors',
      'dashboard',
      'cli',
      'sandbox',
      'doctor',
    ],
    does: 'the composition root, the commands, signals, and several processes on one port',
  },
}
/**
 * The one file that stands in no folder: where the program starts. It may import every folder;
 * nothing imports it.
 */
export const roots = ['main.ts']
