/**
 * Declares Bun for the type check of the dashboard: the contract imports core/ids.ts, whose ids are
 * made by the server. No page calls it.
 */
declare const Bun: {
  readonly randomUUIDv7: (encoding: 'buffer') => { readonly toString: (encoding: 'hex') => string }
}
