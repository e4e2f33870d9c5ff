/** Values that may be known already; a known value costs no promise. */

export type MaybePromise<Value> = Value | Promise<Value>

/** Calls `run` synchronously when the value is known. */
export function continueWith<Value, Result>(
  value: MaybePromise<Value>,
  run: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> {
  return value instanceof Promise ? value.then(run) : run(value)
}
