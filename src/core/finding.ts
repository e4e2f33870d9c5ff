/** One finding of `gatehouse doctor`. */
export interface Finding {
  readonly level: 'ok' | 'warn' | 'fail'
  /** The subject of the check, such as `provider` or `data folder`. */
  readonly check: string
  readonly message: string
  readonly cure?: string
}
