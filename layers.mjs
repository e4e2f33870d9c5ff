// The one table of which folder under src/ may import which; scripts/check-layers.ts enforces it and docs/architecture.md prints it.
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
  upstream: { may: ['core'], does: 'HTTP out: deadlines, abort, connection limits; knows no LLM' },
  gateway: {
    may: ['core', 'wire', 'providers', 'upstream'],
    does: 'the hot path: seven stages and the ports they need',
  },
  store: { may: ['core', 'gateway'], does: 'Kysely schema, migrations, one file per aggregate' },
  ledger: {
    may: ['core', 'gateway', 'store'],
    does: 'journal on disk and its shipping into the store',
  },
  cluster: {
    may: ['core', 'gateway', 'store'],
    does: 'what nodes share: key and gate snapshots, limits',
  },
  identity: {
    may: ['core', 'store'],
    does: 'users: sign-in and sessions by better-auth, throttling, protection of cookies; loaded when first needed',
  },
  webhooks: {
    may: ['core', 'store'],
    does: 'events for customers: what is told, the queue, signed deliveries',
  },
  config: {
    may: ['core', 'contract', 'providers'],
    does: 'settings from the environment and the configuration file, checked once',
  },
  telemetry: {
    may: ['core', 'gateway'],
    does: 'logs, metrics and traces: what operators see of calls, and never what is in them',
  },
  admin: {
    may: [
      'core',
      'contract',
      'wire',
      'providers',
      'store',
      'cluster',
      'gateway',
      'identity',
      'webhooks',
    ],
    does: 'control-plane HTTP, one file per resource',
  },
  doors: {
    may: ['core', 'gateway'],
    does: 'connections of clients: how long they are kept, how many requests each may have open',
  },
  dashboard: {
    may: ['core'],
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
  workers: {
    may: ['core', 'ledger', 'store', 'telemetry'],
    does: 'several processes that serve on one port: their supervisor, its line to them, their folders',
  },
  cli: {
    may: ['core', 'contract', 'config', 'sandbox'],
    does: 'the command line; reaches the server over HTTP or the local store through what main.ts hands it',
  },
}
// The composition root: these files join everything and may import every folder; no folder imports them.
export const roots = [
  'main.ts',
  'create-cli-context.ts',
  'compose.ts',
  'server.ts',
  'serve.ts',
  'serve-from-flags.ts',
  'serve-workers.ts',
  'welcome.ts',
  'compose-control-plane.ts',
  'compose-installation.ts',
  'compose-ledger.ts',
  'compose-limits.ts',
  'compose-nodes.ts',
  'compose-state.ts',
  'compose-webhooks.ts',
  'open-local-gateway.ts',
  'open-local-users.ts',
  'rotate-master-key.ts',
  'copy-local-store.ts',
  'accept-local-store.ts',
  'prepare-process.ts',
  'stop-accepting.ts',
  'hear-signals.ts',
  'reload-configuration.ts',
]
