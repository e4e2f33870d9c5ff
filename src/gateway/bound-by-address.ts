/** Limits how many requests each client address may have open at once. */
import { networkOf } from '../core/http.ts'
import { clientAddressOf } from '../net/client-address.ts'
import type { Handle } from '../net/listen.ts'
import type { HttpRequest } from '../net/messages.ts'
import { progressOf } from '../net/streamed-answer.ts'
import { envelopeOf, pathOf, refuseRoute } from './data-plane.ts'

export interface AddressBound {
  readonly requests: number | undefined
  readonly clientAddressHeader: string | undefined
}

/** A request is open until the last byte of its answer. */
export function boundByAddress(
  handle: Handle,
  { requests: most, clientAddressHeader }: AddressBound,
): Handle {
  if (most === undefined) return handle
  const open = new Map<string, number>()
  return async (request, addressOf) => {
    const network = networkOf(clientAddressOf(request, clientAddressHeader, addressOf) ?? 'unknown')
    const count = open.get(network) ?? 0
    if (count >= most) return refuse(request, most)
    open.set(network, count + 1)
    let isOpen = true
    const leave = () => {
      if (!isOpen) return
      isOpen = false
      const left = (open.get(network) ?? 1) - 1
      if (left === 0) open.delete(network)
      else open.set(network, left)
    }
    try {
      const answer = await handle(request, addressOf)
      const progress = progressOf(answer)
      if (progress === undefined) leave()
      else progress.whenOver(leave)
      return answer
    } catch (thrown) {
      leave()
      throw thrown
    }
  }
}

function refuse(request: HttpRequest, most: number): Response {
  const message = `Your address has reached its limit of ${most} open requests.`
  const headers = { 'retry-after': '1', connection: 'close' }
  return refuseRoute(
    'rate_limited',
    envelopeOf(pathOf(request.url), request.headers),
    message,
    headers,
  )
}
