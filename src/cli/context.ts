/**
 * The parts of the rest of the house that the command line may use; create-cli-context.ts makes it.
 * Knows no command.
 */
import type { Finding } from '../core/finding.ts'
import type { Terminal } from './terminal.ts'

/** The gateway's own HTTP interface, wherever it runs. */
export type SendRequest = (request: Request) => Promise<Response>

/** Works on the local data folder, in this very process. */
export interface OnLocalFolder {
  /** The folder, where there was none before. */
  readonly madeFolder?: string | undefined
}

/** A gateway in this very process, on the local data folder. */
export interface LocalGateway extends OnLocalFolder {
  readonly send: SendRequest
  /** Opens the interface for as long as the process lives. */
  readonly apiKey: string
  close(): Promise<void>
}

/** The users of the local data folder, whether a server runs on it or not. */
export interface LocalUsers extends OnLocalFolder {
  list(): Promise<readonly LocalUser[]>
  /** Into the first account. The token and the link are shown once. */
  invite(email: string): Promise<LocalInvitation>
  /** `problem` follows the words "the password". */
  resetPassword(
    email: string,
    password: string,
  ): Promise<
    | { readonly type: 'done' }
    | { readonly type: 'unknown' }
    | { readonly type: 'weak'; readonly problem: string }
  >
  close(): Promise<void>
}

export interface LocalUser {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly role: string
  readonly accountId: string
  readonly createdAt: string
}

export interface LocalInvitation {
  readonly id: string
  readonly email: string
  readonly expiresAt: string
  readonly token: string
  /** null: where browsers reach the gateway is not known. */
  readonly link: string | null
}

export interface ServeFlags {
  readonly sandbox?: boolean
  readonly host?: string
  readonly port?: number
  readonly dataDir?: string
  readonly workers?: string
  /** The configuration file was removed on purpose. */
  readonly forgetConfig?: boolean
  /** This process is the worker of that index; only a supervisor says so. */
  readonly worker?: number
  /** And the first to start. */
  readonly firstWorker?: boolean
}

/** The count of encrypted texts under each master key. Ids name keys without showing them. */
export interface MasterKeyStatus {
  /** `GATEHOUSE_MASTER_KEY`, or the path of the file. */
  readonly source: string
  /** Null if it does not exist yet. */
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

/**
 * `rotated`: there is a new key. `finished`: an earlier rotation was. `nothing`: there was nothing
 * to do.
 */
export interface MasterKeyRotation extends MasterKeyStatus {
  readonly outcome: 'rotated' | 'finished' | 'nothing'
  /** How many credentials were encrypted anew. */
  readonly encryptedAnew: number
}

/** How far `store copy` is: so many rows of this table. */
export interface CopyProgress {
  readonly table: string
  readonly rows: number
}

/** The result of `store copy`. */
export interface CopiedStore {
  /** The stores' addresses, never with a password. */
  readonly from: string
  readonly to: string
  readonly tables: readonly CopyProgress[]
}

/** The result of `store adopt`. */
export interface AdoptedStore {
  /** Never with a password. */
  readonly store: string
  /** `adoptable`: the dry run would adopt it. */
  readonly state: 'adopted' | 'already adopted' | 'adoptable'
}

/** The result of `store accept`. */
export interface AcceptedStore {
  /** Never with a password. */
  readonly store: string
  /** The parts that did not fit, a sentence each; none: all belonged together. */
  readonly accepted: readonly string[]
  /** A sentence on what could not be asked; null: all was. */
  readonly unasked: string | null
}

export interface CliContext {
  readonly version: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The folder that relative paths of a command line start from. */
  readonly folder: string
  readonly terminal: Terminal
  readonly serve: (flags: ServeFlags) => Promise<void>
  readonly openLocal: () => Promise<LocalGateway>
  readonly openLocalUsers: () => Promise<LocalUsers>
  /** On the local data folder, also while a server uses it. */
  readonly masterKey: {
    readonly status: () => Promise<MasterKeyStatus>
    readonly rotate: () => Promise<MasterKeyRotation>
  }
  /** From the local data folder, which no server may be using. */
  readonly copyStore: (onProgress: (progress: CopyProgress) => void) => Promise<CopiedStore>
  /** For the local data folder, which no server may use meanwhile. */
  readonly acceptStore: () => Promise<AcceptedStore>
  /** Of the local data folder, which no server may be using unless it is a dry run. */
  readonly adoptStore: (isDryRun: boolean) => Promise<AdoptedStore>
  /** The server that the environment names and this machine; changes neither. */
  readonly examine: () => Promise<readonly Finding[]>
}
