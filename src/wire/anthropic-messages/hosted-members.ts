/**
 * What a Messages request may ask the provider itself to keep or to run. It must not know who can.
 */
import { GatewayError, invalidRequest } from '../../core/errors.ts'
import type { HostedMembers } from '../dialect.ts'

export const hostedMembers: HostedMembers = {
  names: ['thread', 'container', 'mcp_servers'],
  isState: (name) => name === 'thread',
  refuse(name, message) {
    if (name !== 'thread') return invalidRequest(message, name, 'unsupported_parameter')
    // On these the published SDKs send the whole conversation by themselves
    // (https://github.com/anthropics/anthropic-sdk-typescript,
    // lib/internal/threads/ThreadState.ts).
    const details = { error_code: 'thread_unsupported_request', unsupported: [name] }
    return new GatewayError('invalid_request', message, {
      param: name,
      code: 'unsupported_parameter',
      details,
    })
  },
}
