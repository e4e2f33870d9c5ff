/**
 * The errors of core/ for the dashboard, which imports the contract alone (docs/decisions/0111).
 * Apart from words.ts, because fewer pages need them.
 */
// biome-ignore lint/performance/noBarrelFile: the dashboard's door to core/errors.ts
export { ERROR_KINDS, ERROR_POLICY, type ErrorKind } from '../core/errors.ts'
