/**
 * Declares Bun for the dashboard's type check, because the contract imports core/ids.ts, whose ids
 * the server creates. No page calls it.
 */
declare const Bun: {
  readonly randomUUIDv7: (encoding: 'buffer') => { readonly toString: (encoding: 'hex') => string }
}
