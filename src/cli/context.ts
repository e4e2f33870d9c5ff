/**
 * The interface through which the command line uses other rooms; create-cli-context.ts implements
 * it. Must not know commands.
 */
import type { Finding } from '../core/finding.ts'
import type { Terminal } from './terminal.ts'

/** The gateway's HTTP interface, in this process or elsewhere. */
export type SendRequest = (request: Request) => Promise<Response>

/** Works on the local data folder, in this process. */
export interface OnLocalFolder {
  /** The folder, if it did not exist before. */
  readonly madeFolder?: string | undefined
}

/** A gateway in this process, on the local data folder. */
export interface LocalGateway extends OnLocalFolder {
  readonly send: SendRequest
  /** Valid for this interface until the process ends. */
  readonly apiKey: string
  close(): Promise<void>
}

/** The users of the local data folder, whether or not a server uses it. */
export interface LocalUsers extends OnLocalFolder {
  list(): Promise<readonly LocalUser[]>
  /** Invites to the first account. The token and the link are shown once. */
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
  /** Null: the address of the gateway for browsers is unknown. */
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
  /** The index of this worker process; only a supervisor sets it. */
  readonly worker?: number
  /** This process is the first worker to start. */
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
    /** Values that are damaged, belong to another row, or need a master key that is missing. */
    readonly unopened: number
  }[]
}

/**
 * `rotated`: a new key was created. `finished`: an earlier rotation was completed. `nothing`:
 * nothing needed a change.
 */
export interface MasterKeyRotation extends MasterKeyStatus {
  readonly outcome: 'rotated' | 'finished' | 'nothing'
  /** The number of credentials that were encrypted again. */
  readonly encryptedAnew: number
}

/** The progress of `store copy`: the rows of this table that were copied. */
export interface CopyProgress {
  readonly table: string
  readonly rows: number
}

/** The result of `store copy`. */
export interface CopiedStore {
  /** The addresses of the stores, never with a password. */
  readonly from: string
  readonly to: string
  readonly tables: readonly CopyProgress[]
}

/** The result of `store adopt`. */
export interface AdoptedStore {
  /** The address of the store, never with a password. */
  readonly store: string
  /** `adoptable`: a dry run found that the store can be adopted. */
  readonly state: 'adopted' | 'already adopted' | 'adoptable'
}

/** The result of `store accept`. */
export interface AcceptedStore {
  /** The address of the store, never with a password. */
  readonly store: string
  /** One sentence for each part that did not match. Empty: all matched. */
  readonly accepted: readonly string[]
  /** One sentence about what could not be checked. Null: all was checked. */
  readonly unasked: string | null
}

export interface CliContext {
  readonly version: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Relative paths of a command line start here. */
  readonly folder: string
  readonly terminal: Terminal
  readonly serve: (flags: ServeFlags) => Promise<void>
  readonly openLocal: () => Promise<LocalGateway>
  readonly openLocalUsers: () => Promise<LocalUsers>
  /** Works on the local data folder, also while a server uses it. */
  readonly masterKey: {
    readonly status: () => Promise<MasterKeyStatus>
    readonly rotate: () => Promise<MasterKeyRotation>
  }
  /** Reads the local data folder, which no server may be using. */
  readonly copyStore: (onProgress: (progress: CopyProgress) => void) => Promise<CopiedStore>
  /** Works on the local data folder, which no server may be using. */
  readonly acceptStore: () => Promise<AcceptedStore>
  /** Works on the local data folder, which no server may be using unless it is a dry run. */
  readonly adoptStore: (isDryRun: boolean) => Promise<AdoptedStore>
  /** Checks the server that the environment names and this machine; changes neither. */
  readonly examine: () => Promise<readonly Finding[]>
}
