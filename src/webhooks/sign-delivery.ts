/** How a delivery proves whom it is from. Knows neither HTTP nor what is in it. */
import { createHmac } from 'node:crypto'
import type { Secret } from '../core/secret.ts'

/**
 * `t=<seconds>,v1=<hex>`: HMAC-SHA256 of `<seconds>.<body>`. The time is signed with it, so that a
 * receiver can refuse what somebody has recorded and sends again later.
 */
export function signDelivery(body: string, secret: Secret, atMs: number): string {
  const seconds = Math.floor(atMs / 1000)
  const mac = createHmac('sha256', secret.reveal()).update(`${seconds}.${body}`).digest('hex')
  return `t=${seconds},v1=${mac}`
}
