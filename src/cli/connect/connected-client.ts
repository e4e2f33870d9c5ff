import type { Client } from '../client.ts'

export interface Connection {
  readonly base: string
  readonly gate: string
  readonly smallGate: string
  readonly tokenFile: string
  /** Of the gate and the small gate, by their names. */
  readonly limits: Readonly<Record<string, GateLimits>>
  /** A file of the client that `createFile` made. */
  readonly ownFile?: string | undefined
}

/** In tokens. Undefined: not known. */
export interface GateLimits {
  readonly context: number | undefined
  readonly output: number | undefined
}

export interface OwnFile {
  readonly file: string
  readonly text: string
}

export type Environment = Readonly<Record<string, string | undefined>>

export interface TestCall {
  readonly operation: string
  readonly member: string
  readonly body: object
}

export interface ConnectedClient {
  readonly title: string
  readonly file: (environment: Environment) => string
  /** Whether the client calls another gate for small tasks, such as titles. */
  readonly hasSmallGate: boolean
  readonly precedence: readonly string[]
  /** The context that the client assumes for a gate without a known one, where that may be wrong. */
  readonly assumedContext?: string
  readonly write: (text: string, connection: Connection, file: string) => string
  /**
   * The text without the gateway's settings, with the settings of `former` instead.
   * @throws CliError when the text cannot be changed without a loss
   */
  readonly restore: (text: string, former: string, file: string) => string
  /** Makes a further file for the client, which is removed by undo. Undefined: no such file. */
  readonly createFile?: (
    environment: Environment,
    client: Client,
    named: { readonly gate: string; readonly file: string },
  ) => Promise<OwnFile | undefined>
  readonly ownFileOf?: (file: string) => string
  readonly testCall: (gate: string) => TestCall
  readonly start: (file: string) => string
}
