/** One finding of `gatehouse doctor`. */
export interface Finding {
  readonly level: 'ok' | 'warn' | 'fail'
  /** The subject of the check: `provider`, `data folder`. */
  readonly check: string
  /** One line without secrets. */
  readonly message: string
  /** What to do, in one line. Undefined: nothing. */
  readonly cure?: string
}
