/** The ways in which an exchange with an upstream can fail, independent of the HTTP client. */

export type UpstreamFailureType =
  | 'connect_failed'
  | 'connect_timeout'
  | 'first_byte_timeout'
  | 'idle_timeout'
  | 'total_timeout'
  | 'connection_lost'
  | 'malformed_answer'
  | 'cancelled'
  | 'shutdown'
  | 'revoked'

export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure'
  readonly type: UpstreamFailureType

  constructor(type: UpstreamFailureType, message: string, options?: ErrorOptions) {
    super(message, options)
    this.type = type
  }
}
