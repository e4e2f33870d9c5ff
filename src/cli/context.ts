/**
 * The interface through which the command line uses other rooms; create-cli-context.ts implements
 * the interface.
 */
import type { Finding } from '../core/finding.ts'
import type { Terminal } from './terminal.ts'

export type SendRequest = (request: Request) => Promise<Response>

export interface OnLocalFolder {
  /** The folder, if the command created the folder. */
  readonly madeFolder?: string | undefined
}

/** A gateway in this process, on the local data folder. */
export interface LocalGateway extends OnLocalFolder {
  readonly send: SendRequest
  /** Valid for this interface until the process ends. */
  readonly apiKey: string
  close(): Promise<void>
}

/** The users of the local data folder, whether or not a server uses the folder. */
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
  /** Null when the address of the gateway for browsers is unknown. */
  readonly link: string | null
}

export interface ServeFlags {
  readonly sandbox?: boolean
  readonly host?: string
  readonly port?: number
  readonly dataDir?: string
  readonly workers?: string
  /** Whether the configuration file was removed on purpose. */
  readonly forgetConfig?: boolean
  /** The index of this worker process; only a supervisor sets the index. */
  readonly worker?: number
  /** This process is the first worker to start. */
  readonly firstWorker?: boolean
}

/** The count of encrypted texts under each master key. Ids name keys without showing them. */
export interface MasterKeyStatus {
  /** `GATEHOUSE_MASTER_KEY`, or the path of the file. */
  readonly source: string
  /** Null before the first key. */
  readonly currentId: string | null
  readonly previousIds: readonly string[]
  readonly tables: readonly {
    readonly table: string
    readonly current: number
    readonly previous: number
    /** Values that are damaged, belong to another row, or need a missing master key. */
    readonly unopened: number
  }[]
}

/**
 * `rotated`: a new key was created. `finished`: an earlier rotation was completed. `nothing`:
 * nothing needed a change.
 */
export interface MasterKeyRotation extends MasterKeyStatus {
  readonly outcome: 'rotated' | 'finished' | 'nothing'
  readonly encryptedAnew: number
}

/** The progress of `store copy`: the copied rows of this table. */
export interface CopyProgress {
  readonly table: string
  readonly rows: number
}

export interface CopiedStore {
  /** The addresses of the stores, without a password. */
  readonly from: string
  readonly to: string
  readonly tables: readonly CopyProgress[]
}

export interface AdoptedStore {
  /** The address of the store, without a password. */
  readonly store: string
  /** `adoptable`: a dry run found that the store can be adopted. */
  readonly state: 'adopted' | 'already adopted' | 'adoptable'
}

export interface AcceptedStore {
  /** The address of the store, without a password. */
  readonly store: string
  /** A sentence for each part that did not match; empty when all parts matched. */
  readonly accepted: readonly string[]
  /** A sentence about what could not be checked; null when everything was checked. */
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
  /** Works on the local data folder, also while a server uses the folder. */
  readonly masterKey: {
    readonly status: () => Promise<MasterKeyStatus>
    readonly rotate: () => Promise<MasterKeyRotation>
  }
  /** Reads the local data folder, which no server may be using. */
  readonly copyStore: (onProgress: (progress: CopyProgress) => void) => Promise<CopiedStore>
  /** Works on the local data folder, which no server may be using. */
  readonly acceptStore: () => Promise<AcceptedStore>
  /** Works on the local data folder, which a server may only use during a dry run. */
  readonly adoptStore: (isDryRun: boolean) => Promise<AdoptedStore>
  /** Checks the server that the environment names and this machine; changes neither. */
  readonly examine: () => Promise<readonly Finding[]>
}
