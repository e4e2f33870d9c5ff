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

  net: {
    may: ['core'],
    does: 'HTTP/1.1 both ways over sockets: server, client, deadlines, address guard; knows no LLM',
  },
  gateway: {
    may: ['core', 'net', 'wire', 'providers'],
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
    may: ['core', 'net', 'config', 'gateway'],
    does: 'logs, metrics and traces: what operators see of calls, and never what is in them',
  },
  admin: {
    may: [
      'core',
      'net',
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
      'net',
      'wire',
      'providers',
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
