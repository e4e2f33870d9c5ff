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

/** What is encrypted under which master key. Ids name keys without showing them. */
export interface MasterKeyStatus {
  /** `GATEHOUSE_MASTER_KEY`, or the path of the file. */
  readonly source: string
  /** Null: there is none yet. */
  readonly currentId: string | null
  readonly previousIds: readonly string[]
  readonly tables: readonly {
    readonly table: string
    readonly current: number
    readonly previous: number
    /** Damaged, of another row, or under a master key that is not here. */
    readonly unopened: number
  }[]
}

/** `rotated`: there is a new key. `finished`: an earlier rotation was. `nothing`: there was nothing to do. */
export interface MasterKeyRotation extends MasterKeyStatus {
  readonly outcome: 'rotated' | 'finished' | 'nothing'
  /** How many credentials were encrypted anew. */
  readonly encryptedAnew: number
}

export interface CliContext {
  readonly version: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly serve: (flags: ServeFlags) => Promise<void>
  readonly openLocal: () => Promise<LocalGateway>
  /** On the local data folder, also while a server uses it. */
  readonly masterKey: {
    readonly status: () => Promise<MasterKeyStatus>
    readonly rotate: () => Promise<MasterKeyRotation>
  }
}
