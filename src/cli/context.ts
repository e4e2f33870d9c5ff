/** What the command line may use of the rest of the house; main.ts hands it in. Knows no command. */

/** The gateway's own HTTP interface, wherever it runs. */
export type SendRequest = (request: Request) => Promise<Response>

/** A gateway in this very process, on the local data folder. */
export interface LocalGateway {
  readonly send: SendRequest
  /** Opens the interface for as long as the process lives. */
  readonly apiKey: string
  close(): Promise<void>
}

export interface ServeFlags {
  readonly sandbox?: boolean
  readonly host?: string
  readonly port?: number
  readonly dataDir?: string
}

export interface CliContext {
  readonly version: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly serve: (flags: ServeFlags) => Promise<void>
  readonly openLocal: () => Promise<LocalGateway>
}
