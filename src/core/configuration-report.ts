/** A process's report on its configuration file. Contains no value of the file. */

/** One error in the settings. */
export interface SettingFault {
  /** The configuration file. Undefined: the error is in a variable, or in no line. */
  readonly file?: string | undefined
  /** Starting at 1. */
  readonly line?: number | undefined
  /** Names the error and the valid form; never repeats a value that may be a key. */
  readonly message: string
}

export interface ConfigurationReport {
  /** SHA-256 of the file in force, in hexadecimal; null: no file is in force. */
  readonly digest: string | null
  /** Why the latest reload changed nothing; empty: the file is in force. */
  readonly faults: readonly SettingFault[]
  /** Sections that the latest reload changed. */
  readonly changed: readonly string[]
  /** Sections that differ and take effect with a restart. */
  readonly needsRestart: readonly string[]
}

/** A node's report in the table that all nodes of a Postgres share. */
export interface NodeConfiguration extends ConfigurationReport {
  /** The worker's number; null: the process serves alone. */
  readonly worker: number | null
  /** Ids of the latest reloads that the process has finished, the last one at the end. */
  readonly reloads: readonly string[]
}

/** A process that was asked to reload, with its answer. */
export interface ReloadedProcess {
  /** Null: the process is the only node. */
  readonly node: string | null
  readonly host: string
  /** Null: the process serves alone. */
  readonly worker: number | null
  /** Undefined: the process did not answer in time. */
  readonly report: ConfigurationReport | undefined
}
